package lesson

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// author is a caller who may teach.
var author = routine.Principal{UserID: "ada", OrganizationID: "o", ProjectID: "p", Scopes: routine.DefaultScopes}

// classroom has lessons on pages of a test, and what they have told the observer.
type classroom struct {
	*Lessons
	browser *routinetest.Browser
	ends    []routine.LessonEnd
	open    int
	routine.NoObserver
}

func (c *classroom) LessonStarted() { c.open++ }
func (c *classroom) LessonEnded(end routine.LessonEnd) {
	c.open--
	c.ends = append(c.ends, end)
}

// newClassroom returns lessons whose pages answer like page.
func newClassroom(t *testing.T, page routinetest.Page, edit ...func(*Config)) *classroom {
	t.Helper()
	c := &classroom{browser: &routinetest.Browser{Page: page}}
	config := Config{Service: service.New(service.Config{Store: routinetest.NewStore(), Browser: c.browser}), Observer: c}
	for _, e := range edit {
		e(&config)
	}
	c.Lessons = New(config)
	t.Cleanup(func() {
		c.Close()
		if c.browser.Opened() != c.browser.Closed() {
			t.Errorf("%d pages were opened, %d closed", c.browser.Opened(), c.browser.Closed())
		}
		if c.open != 0 {
			t.Errorf("%d lessons are counted as open", c.open)
		}
	})
	return c
}

// start starts a lesson of the author and returns its id.
func (c *classroom) start(t *testing.T) string {
	t.Helper()
	started, err := c.Start(t.Context(), author, StartRequest{URL: "https://shop.test/"})
	if err != nil {
		t.Fatal(err)
	}
	return started.ID
}

func raw(texts ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, text := range texts {
		all = append(all, json.RawMessage(text))
	}
	return all
}

// wantError checks the code and a part of the message of an error.
func wantError(t *testing.T, err error, code routine.Code, part string) {
	t.Helper()
	if routine.CodeOf(err) != code || !strings.Contains(err.Error(), part) {
		t.Errorf("%q %v, want %q with %q", routine.CodeOf(err), err, code, part)
	}
}

func TestLessonBelongsToItsOwner(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	id := c.start(t)
	for name, change := range map[string]func(*routine.Principal){
		"another user":            func(p *routine.Principal) { p.UserID = "bob" },
		"another project":         func(p *routine.Principal) { p.ProjectID = "q" },
		"a token for other hosts": func(p *routine.Principal) { p.AllowedHosts = []string{"shop.test"} },
		"another organization":    func(p *routine.Principal) { p.OrganizationID = "x" },
	} {
		p := author
		change(&p)
		_, err := c.Get(p, id)
		wantError(t, err, routine.CodeNotFound, "there is no lesson")
		_, err = c.Snapshot(t.Context(), p, id, SnapshotRequest{})
		wantError(t, err, routine.CodeNotFound, "there is no lesson")
		_, err = c.Screenshot(t.Context(), p, id)
		wantError(t, err, routine.CodeNotFound, "there is no lesson")
		_, err = c.End(t.Context(), p, id)
		wantError(t, err, routine.CodeNotFound, "there is no lesson")
		if list, err := c.List(p); err != nil || len(list) != 0 {
			t.Errorf("%s sees %v, %v", name, list, err)
		}
	}
	reader := author
	reader.Scopes = routine.ScopeRoutinesWrite
	_, err := c.Get(reader, id)
	wantError(t, err, routine.CodeForbidden, "executions:run")
	_, err = c.Start(t.Context(), routine.Principal{}, StartRequest{URL: "https://shop.test/"})
	wantError(t, err, routine.CodeUnauthenticated, "token")

	admin := routine.Principal{UserID: "root", OrganizationID: "o", ProjectID: "p", Scopes: routine.ScopeAdmin}
	list, err := c.List(admin)
	if err != nil || len(list) != 1 || list[0].ID != id || len(list[0].Operations) != 0 {
		t.Errorf("an administrator sees %v, %v", list, err)
	}
	if list, err = c.List(author); err != nil || len(list) != 1 || len(list[0].Operations) != 1 || list[0].Operations[0].Summary != "navigate /" {
		t.Errorf("the owner sees %v, %v", list, err)
	}
}

func TestOneCallAtATime(t *testing.T) {
	arrived, leave := make(chan bool), make(chan bool)
	c := newClassroom(t, routinetest.Page{Look: func(_ context.Context, l routine.Look) (routine.Seen, error) {
		if l.Find == "slow" {
			arrived <- true
			<-leave
		}
		return routine.Seen{}, nil
	}})
	id := c.start(t)
	done := make(chan error)
	go func() {
		_, err := c.Snapshot(context.Background(), author, id, SnapshotRequest{Find: "slow"})
		done <- err
	}()
	<-arrived
	_, err := c.Snapshot(t.Context(), author, id, SnapshotRequest{})
	wantError(t, err, routine.CodeConflict, "the lesson is busy with a snapshot; ask again")
	if _, err := c.Get(author, id); err != nil {
		t.Error("a busy lesson is not described:", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.Snapshot(t.Context(), author, id, SnapshotRequest{}); err != nil {
		t.Error("the lesson stays busy:", err)
	}
}

func TestLessonEnds(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(t *testing.T, c *classroom, id string)
		want routine.LessonEnd
		code routine.Code
		says string
	}{
		{"after a time without a call", func(*testing.T, *classroom, string) { time.Sleep(10*time.Minute + time.Second) }, routine.LessonIdle,
			routine.CodePageLost, "was closed after 10 minutes without a call; its 1 operation is kept: undo_operations with to 1"},
		{"after an hour in all", func(t *testing.T, c *classroom, id string) {
			for range 7 {
				time.Sleep(9 * time.Minute)
				_, _ = c.Snapshot(t.Context(), author, id, SnapshotRequest{})
			}
		}, routine.LessonIdle, routine.CodePageLost, "was closed after it was open for 60 minutes"},
		{"by its owner", func(t *testing.T, c *classroom, id string) {
			if info, err := c.End(t.Context(), author, id); err != nil || info.State != Ended {
				t.Error(info, err)
			}
			time.Sleep(3 * time.Minute)
		}, routine.LessonEnded, routine.CodeNotFound, "it ended 3 minutes ago, when end_lesson was called"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClassroom(t, routinetest.Page{})
				id := c.start(t)
				row.end(t, c, id)
				synctest.Wait()
				if c.browser.Closed() != 1 || len(c.ends) != 1 || c.ends[0] != row.want {
					t.Errorf("%d pages closed, ends %q", c.browser.Closed(), c.ends)
				}
				_, err := c.Snapshot(t.Context(), author, id, SnapshotRequest{})
				wantError(t, err, row.code, row.says)
				time.Sleep(time.Hour + time.Minute)
				_, err = c.Get(author, id)
				wantError(t, err, routine.CodeNotFound, "there is no lesson")
				if len(c.all) != 0 {
					t.Errorf("%d lessons are kept for ever", len(c.all))
				}
			})
		})
	}
}

func TestTooManyLessons(t *testing.T) {
	c := newClassroom(t, routinetest.Page{}, func(config *Config) { config.Max, config.MaxPerOwner = 3, 2 })
	first := c.start(t)
	c.start(t)
	_, err := c.Start(t.Context(), author, StartRequest{URL: "https://shop.test/"})
	wantError(t, err, routine.CodeBusy, "2 of your 2 lessons are open: "+first+", Lesson_")
	if routine.AsError(err).RetryAfter != 0 || !strings.HasSuffix(err.Error(), `end_lesson {"lesson":"`+first+`"}`) {
		t.Errorf("%v does not say to end %s", err, first)
	}
	other := author
	other.UserID = "bob"
	if _, err := c.Start(t.Context(), other, StartRequest{URL: "https://shop.test/"}); err != nil {
		t.Error(err)
	}
	other.UserID = "eve"
	_, err = c.Start(t.Context(), other, StartRequest{URL: "https://shop.test/"})
	wantError(t, err, routine.CodeBusy, "3 of 3 lessons are open")
	if routine.AsError(err).RetryAfter != busyRetry {
		t.Errorf("%v: others have the lessons, and waiting helps", err)
	}
	if _, err := c.End(t.Context(), author, first); err != nil {
		t.Error(err)
	}
	if _, err := c.Start(t.Context(), other, StartRequest{URL: "https://shop.test/"}); err != nil {
		t.Error("there is no room after an end:", err)
	}
}

// A lesson that was saved and not changed since ends when its owner needs its place.
func TestSavedLessonMakesRoom(t *testing.T) {
	c := newClassroom(t, searchPage(found), func(config *Config) { config.Max = 4 })
	ben := author
	ben.UserID = "ben"
	bens, err := c.Start(t.Context(), ben, StartRequest{URL: "https://shop.test/"})
	if err != nil {
		t.Fatal(err)
	}
	first := c.teach(t, map[string]json.RawMessage{"word": json.RawMessage(`"lamp"`)}, fetchWord, returnFound)
	second := c.start(t)
	busy := func(why string) {
		t.Helper()
		if _, err := c.Start(t.Context(), author, StartRequest{URL: "https://shop.test/"}); routine.CodeOf(err) != routine.CodeBusy {
			t.Errorf("%s: %v", why, err)
		}
	}
	save := func() {
		t.Helper()
		if saved, err := c.Save(t.Context(), author, first, SaveRequest{Name: "search", Description: "Searches."}); err != nil || saved.Saved != true {
			t.Fatalf("%+v, %v", saved, err)
		}
	}
	busy("no lesson was saved")
	save()
	if info, err := c.Get(author, first); err != nil || !info.Saved {
		t.Errorf("%+v, %v", info, err)
	}
	c.undone(t, first, UndoRequest{To: 3, Replay: new(bool)})
	busy("the lesson was changed since")
	save()
	started, err := c.Start(t.Context(), author, StartRequest{URL: "https://shop.test/"})
	if err != nil || started.Ended != first || !strings.Contains(started.Text(), first+", which was saved, was ended to open this one.") {
		t.Fatalf("%+v, %v", started, err)
	}
	_, err = c.Get(author, first)
	wantError(t, err, routine.CodeNotFound, "because it was saved and start_lesson opened another one")
	for p, id := range map[*routine.Principal]string{&author: second, &ben: bens.ID} {
		if info, err := c.Get(*p, id); err != nil || info.State != Open {
			t.Errorf("another lesson: %+v, %v", info, err)
		}
	}
	if !slices.Equal(c.ends, []routine.LessonEnd{routine.LessonSaved}) {
		t.Errorf("ends %v", c.ends)
	}
}

func TestLessonsThatDoNotStart(t *testing.T) {
	denied := routine.Errorf(routine.CodeEgressDenied, "shop.test is refused")
	for _, row := range []struct {
		name string
		page routinetest.Page
		q    StartRequest
		code routine.Code
		says string
	}{
		{"without a URL", routinetest.Page{}, StartRequest{}, routine.CodeInvalid, "url is required"},
		{"a URL without a scheme", routinetest.Page{}, StartRequest{URL: "shop.example/a:b"}, routine.CodeInvalid, "url must begin with https:// or http://"},
		{"with until", routinetest.Page{}, StartRequest{URL: "https://shop.test/", Until: new(2)}, routine.CodeInvalid, "until is for a routine that is mended"},
		{"a value is missing", routinetest.Page{}, StartRequest{URL: "https://shop.test/{{q}}"}, routine.CodeInvalid, "{{q}} has no value"},
		{"refused", routinetest.Page{Navigate: func(context.Context, string) (routine.Navigation, error) { return routine.Navigation{}, denied }},
			StartRequest{URL: "https://shop.test/"}, routine.CodeEgressDenied, "shop.test is refused"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClassroom(t, row.page)
			_, err := c.Start(t.Context(), author, row.q)
			wantError(t, err, row.code, row.says)
			if len(c.all) != 0 {
				t.Errorf("%d lessons are left", len(c.all))
			}
		})
	}
}

func TestSnapshotsThatAreRefused(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	id := c.start(t)
	for says, q := range map[string]SnapshotRequest{
		"give either scope or extract":                    {Scope: "form", Extract: "li"},
		"scope is no CSS selector: nothing stands behind": {Scope: "form >"},
		"extract is no CSS selector: unexpected =":        {Extract: "text=Lamps"},
	} {
		_, err := c.Snapshot(t.Context(), author, id, q)
		wantError(t, err, routine.CodeInvalid, says)
	}
}

// runUnsaved runs a definition of the author.
func runUnsaved(t *testing.T, c *classroom, d *routine.Definition) error {
	t.Helper()
	_, err := c.service.Execute(t.Context(), author, "", service.Call{Definition: d, Via: routine.ViaREST})
	return err
}

// The page of a lesson has the network for as long as the lesson may take, and a little more.
func TestLessonPageLifetime(t *testing.T) {
	for _, total := range []time.Duration{0, 12 * time.Hour} {
		c := newClassroom(t, routinetest.Page{}, func(c *Config) { c.Total = total })
		id := c.start(t)
		want := c.total + closeTime
		if got := c.browser.LastOpening().Lifetime; got != want || got <= routine.MaxRunTimeout {
			t.Errorf("with a total of %v the page has the network for %v, want %v", total, got, want)
		}
		if _, err := c.Undo(t.Context(), author, id, UndoRequest{To: 1}); err != nil {
			t.Fatal(err)
		}
		if got := c.browser.LastOpening().Lifetime; c.browser.Opened() != 2 || got != want {
			t.Errorf("page %d has the network for %v, want %v", c.browser.Opened(), got, want)
		}
	}
}

// A lesson that was removed while a call used it is forgotten when that call ends: it has no
// timer that keeps its values.
func TestRemovedLessonsAreForgotten(t *testing.T) {
	for _, row := range []struct {
		name   string
		remove func(t *testing.T, c *classroom)
	}{
		{"it could not be started", func(*testing.T, *classroom) {}},
		{"the service is stopped", func(_ *testing.T, c *classroom) { c.Close() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c *classroom
				var l *lesson
				c = newClassroom(t, routinetest.Page{Navigate: func(context.Context, string) (routine.Navigation, error) {
					c.mu.Lock()
					for _, l = range c.all {
					}
					c.mu.Unlock()
					go row.remove(t, c)
					synctest.Wait()
					return routine.Navigation{}, routine.Errorf(routine.CodeEgressDenied, "shop.test is refused")
				}})
				_, err := c.Start(t.Context(), author, StartRequest{URL: "https://shop.test/{{q}}", Values: map[string]json.RawMessage{"q": json.RawMessage(`"lamp"`)}})
				if err == nil || l == nil {
					t.Fatal(l, err)
				}
				synctest.Wait()
				if len(l.given) != 0 || len(l.parameters) != 0 || l.session != nil || l.page != nil {
					t.Errorf("the lesson keeps %v, %v", l.given, l.parameters)
				}
				if l.forgetTimer != nil && l.forgetTimer.Stop() {
					t.Error("a timer keeps the lesson")
				}
			})
		})
	}
}
