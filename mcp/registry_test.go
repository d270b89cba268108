package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/stopwatch"
	"rote/routine/service"
	"rote/routine/sqlite"
)

func TestToolsFollowTheStore(t *testing.T) {
	h := newTestServer(t, named("first"))
	create(t, h.service, routine.Principal{UserID: "bob", OrganizationID: "other", Scopes: routine.DefaultScopes}, named("of another organization"))
	create(t, h.service, ann, strings.Replace(named("not designated"), `{`, `{"is_mcp_tool_designated": false, `, 1))
	p := initialized(t, h.Server)

	if got := p.tools(); got != "first" {
		t.Errorf("at first: %q", got)
	}
	create(t, h.service, ann, named("second"))
	if got := p.tools(); got != "first second" {
		t.Errorf("after another was created: %q", got)
	}
	h.store.set(func() { h.store.edits["first"] = func(r *routine.Routine) { r.Status = routine.StatusArchived } })
	if got := p.tools(); got != "second" {
		t.Errorf("after one was archived: %q", got)
	}
	h.store.set(func() { h.store.edits["second"] = func(r *routine.Routine) { r.IsMCPToolDesignated = false } })
	if got := p.tools(); got != "" {
		t.Errorf("after the other was undesignated: %q", got)
	}
	h.store.set(func() { clear(h.store.edits) })
	if got := p.tools(); got != "first second" {
		t.Errorf("after both came back: %q", got)
	}
}

// A call finds a routine that was created since the last list.
func TestToolCreatedAfterTheListIsCallable(t *testing.T) {
	h := newTestServer(t)
	h.browser.Page.HTML = "it is fresh"
	p := initialized(t, h.Server)
	create(t, h.service, ann, named("fresh"))
	p.send(call("1", "fresh", "{}"))
	if m := p.answer("1"); !strings.Contains(m.raw, "it is fresh") {
		t.Errorf("answer %.300s", m.raw)
	}
}

// Clients load the whole list at each notification, so there is one only when
// something has changed.
func TestListChangedOnlyWhenChanged(t *testing.T) {
	h := newTestServer(t, named("first"))
	p := initialized(t, h.Server)
	for range 3 {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		p.result("1")
	}
	p.send(call("2", "first", "{}"))
	p.result("2")

	create(t, h.service, ann, named("second"))
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	methods := []string{p.next().Method, p.next().Method} // of the notification and the answer, in any order
	if strings.Join(methods, "") != "notifications/tools/list_changed" {
		t.Errorf("after a change came %q, want one notification and one answer", methods)
	}
}

func TestIdleSessionIsNotifiedOfChanges(t *testing.T) {
	h := newTestServer(t)
	s := newServer(t, Config{Service: h.service, RefreshInterval: time.Millisecond})
	p := initialized(t, s)
	create(t, h.service, ann, named("new"))
	if m := p.next(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %.300s", m.raw)
	}
}

// An idle session is notified too if the service gets signals of changes.
func TestIdleSessionIsNotifiedBySignals(t *testing.T) {
	h := newTestServer(t)
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { h.service.Maintain(ctx) })
	t.Cleanup(func() { stop(); done.Wait() })
	waitUntil(t, "the service listens to the store", func() bool { return h.service.Changed() != nil })
	p := initialized(t, newServer(t, Config{Service: h.service, RefreshInterval: time.Millisecond}))
	for _, name := range []string{"first", "second"} {
		create(t, h.service, ann, named(name))
		if m := p.next(); m.Method != "notifications/tools/list_changed" {
			t.Errorf("after %s came %.300s", name, m.raw)
		}
	}
}

// A client is notified once of several routines that are saved one after the other.
func TestSeriesOfSavesIsAnnouncedOnce(t *testing.T) {
	h := newTestServer(t)
	p := initialized(t, newServer(t, Config{Service: h.service, RefreshInterval: time.Second, Authoring: true}))
	announced := 0
	const saves = 10
	for i := range saves {
		id := fmt.Sprint(i)
		p.send(call(id, "create_routine", `{"routine": `+strings.ReplaceAll(named("saved "+id), "\n", "")+`}`))
		for m := p.next(); string(m.ID) != id; m = p.next() {
			announced++
		}
	}
	if m := p.next(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %.300s", m.raw)
	}
	p.send(`{"jsonrpc":"2.0","id":100,"method":"tools/list"}`)
	if m := p.result("100"); strings.Count(m.raw, `"rote/routine-id"`) != saves || announced != 0 {
		t.Errorf("%d announcements before the last save, then the list %.300s", announced, m.raw)
	}
}

// Routines that change all the time are published nevertheless.
func TestSeriesOfChangesEnds(t *testing.T) {
	start := time.Now()
	for _, row := range []struct {
		name   string
		stamps []int64 // one a second
		want   string  // where the series has ended
	}{
		{"no change", []int64{0, 0}, "01"},
		{"one change", []int64{0, 1, 1, 1}, "023"},
		{"two changes", []int64{0, 1, 2, 2}, "03"},
		{"without end", []int64{0, 1, 2, 3, 4, 5, 6}, "036"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var c changeSeries
			got := ""
			for i, stamp := range row.stamps {
				if c.ended(stamp, start.Add(time.Duration(i)*time.Second)) {
					got += fmt.Sprint(i)
				}
			}
			if got != row.want {
				t.Errorf("ended at %s, want %s", got, row.want)
			}
		})
	}
}

// A draft is no tool, so no client needs to know of it.
func TestDraftIsNotAnnounced(t *testing.T) {
	h := newTestServer(t, named("draft"))
	change := func(patch string) {
		t.Helper()
		list, _, err := h.service.Routines(t.Context(), ann, routine.RoutineFilter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.service.PatchRoutine(t.Context(), ann, list[0].ID, []byte(patch), nil); err != nil {
			t.Fatal(err)
		}
	}
	change(`{"routine_status": "draft"}`)
	p := initialized(t, h.Server)
	for i := range 3 {
		change(fmt.Sprintf(`{"description": "Reads the page %d."}`, i))
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		p.result("1")
	}
	change(`{"routine_status": "active"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if methods := p.next().Method + p.next().Method; methods != "notifications/tools/list_changed" {
		t.Errorf("after it became active came %q, want one notification and one answer", methods)
	}
}

func TestBrokenRoutinesDoNotBreakTheList(t *testing.T) {
	h := newTestServer(t, named("good"), named("bad"))
	p := initialized(t, h.Server)
	for _, row := range brokenRoutines(t) {
		h.store.set(func() { h.store.edits["bad"] = row.edit })
		if got := p.tools(); got != "good" {
			t.Errorf("beside %s: %q", row.name, got)
		}
		if !strings.Contains(h.log.String(), row.cause) {
			t.Errorf("%s is not in the log:\n%s", row.name, h.log)
		}
		h.store.set(func() { clear(h.store.edits) })
		if got := p.tools(); got != "bad good" {
			t.Errorf("after %s was cured: %q", row.name, got)
		}
	}
}

// Routines that cannot be tools take no place of those that can, also when they
// were changed last or are called.
func TestUnlistableRoutinesTakeNoPlaceInTheList(t *testing.T) {
	for _, row := range brokenRoutines(t) {
		t.Run(row.name, func(t *testing.T) {
			h := newTestServer(t, named("good"), named("bad"))
			h.store.edits["bad"] = func(r *routine.Routine) {
				row.edit(r)
				r.UpdatedAt += 1000
			}
			p := initialized(t, newServer(t, Config{Service: h.service, MaxListed: 1}))
			if got := p.tools(); got != "good" {
				t.Errorf("the tools are %q", got)
			}
			p.send(call("10", "bad", "{}"))
			for string(p.next().ID) != "10" { // its answer is an error
			}
			if got := p.tools(); got != "good" {
				t.Errorf("after a call the tools are %q", got)
			}
		})
	}
}

// brokenRoutines makes routines that can be no tools, and says why in the log.
func brokenRoutines(t *testing.T) []brokenRoutine {
	parameter := func(text string) func(*routine.Routine) {
		return func(r *routine.Routine) {
			r.Parameters = make([]routine.Parameter, 1)
			if err := json.Unmarshal([]byte(text), &r.Parameters[0]); err != nil {
				t.Error(err)
			}
		}
	}
	return []brokenRoutine{
		{"a name that no client takes", func(r *routine.Routine) { r.ToolName = "no tool name!" }, "is no tool name"},
		{"a parameter's name that no client takes", parameter(`{"name": "` + strings.Repeat("n", 65) + `"}`), "clients do not take"},
		{"a schema that does not compile", parameter(`{"name": "n", "min_length": -1}`), "minLength"},
		{"a schema that is no JSON", func(r *routine.Routine) {
			r.Parameters = []routine.Parameter{{Name: "n", Type: routine.TypeInteger, Default: json.RawMessage(`{"cut`)}}
		}, "unexpected end of JSON"},
		{"a schema that is too large", func(r *routine.Routine) {
			for i := range 3000 {
				r.Parameters = append(r.Parameters, routine.Parameter{Name: fmt.Sprint("p", i), Type: routine.TypeString})
			}
		}, "more than"},
		{"a name of the service's own tools", func(r *routine.Routine) { r.ToolName = "search_routines" }, "the service's own"},
	}
}

type brokenRoutine struct {
	name  string
	edit  func(*routine.Routine)
	cause string // what the log says
}

func TestListStaysWhileTheStoreIsDown(t *testing.T) {
	h := newTestServer(t, named("first"))
	p := initialized(t, h.Server)
	h.store.set(func() { h.store.broken = errors.New("disk on fire") })
	if got := p.tools(); got != "first" {
		t.Errorf("while the store is down: %q", got)
	}
	if !strings.Contains(h.log.String(), "disk on fire") {
		t.Errorf("the cause is not in the log:\n%s", h.log)
	}
}

func TestConcurrentRefreshesShareOneRead(t *testing.T) {
	h := newTestServer(t, named("first"))
	registry := annOrganization(t, h.Server).registry
	registry.refresh(t.Context())
	slow := make(chan struct{})
	h.store.set(func() { h.store.looks, h.store.slow = 0, slow })
	done := make(chan struct{}, 50)
	for range cap(done) {
		go func() {
			registry.refresh(t.Context())
			done <- struct{}{}
		}()
	}
	waitUntil(t, "a look begins", func() bool { return registry.refreshesStarted.Load() == 2 })
	close(slow)
	for range cap(done) {
		<-done
	}
	if h.store.looks >= cap(done)/2 {
		t.Errorf("%d refreshes made %d looks", cap(done), h.store.looks)
	}
}

// openService returns a service on the database file at path, as of one process.
func openService(t *testing.T, path string) *service.Service {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	t.Cleanup(func() { s.Close(t.Context()); _ = store.Close() })
	return s
}

// A routine that another process creates in the same database is listed.
func TestRoutineOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rote.db")
	mine, other := openService(t, path), openService(t, path)
	p := initialized(t, newServer(t, Config{Service: mine, RefreshInterval: -1}))
	if got := p.tools(); got != "" {
		t.Fatalf("at first: %q", got)
	}
	create(t, other, ann, named("from afar"))
	waitUntil(t, "what the other process has created is listed", func() bool { return p.tools() == "from_afar" })
	p.send(call("1", "from_afar", "{}"))
	if m := p.answer("1"); !strings.Contains(string(m.Result), `"completed"`) {
		t.Errorf("call: %.300s", m.raw)
	}
}

// ordinary is a routine as most are: a sentence, two parameters.
const ordinary = `{"name": "Search products %d", "description": "Search the Corner Shop for products by name.", "parameters": [
	{"name": "query", "type": "string", "description": "Part of a product name. For example: lamp"},
	{"name": "site", "type": "url", "default": "http://127.0.0.1:8765", "description": "Where the shop runs."}], "operations": [
	{"type": "navigate", "url": "{{site}}/"}, {"type": "input_text", "selector": "#q", "text": "{{query}}"},
	{"type": "click", "selector": "#search"}, {"type": "return_html", "scope": "element", "selector": "li.product"}]}`

// bigStore is that many ordinary routines.
func bigStore(t testing.TB, n int) routine.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "rote.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	core := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	for i := range n {
		if _, _, err := core.CreateRoutine(t.Context(), ann, fmt.Appendf(nil, ordinary, i), service.Idempotency{}); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func TestManyTools(t *testing.T) {
	const n, maxBytes = 1000, 700 // of a tool in the list, which is what an agent's context pays
	service := service.New(service.Config{Store: bigStore(t, n), Browser: &routinetest.Browser{}})
	var list string
	took := stopwatch.Time(func() {
		p := initialized(t, newServer(t, Config{Service: service, MaxListed: n}))
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		list = p.answer("1").raw
	})
	if tools := strings.Count(list, `"rote/routine-id"`); tools != n || len(list) > n*maxBytes {
		t.Fatalf("%d tools in %d bytes", tools, len(list))
	}
	// The goal is milliseconds on an idle machine, which the benchmark shows.
	if took > 20*time.Second {
		t.Errorf("initialize and tools/list took %v", took)
	}
}

func BenchmarkRefresh1000(b *testing.B) {
	store := bigStore(b, 1000)
	service := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			s, err := New(Config{Service: service, MaxListed: 1000})
			if err != nil {
				b.Fatal(err)
			}
			annOrganization(b, s).registry.refresh(b.Context())
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		s, err := New(Config{Service: service, MaxListed: 1000})
		if err != nil {
			b.Fatal(err)
		}
		annOrganization(b, s).registry.refresh(b.Context())
		for b.Loop() {
			annOrganization(b, s).registry.refresh(b.Context())
		}
	})
	b.Run("tools/list", func(b *testing.B) {
		s, err := New(Config{Service: service, MaxListed: 1000})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			list := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if _, err := json.Marshal(annOrganization(b, s).protocol.HandleMessage(wire.WithPrincipal(b.Context(), ann), list)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
