package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// lessonAuthor is a caller who may teach.
var lessonAuthor = routine.Principal{UserID: "ada", OrganizationID: "o", ProjectID: "p", Scopes: routine.DefaultScopes}

// watchedBrowser keeps the pages that it opened, and counts the lessons.
type watchedBrowser struct {
	*Browser
	routine.NoObserver
	mu    sync.Mutex
	pages []*tabs
	open  int
}

func (w *watchedBrowser) Open(ctx context.Context, o routine.PageOptions) (routine.Page, error) {
	p, err := w.Browser.Open(ctx, o)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pages = append(w.pages, p.(*tabs))
	}
	return p, err
}

func (w *watchedBrowser) LessonStarted() { w.add(1) }

func (w *watchedBrowser) LessonEnded(routine.LessonEnd) { w.add(-1) }

func (w *watchedBrowser) add(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += n
	return w.open
}

// last is the page that was opened last.
func (w *watchedBrowser) last() *page {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pages[len(w.pages)-1].first
}

// lessonsIn returns lessons in a browser.
func lessonsIn(t *testing.T, w *watchedBrowser, edit func(*lesson.Config)) *lesson.Lessons {
	t.Helper()
	c := lesson.Config{Service: service.New(service.Config{Store: routinetest.NewStore(), Browser: w}), Observer: w, Max: 10, MaxPerOwner: 10}
	edit(&c)
	l := lesson.New(c)
	t.Cleanup(l.Close)
	return l
}

// lessonPage is a page with a button that sends an order, and one that opens a dialog.
const lessonPage = `<title>Shop</title><h1>Lamps</h1><button id=buy onclick="fetch('/orders', {method: 'POST', body: '{}'})">Buy</button>
<button id=cookies onclick="document.querySelector('dialog').show()">Cookies</button>
<dialog aria-label=Cookies>We use cookies <button id=no>No</button></dialog>
<form action=/login method=post><label>Name <input name=user></label><label>PIN <input name=pin type=password></label></form>`

// lessonEnds are the ways in which a lesson ends. Each does one lesson.
var lessonEnds = []struct {
	name string
	edit func(*lesson.Config)
	do   func(t *testing.T, w *watchedBrowser, l *lesson.Lessons, url string)
}{
	{"left", func(c *lesson.Config) { c.Idle = 50 * time.Millisecond }, func(t *testing.T, _ *watchedBrowser, l *lesson.Lessons, url string) {
		beginLesson(t, l, url)
	}},
	{"too long", func(c *lesson.Config) { c.Total = 300 * time.Millisecond }, func(t *testing.T, _ *watchedBrowser, l *lesson.Lessons, url string) {
		id := beginLesson(t, l, url)
		for open := id != ""; open; {
			_, err := l.Try(testContext(t), lessonAuthor, id, lesson.TryRequest{Operations: clickCookies})
			open = err == nil
		}
	}},
	{"ended", func(*lesson.Config) {}, func(t *testing.T, _ *watchedBrowser, l *lesson.Lessons, url string) {
		endLesson(t, l, beginLesson(t, l, url))
	}},
	{"crashed", func(*lesson.Config) {}, func(t *testing.T, w *watchedBrowser, l *lesson.Lessons, url string) {
		id := beginLesson(t, l, url)
		_, _ = w.last().Navigate(testContext(t), "chrome://crash")
		answer, err := l.Try(testContext(t), lessonAuthor, id, lesson.TryRequest{Operations: clickCookies})
		if err != nil || answer.State != lesson.PageLost || len(answer.Operations) != 1 || !strings.Contains(answer.Text(), "crashed") {
			t.Errorf("the page of a lesson crashed: %+v, %v", answer, err)
		}
		endLesson(t, l, id)
	}},
}

var clickCookies = []json.RawMessage{json.RawMessage(`{"type":"click","selector":"#cookies"}`)}

// beginLesson starts a lesson and returns its id, or an empty text if its time was over
// before the page was there.
func beginLesson(t *testing.T, l *lesson.Lessons, url string) string {
	t.Helper()
	started, err := l.Start(testContext(t), lessonAuthor, lesson.StartRequest{URL: url})
	if err != nil {
		if routine.CodeOf(err) != routine.CodePageLost {
			t.Error(err)
		}
		return ""
	}
	return started.ID
}

func endLesson(t *testing.T, l *lesson.Lessons, id string) {
	t.Helper()
	if _, err := l.End(testContext(t), lessonAuthor, id); err != nil {
		t.Error(err)
	}
}

// Lessons that were left, that took too long, that ended or whose page crashed leave
// nothing: no context, target, goroutine or file. With -whole these are 100 lessons.
func TestLessonsLeaveNothing(t *testing.T) {
	each := 1
	if *whole {
		each = 100 / len(lessonEnds)
	}
	b := own(t)
	b.config.Warm = -1 // ready pages have goroutines, too
	url := site(t, map[string]any{"/": lessonPage}) + "/"
	var ways []func()
	for _, end := range lessonEnds {
		w := &watchedBrowser{Browser: b}
		l := lessonsIn(t, w, end.edit)
		ways = append(ways, func() {
			end.do(t, w, l, url)
			soon(t, "the lesson ends: "+end.name, func() bool { return w.add(0) == 0 })
		})
	}
	do := func(each int) {
		var all sync.WaitGroup
		for _, way := range ways {
			all.Go(func() {
				for range each {
					way()
				}
			})
		}
		all.Wait()
		waitIdle(t, b)
	}
	do(1)
	files, goroutines, memory := len(profiles(t)), runtime.NumGoroutine(), heapInUse()
	do(each)
	soon(t, "no more goroutines than before", func() bool { return runtime.NumGoroutine() <= goroutines })
	if n := len(profiles(t)); n > files {
		t.Errorf("%d profiles are left, there were %d before", n, files)
	}
	// A page that were kept would hold its looks and the log of its requests.
	if grown := int64(heapInUse()) - int64(memory); grown > int64(each*len(lessonEnds))*maxLessonRemains+1<<20 {
		t.Errorf("%d lessons left %d bytes", each*len(lessonEnds), grown)
	}
}

// maxLessonRemains is how many bytes a lesson may leave behind: one that is over because nobody
// used it can still be saved for an hour.
const maxLessonRemains = 4 << 10

// try does operations in a lesson and returns the text of the answer.
func try(t *testing.T, l *lesson.Lessons, id string, values map[string]json.RawMessage, operations ...string) (*lesson.Tried, string) {
	t.Helper()
	q := lesson.TryRequest{Values: values}
	for _, o := range operations {
		q.Operations = append(q.Operations, json.RawMessage(o))
	}
	answer, err := l.Try(testContext(t), lessonAuthor, id, q)
	if err != nil {
		t.Fatal(err, routine.AsError(err).Problems)
	}
	return answer, answer.Text()
}

// The answer describes the changes to a real page, and the page stays usable after a
// failure.
func TestLessonOnARealPage(t *testing.T) {
	t.Parallel()
	const secret = "tr0ub4dor-9Kx"
	w := &watchedBrowser{Browser: shared}
	slow := func(rw http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(300 * time.Millisecond):
		case <-r.Context().Done():
		}
		rw.Header().Set("Content-Type", "text/csv")
		rw.Header().Set("Content-Disposition", `attachment; filename="orders.csv"`)
		fmt.Fprint(rw, "id;name\n1;lamp\n")
	}
	url := site(t, map[string]any{"/": strings.Replace(lessonPage, "</form>", "<button>Log in</button></form>", 1) +
		"<a href=/file>Report</a><button id=ask onclick=\"this.textContent = confirm('Sure?')\">Ask</button>" +
		"<button id=fail onclick=\"console.log('ok'); console.error('no stock of', document.querySelector('[name=pin]').value); none()\">Fail</button>",
		"/login": "<h1>Welcome</h1>", "/file": slow, "/orders": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprint(rw, `{"id":7}`)
		}}) + "/"
	l := lessonsIn(t, w, func(c *lesson.Config) {
		c.Secrets = func(routine.Principal) map[string]service.GivenSecret {
			return map[string]service.GivenSecret{"PIN": {Hosts: []string{"127.0.0.1"}, Field: routine.FieldAny,
				Fields: map[string]routine.Hidden{routine.ValueField: secret}}}
		}
	})
	started, err := l.Start(testContext(t), lessonAuthor, lesson.StartRequest{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	id := started.ID
	for _, row := range []struct {
		operation string
		ok        bool
		says      []string
	}{
		{`{"type":"click","selector":"#cookies"}`, true, []string{"1 match (A). Kept as operation 2.\n" + routine.PageTextNotice + "\n" +
			`Page: + dialog "Cookies" | dialog[aria-label="Cookies"]`, `+ button "No" | #no`}},
		{`{"type":"click","selector":"#no-such","timeout_ms":600}`, false, []string{`element_not_found: no element matches "#no-such" after 600 ms. Not kept.`,
			`button "No" | #no`}},
		{`{"type":"click","selector":"body > button:nth-of-type(1)"}`, true, []string{"A: #buy instead of D: body", "POST /orders {} → 200 json 8 B {id:int}"}},
		{`{"type":"click","selector":"#ask","x-dialog":"accept"}`, true, []string{`button "true" | #ask`}},
		{`{"type":"click","selector":"a[href=\"/file\"]"}`, true, []string{`Result: a file text/csv 15 bytes: "orders.csv" text/csv`}},
		{`{"type":"js_evaluate","js":"(() => { throw new Error('sold out') })()"}`, false, []string{`script_error: "the script threw Error: sold out`}},
		{`{"type":"input_text","selector":"[name=pin]","text":"4711"}`, false, []string{"invalid: the field takes a password"}},
		{`{"type":"input_text","selector":"[name=pin]","text":"{{pin}}"}`, true, []string{"pin = *** (secret). Field: \"PIN\", password."}},
		{`{"type":"click","selector":"#fail"}`, true, []string{"Console: \"error: no stock of ***\"\n" +
			"  \"exception: Uncaught ReferenceError: none is not defined (line "}},
		{`{"type":"js_evaluate","js":"(() => document.querySelector('[name=pin]').value + '!')()","session_storage_key":"x"}`, false,
			[]string{`secret_exposed: a script may not run while "input" holds secret PIN`}},
		{`{"type":"input_text","selector":"[name=pin]","text":"{{secret:PIN}}","clear":true}`, true, []string{"Kept as operation 8."}},
		{`{"type":"click","selector":"form button"}`, true, []string{"URL: /login", `+ h1 "Welcome"`}},
	} {
		answer, text := try(t, l, id, map[string]json.RawMessage{"pin": json.RawMessage(`{"secret":"PIN"}`)}, row.operation)
		for _, part := range row.says {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", row.operation, part, text)
			}
		}
		if answer.OK != row.ok {
			t.Errorf("%s: %s", row.operation, text)
		}
		if strings.Contains(text+routine.JSONText(answer), secret) {
			t.Errorf("%s shows the secret: %s", row.operation, text)
		}
	}
	info, err := l.Get(lessonAuthor, id)
	if err != nil || len(info.Operations) != 9 || strings.Join(info.Operations[2].Acting, ",") != "POST /orders" {
		t.Errorf("%+v %v", info, err)
	}
	shot, err := l.Screenshot(testContext(t), lessonAuthor, id)
	if err != nil || len(shot.Data) == 0 {
		t.Errorf("no screenshot: %v", err)
	}
	undone, err := l.Undo(testContext(t), lessonAuthor, id, lesson.UndoRequest{To: 2})
	if err != nil || !strings.Contains(undone.Text(), `dialog open: "Cookies"`) || len(undone.Replayed) != 2 {
		t.Errorf("%+v %v", undone, err)
	}
}
