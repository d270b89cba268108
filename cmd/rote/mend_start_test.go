package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/service"
)

// mendBench is rote in this process with a shop.
type mendBench struct {
	*app
	t       *testing.T
	shop    *mendShop
	p       routine.Principal
	lessons *lesson.Lessons
}

func newMendBench(t *testing.T) *mendBench {
	t.Helper()
	shop := newMendShop(t)
	g := &globals{DB: filepath.Join(t.TempDir(), "rote.db"), Egress: "public", AllowHost: []string{strings.TrimPrefix(shop.URL, "http://")},
		User: "local", Organization: "default", Project: "default", Queue: 10, MaxTraffic: 1 << 30, MaxMemory: 2 << 30, MaxResult: 32 << 20}
	a, err := openApp(t.Context(), g, streams{err: io.Discard, log: slog.New(slog.DiscardHandler)}, mayCreate)
	if err != nil {
		t.Fatal(err)
	}
	b := &mendBench{a, t, shop, g.localPrincipal(), lesson.New(lesson.Config{Service: a.service, Max: 20, MaxPerOwner: 20})}
	t.Cleanup(func() {
		b.lessons.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// store stores a routine with these operations, in which SHOP stands for the shop's URL.
func (b *mendBench) store(name, parameters, operations string) *routine.Routine {
	b.t.Helper()
	text := `{"name":"` + name + `","description":"For a test.","parameters":` + parameters + `,"operations":` +
		strings.ReplaceAll(operations, "SHOP", b.shop.URL) + `}`
	r, _, err := b.service.CreateRoutine(b.t.Context(), b.p, []byte(text), service.Idempotency{})
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return r
}

// run runs a routine.
func (b *mendBench) run(r *routine.Routine, values string) (*routine.Execution, error) {
	b.t.Helper()
	return b.service.Execute(b.t.Context(), b.p, r.ID, service.Call{Parameters: json.RawMessage(values), Via: routine.ViaCLI})
}

// The routines of the tests, each of which works on the shop before the redesign.
const (
	wordParameter = `[{"name":"word","type":"string","description":"What to find"}]`
	searchTaught  = `[{"type":"navigate","url":"SHOP/"},
		{"type":"input_text","selector":"#q","text":"{{word}}","timeout_ms":2000,"x-target":{"role":"textbox","name":"Word"},"x-alternatives":["input[name=\"q\"]"]},
		{"type":"click","selector":"#go","timeout_ms":2000,"x-target":{"role":"button","name":"Search"},"x-alternatives":["button.go"]},
		{"type":"return_html","scope":"element","selector":"#hits"}]`
	searchBlind = `[{"type":"navigate","url":"SHOP/"},{"type":"input_text","selector":"#q","text":"{{word}}","timeout_ms":2000},
		{"type":"click","selector":"#go","timeout_ms":2000},{"type":"return_html","scope":"element","selector":"#hits"}]`
	coveredTaught = `[{"type":"navigate","url":"SHOP/covered"},{"type":"click","selector":"#more","timeout_ms":2000,"x-target":{"role":"link","name":"More"}},
		{"type":"return_html","scope":"element","selector":".hit"}]`
	loginParameter = `[{"name":"pin","type":"string","x-secret":true,"description":"PIN"}]`
	loginBlind     = `[{"type":"navigate","url":"SHOP/login"},{"type":"input_text","selector":"[name=pin]","text":"{{pin}}"},{"type":"click","selector":"#enter"},
		{"type":"wait_for_url","url_regex":"/welcome$","timeout_ms":2000},{"type":"return_html","scope":"element","selector":"#hello"}]`
	cartTaught = `[{"type":"navigate","url":"SHOP/cart"},
		{"type":"click","selector":"#add","x-target":{"role":"button","name":"Add to cart"},"x-acting":["POST /cart"]},
		{"type":"click","selector":"#done","timeout_ms":2000,"x-target":{"role":"link","name":"Done"}},{"type":"return_html","scope":"element","selector":".hit"}]`
	cartBlind = `[{"type":"navigate","url":"SHOP/cart"},{"type":"click","selector":"#add"},
		{"type":"click","selector":"#done","timeout_ms":2000},{"type":"return_html","scope":"element","selector":".hit"}]`
	cartScript = `[{"type":"navigate","url":"SHOP/cart"},
		{"type":"js_evaluate","js":"(() => document.querySelector('#done').textContent)()","session_storage_key":"k"},{"type":"return","session_storage_key":"k"}]`
	listFetch = `[{"type":"navigate","url":"SHOP/list"},{"type":"fetch","endpoint":{"url":"/api/items?sort=name"},"session_storage_key":"items"},
		{"type":"js_evaluate","js":"(() => JSON.parse(sessionStorage.getItem('items')).map(i => i.name))()","session_storage_key":"names"},
		{"type":"return","session_storage_key":"names"}]`
)

// Candidates on real pages, for routines of lessons and for those that were written blind.
func TestMendCandidates(t *testing.T) {
	t.Parallel()
	b := newMendBench(t)
	tests := []struct {
		name, parameters, operations, values, given string
		until                                       *int
		fails                                       int
		first, operation                            string // the first candidate: its selector, and a part of it
		clear                                       bool
	}{
		{"a renamed field", wordParameter, searchTaught, `{"word":"Lamp"}`, "", nil, 2, `input[name="word"]`, `"text":"{{word}}"`, true},
		{"a renamed field, without notes", wordParameter, searchBlind, `{"word":"Lamp"}`, "", nil, 2, `input[name="word"]`, `"text":"{{word}}"`, false},
		{"a dialog", `[]`, coveredTaught, `{}`, "", nil, 2, "#ok", `{"type":"click","selector":"#ok","x-optional":true}`, false},
		{"another URL", loginParameter, loginBlind, `{"pin":"1234"}`, `"1234"`, nil, 4, "", `/start/[^/?#]+`, false},
		{"after a click that acts", `[]`, cartTaught, `{}`, "", new(2), 3, "#finished", `"timeout_ms":2000`, true},
		{"a script", `[]`, cartScript, `{}`, "", nil, 2, "#finished", `querySelector(\"#finished\").textContent`, false},
		{"another endpoint", `[]`, listFetch, `{}`, "", nil, 2, "", `"url":"/api/v2/items?sort=name"`, false},
	}
	var routines []*routine.Routine
	for _, test := range tests {
		r := b.store(strings.ReplaceAll(test.name, ", ", " "), test.parameters, test.operations)
		if _, err := b.run(r, test.values); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		routines = append(routines, r)
	}
	b.shop.redesign()
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b.t = t
			e, err := b.run(routines[i], test.values)
			if err == nil {
				t.Fatalf("the redesign broke nothing: %s", e.Result.Data)
			}
			b.shop.acted()
			q := lesson.StartRequest{Routine: routines[i].ID, Execution: e.ID, Until: test.until}
			if test.given != "" {
				q.Values = map[string]json.RawMessage{"pin": json.RawMessage(test.given)}
			}
			started, err := b.lessons.Start(t.Context(), b.p, q)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = b.lessons.End(t.Context(), b.p, started.ID) }()
			if f := started.Failure; f == nil || f.Operation != test.fails || len(started.Candidates) == 0 {
				t.Fatalf("failure %+v, candidates %+v", f, started.Candidates)
			}
			c := started.Candidates[0]
			if c.Selector != test.first || !strings.Contains(string(c.Operation), strings.ReplaceAll(test.operation, "SHOP", b.shop.URL)) || c.Destructive {
				t.Errorf("first candidate %s %q %d: %s", c.Operation, c.Selector, c.Points, c.Why)
			}
			if clear := started.Clear(); (clear != nil) != test.clear {
				t.Errorf("clear: %+v of\n%s", clear, lesson.CandidatesText(started.Candidates))
			}
			for _, c := range started.Candidates {
				if strings.Contains(c.Why, "Delete") && !c.Destructive {
					t.Errorf("%+v is not destructive", c)
				}
			}
			if acts := b.shop.acted(); slices.ContainsFunc(acts, func(a string) bool { return a != "POST /cart" }) || test.until == nil && len(acts) > 0 {
				t.Errorf("the lesson did %v", acts)
			}
		})
	}
}

// Operations that may act are not done again without the caller's word: neither what is known
// of a lesson, nor a button that nobody knows.
func TestMendAsksBeforeActing(t *testing.T) {
	t.Parallel()
	b := newMendBench(t)
	taught, blind := b.store("taught", `[]`, cartTaught), b.store("blind", `[]`, cartBlind)
	b.shop.redesign()
	for _, r := range []*routine.Routine{taught, blind} {
		e, err := b.run(r, `{}`)
		if err == nil {
			t.Fatal("the redesign broke nothing")
		}
		b.shop.acted()
		_, err = b.lessons.Start(t.Context(), b.p, lesson.StartRequest{Routine: r.ID, Execution: e.ID})
		if routine.CodeOf(err) != routine.CodeConflict || !strings.Contains(err.Error(), "operation 2, click #add") {
			t.Errorf("%s: %v", r.Name, err)
		}
		if acts := b.shop.acted(); len(acts) > 0 {
			t.Errorf("%s: the lesson did %v", r.Name, acts)
		}
	}
}

// From a failed run to the next version: each call mends one operation and does those after
// it. The button that deletes the account, which stands where the old one was, is never
// pressed and never certain.
func TestMendToNextVersion(t *testing.T) {
	t.Parallel()
	b := newMendBench(t)
	tests := []struct{ name, parameters, operations, values, result string }{
		{"search", wordParameter, searchTaught, `{"word":"Lamp"}`, "Lamp Nord"},
		{"list", `[]`, listFetch, `{}`, "Chair"},
		{"covered", `[]`, coveredTaught, `{}`, "Lamp"},
	}
	var routines []*routine.Routine
	for _, test := range tests {
		r := b.store(test.name, test.parameters, test.operations)
		if _, err := b.run(r, test.values); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		routines = append(routines, r)
	}
	b.shop.redesign()
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b.t = t
			e, err := b.run(routines[i], test.values)
			if err == nil {
				t.Fatalf("the redesign broke nothing: %s", e.Result.Data)
			}
			started, err := b.lessons.Start(t.Context(), b.p, lesson.StartRequest{Execution: e.ID})
			if err != nil {
				t.Fatal(err)
			}
			failure, candidates, calls := started.Failure, started.Candidates, 1
			for ; failure != nil; calls++ {
				if len(candidates) == 0 || candidates[0].Destructive || calls > 3 {
					t.Fatalf("call %d: %+v, %+v", calls, failure, candidates)
				}
				q := lesson.TryRequest{At: failure.Operation, Operations: append(candidates[0].Needs, candidates[0].Operation)}
				if candidates[0].Before {
					q.At = 0
				}
				tried, err := b.lessons.Try(t.Context(), b.p, started.ID, q)
				if err != nil || failure == tried.Failure {
					t.Fatalf("%+v, %v", tried, err)
				}
				failure, candidates = tried.Failure, tried.Candidates
				if failure == nil && !tried.OK || tried.Stopped != "" {
					t.Fatalf("the candidate did not work: %s", tried.Text())
				}
			}
			saved, err := b.lessons.Save(t.Context(), b.p, started.ID, lesson.SaveRequest{ExpectedVersion: new(1), SameResult: true})
			if err != nil || saved.Saved != true || saved.Routine.Version != 2 {
				t.Fatalf("%+v, %v", saved, err)
			}
			t.Logf("%d calls, %s", calls+1, saved.Patch)
			if e, err = b.run(routines[i], test.values); err != nil || !strings.Contains(string(e.Result.Data), test.result) {
				t.Errorf("%v: %+v", err, e.Result)
			}
			if acts := b.shop.acted(); len(acts) > 0 {
				t.Errorf("mending did %v", acts)
			}
		})
	}
}
