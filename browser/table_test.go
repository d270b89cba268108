package browser

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// row is one promise of an operation, which both kinds of browser must keep. It says
// what must be true afterwards: what the page has logged, the value of an
// expression, the URL of the page, or how the operation fails. Warnings must be
// exactly the expected one, or none.
type row struct {
	name string
	// html is the body of the page at ./ of the row's own site, on which say()
	// writes to the log. CROSS is the same site by another name, which is
	// another site to a browser.
	html string
	// site are further paths, as in "next": a body or a handler.
	site map[string]any
	// do is the operation; nil clicks #b.
	do func(a *attempt) error

	log  string
	then string // an expression,
	is   string // and the JSON of its value
	url  string // relative to the row's site

	code  routine.Code
	words string
	warns string
}

// attempt is one row on one page.
type attempt struct {
	t    *testing.T
	p    *page
	ctx  context.Context
	site string // URL of the row's own site, with a slash at the end
}

func (a *attempt) click(selector string) error {
	_, err := a.p.Click(a.ctx, click(selector))
	return err
}

func (a *attempt) typed(selector, text string) error {
	_, err := a.p.Type(a.ctx, routine.Typing{Selector: selector, Text: text})
	return err
}

func (a *attempt) press(keys ...string) error {
	for _, k := range keys {
		if err := a.p.Press(a.ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// opened is false for rows that open a page themselves.
func (r *row) opened() bool { return r.html != "" }

// preamble of each page of a row.
const preamble = `<!doctype html><meta charset=utf-8><link rel=icon href="data:,"><body><script>var LOG = '', say = s => LOG += s + ';'</script>`

var (
	whole = flag.Bool("whole", false, "try every row of every table on both browsers")
	rest  = flag.Bool("rest", false, "with -whole: leave out what the default run tries, so that both together try everything once")
)

// selected reports whether -run selects tests. Then they are few, and the tables
// that it names leave out fewer rows.
func selected() bool { return flag.Lookup("test.run").Value.String() != "" }

// sampleOf is of how many rows of a table the shell takes one by default.
const sampleOf = 30

// sampled reports whether row i of a table is left out. Without -whole, the shell
// takes every 30th row, or all when -run is given. Full Chromium, which is
// slower, takes every 60th, and those are rows that the shell leaves out.
// The rows of one kind follow each other in a table, so most kinds are represented.
func sampled(b *Browser, i int) bool { return currentScope().leavesOut(b != shared, i, sampleOf) }

// sampledWatched reports whether row i is left out of a table of scripts that
// are watched. Such a row takes several times as long as others, so without
// -whole the shell takes every 60th, or every second when -run is given.
func sampledWatched(b *Browser, i int) bool {
	return currentScope().leavesOut(b != shared, i, 2*sampleOf)
}

// scope is what the command line says about how much is tried.
type scope struct{ whole, rest, selected bool }

func currentScope() scope { return scope{*whole, *rest, selected()} }

// leavesOut reports whether row i is left out of a table of which the shell takes
// one row of so many by default. full is for full Chromium.
func (s scope) leavesOut(full bool, i, oneOf int) bool {
	byDefault := i%oneOf == 0
	if full {
		byDefault = i%(2*sampleOf) == sampleOf-1
	}
	switch {
	case s.whole:
		return s.rest && byDefault
	case s.selected && !full:
		return i%(oneOf/sampleOf) != 0
	default:
		return !byDefault
	}
}

// onlyWhole skips what is tried with -whole alone.
func onlyWhole(t *testing.T) {
	t.Helper()
	if !*whole {
		t.Skip("tried with -whole alone")
	}
}

// holds runs the rows on both browsers.
func holds(t *testing.T, rows []row) {
	t.Helper()
	base := site(t, map[string]any{"/": func(w http.ResponseWriter, r *http.Request) { serveRow(w, r, rows) }})
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "full" && testing.Short() {
				t.Skip("on the shell only")
			}
			b := kind.browser()
			for i := range rows {
				if sampled(b, i) {
					continue
				}
				t.Run(rows[i].name, func(t *testing.T) {
					t.Parallel()
					rows[i].hold(t, b, fmt.Sprintf("%s/%d/", base, i))
				})
			}
		})
	}
}

// serveRow serves the pages of the row that the path's first part numbers.
func serveRow(w http.ResponseWriter, r *http.Request, rows []row) {
	number, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	i := -1
	if _, err := fmt.Sscanf(number, "%d", &i); err != nil || i < 0 || i >= len(rows) {
		http.NotFound(w, r)
		return
	}
	page := rows[i].site[path]
	if path == "" {
		page = rows[i].html
	}
	switch page := page.(type) {
	case string:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, port, _ := strings.Cut(r.Host, ":")
		fmt.Fprint(w, preamble, strings.ReplaceAll(page, "CROSS", fmt.Sprintf("http://localhost:%s/%d", port, i)))
	case func(http.ResponseWriter, *http.Request):
		page(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (r *row) hold(t *testing.T, b *Browser, base string) { r.holdOn(t, mustOpen(t, b), base) }

// holdOn is hold on a new page.
func (r *row) holdOn(t *testing.T, p *page, base string) {
	if r.then == "" && r.log == "" && r.url == "" && r.code == "" {
		t.Fatal("the row expects nothing")
	}
	a := &attempt{t: t, p: p, ctx: testContext(t), site: base}
	if r.opened() {
		if _, err := a.p.Navigate(a.ctx, base); err != nil {
			t.Fatal(err)
		}
	}
	err := r.try(a)
	a.ctx = testContext(t)
	if r.code != "" {
		wantCode(t, err, r.code, r.words)
	} else if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(a.p.tabs.Warnings(), "\n"); r.warns == "" && got != "" || !strings.Contains(got, r.warns) {
		t.Fatalf("warnings %q, want %q", got, r.warns)
	}
	if got := a.p.now().url; r.url != "" && got != base+strings.TrimPrefix(r.url, "./") {
		t.Fatalf("at %s, want %s", got, base+r.url)
	}
	if r.log != "" {
		r.then, r.is = `LOG`, fmt.Sprintf("%q", r.log)
	}
	if r.then != "" {
		a.want(r.then, r.is)
	}
}

// try does the operation. One that waits in vain gets more time, again and
// again, as long as it has not found the reason that the row expects: on a
// starved machine it may not have looked yet.
func (r *row) try(a *attempt) error {
	do := r.do
	if do == nil {
		do = func(a *attempt) error { return a.click("#b") }
	}
	if r.code != routine.CodeElementNotFound && r.code != routine.CodeElementNotActionable { // the page ends it
		return do(a)
	}
	for patience := 1; ; patience *= 2 {
		a.ctx = untilJudged(a.t, a.p, patience)
		err := do(a)
		if err == nil || patience >= maxPatience || routine.CodeOf(err) == r.code && strings.Contains(err.Error(), r.words) {
			return err
		}
	}
}

// maxPatience is how many times as long as usual a row may take.
const maxPatience = 16

// want waits until the expression's JSON is the wanted one: the page may hear of
// an event a moment after it was handled.
func (a *attempt) want(expression, is string) {
	a.t.Helper()
	deadline := time.After(testTime / 2)
	for {
		got := eval(a.t, a.p, `(async () => { await new Promise(requestAnimationFrame); return `+expression+` })()`)
		if got == is {
			return
		}
		select {
		case <-deadline:
			a.t.Fatalf("%s is %s, want %s", expression, got, is)
		default:
		}
	}
}

// untilJudged is a context that ends like an operation's own limit, early: when
// the page has lived on for a time in which the helper has judged it often. On a
// slow machine that is longer, since the helper looks from frame to frame, and
// where there are frames of other sites they have answered by then. patience is
// how many such times it lasts.
func untilJudged(t *testing.T, p *page, patience int) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	done := make(chan struct{})
	const lived = `Promise.all([new Promise(done => setTimeout(done, 400)), new Promise(done => {
		let frames = 0; requestAnimationFrame(function f() { if (++frames < 24) requestAnimationFrame(f); else done() }) })])`
	live := func() {
		if _, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: lived, AwaitPromise: true}); err != nil {
			select { // the page has changed
			case <-time.After(2 * time.Second):
			case <-ctx.Done():
			}
		}
	}
	go func() {
		defer close(done)
		defer cancel()
		for range patience {
			live()
		}
		if frames := p.currentFrames(); len(frames) > 0 {
			for _, v := range frames {
				_, _ = help[bool](ctx, v, "present", "html", 0)
			}
			live()
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return ctx
}

// kinds of browser that every row must hold on.
var kinds = []struct {
	name       string
	executable func(t *testing.T) string // empty: the one that Find finds
	browser    func() *Browser
}{
	{"shell", func(*testing.T) string { return "" }, func() *Browser { return shared }},
	{"full", fullExecutable, full},
}

// fullMissing is the reason of every test that is skipped where there is no full
// Chromium: testreport counts them by it.
const fullMissing = "full Chromium is missing, and only the headless shell was tried: apt-get install chromium"

// skipFull skips a test where full Chromium is missing. In CI it fails.
func skipFull(t *testing.T) {
	t.Helper()
	if os.Getenv("CI") == "" {
		t.Skip(fullMissing)
	}
	t.Fatal(fullMissing)
}

// findFull is the path of full Chromium, or empty: the README's test command
// installs the headless shell only.
func findFull() string {
	for _, name := range []string{"/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// fullExecutable is the path of full Chromium. Where it is missing, it skips the
// test.
func fullExecutable(t *testing.T) string {
	t.Helper()
	path := findFull()
	if path == "" {
		skipFull(t)
	}
	return path
}

// fullChromium is started by the first test that needs it and closed by
// TestMain. Where full Chromium is missing, mustOpen skips the tests that open a
// page of it: each row of a table on its own, so that they are counted.
var fullChromium struct {
	sync.Mutex
	*Browser
	missing bool
}

func full() *Browser {
	fullChromium.Lock()
	defer fullChromium.Unlock()
	if fullChromium.Browser == nil {
		path := findFull()
		fullChromium.missing = path == ""
		fullChromium.Browser = New(Config{Egress: shared.config.Egress, Executable: path, Warm: 2, Log: complaints})
		beSlow(fullChromium.Browser)
	}
	return fullChromium.Browser
}

// missing reports whether b is full Chromium and is not there.
func missing(b *Browser) bool {
	fullChromium.Lock()
	defer fullChromium.Unlock()
	return b == fullChromium.Browser && fullChromium.missing
}
