package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rote/browser"
	"rote/browser/egress"
	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/operation"
	"rote/routine/service"
	"rote/routine/sqlite"
)

// savedShop is a shop with a search and orders.
type savedShop struct {
	mu     sync.Mutex
	orders []string
	// redesigned reports whether the button for orders has another id.
	redesigned bool
}

func (s *savedShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	button := "order"
	if s.redesigned {
		button = "buy"
	}
	switch r.URL.Path {
	case "/orders":
		if r.Method == http.MethodPost {
			s.orders = append(s.orders, r.FormValue("item")+" ×"+r.FormValue("pieces"))
		}
		fmt.Fprintf(w, "<!doctype html><title>Thanks</title><p id=thanks>Ordered %s</p>", html.EscapeString(r.FormValue("item")))
	case "/search":
		word := r.FormValue("q")
		fmt.Fprintf(w, `<!doctype html><title>Shop</title><form><input name=q aria-label="Search word"><button>Search</button></form><ul id=found>`)
		for i := range len(word) {
			fmt.Fprintf(w, `<li class=product><a href="/p/%d">%s %d</a> <span class=price>%d.50</span></li>`, i, html.EscapeString(word), i, 10+i)
		}
		fmt.Fprint(w, "</ul>")
	default:
		fmt.Fprintf(w, `<!doctype html><title>Order</title><form method=post action=/orders><label>Item <input name=item></label>
			<label>Pieces <input name=pieces type=number min=1 max=9></label><button id=%s>Order now</button></form>`, button)
	}
}

func (s *savedShop) ordered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.orders)
}

// savingLessons returns lessons and their service with a real browser and a real store, and
// the URL of a shop.
func savingLessons(t *testing.T, shop *savedShop) (*lesson.Lessons, *service.Service, string) {
	t.Helper()
	server := httptest.NewServer(shop)
	t.Cleanup(server.Close)
	host, _, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	policy, err := egress.NewPolicy(egress.Listed, []string{host}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := browser.New(browser.Config{Egress: policy})
	t.Cleanup(b.Close)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "rote.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	of := service.New(service.Config{Store: store, Browser: b, Concurrency: 1, Queue: 4})
	t.Cleanup(func() { of.Close(context.WithoutCancel(t.Context())) })
	lessons := lesson.New(lesson.Config{Service: of})
	t.Cleanup(lessons.Close)
	return lessons, of, server.URL
}

// taught starts a lesson, does operations in it and returns its id.
func taught(t *testing.T, lessons *lesson.Lessons, url string, values map[string]json.RawMessage, operations ...string) string {
	t.Helper()
	started, err := lessons.Start(t.Context(), teacher, lesson.StartRequest{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	q := lesson.TryRequest{Values: values}
	for _, o := range operations {
		q.Operations = append(q.Operations, json.RawMessage(o))
	}
	tried, err := lessons.Try(t.Context(), teacher, started.ID, q)
	if err != nil {
		t.Fatal(err)
	}
	if !tried.OK {
		t.Fatal(tried.Text())
	}
	return started.ID
}

func ended(t *testing.T, lessons *lesson.Lessons, id string) {
	t.Helper()
	if _, err := lessons.End(t.Context(), teacher, id); err != nil {
		t.Error(err)
	}
}

const readProducts = `{"type":"js_evaluate","session_storage_key":"found","js":"(() => [...document.querySelectorAll('li.product')].map(e => ({name: ` +
	`e.querySelector('a').innerText.trim(), price: e.querySelector('.price').innerText})))()"}`

func values(pairs ...string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return all
}

// What is read in a lesson is saved as a tool that reads with other values, too.
func TestSaveAListOfARealPage(t *testing.T) {
	t.Parallel()
	lessons, of, url := savingLessons(t, &savedShop{})
	id := taught(t, lessons, url+"/search?q=lamp", nil, readProducts, `{"type":"return","session_storage_key":"found"}`)
	saved, err := lessons.Save(t.Context(), teacher, id, lesson.SaveRequest{Name: "search", Description: "Searches the shop.",
		Parameters: []json.RawMessage{json.RawMessage(`{"name":"word","from":"lamp"}`)}, OtherValues: values("word", `"chair"`)})
	if err != nil || saved.Saved != true || !saved.Proof.Passed {
		t.Fatalf("%v\n%s", err, saved.Text())
	}
	ended(t, lessons, id)
	r, err := of.Routine(t.Context(), teacher, saved.Routine.ID)
	if err != nil || !r.Published() || !operation.ReadOnly(r.Operations) {
		t.Fatalf("%+v, %v", r, err)
	}
	e, err := of.Execute(t.Context(), teacher, r.ID, service.Call{Parameters: json.RawMessage(`{"word":"ox"}`)})
	if err != nil || string(e.Result.Data) != `[{"name":"ox 0","price":"10.50"},{"name":"ox 1","price":"11.50"}]` {
		t.Errorf("%v: %s", err, e.Result.Data)
	}
	if e, err := of.Execution(t.Context(), teacher, saved.Proof.Execution); err != nil || e.Via != routine.ViaProof || e.RoutineID != r.ID {
		t.Errorf("%+v, %v", e, err)
	}
	findings := strings.ReplaceAll(saved.Text(), "look duration:", "") // a busy machine takes longer for the run
	if strings.Contains(findings, "look ") || !strings.Contains(saved.Text(), `ok other_values: word "chair": items[5] of {name,price}, different`) {
		t.Error(saved.Text())
	}
}

// A form that is filled and submitted by GET acts on nothing: it is proved as a whole.
func TestSaveOfAForm(t *testing.T) {
	t.Parallel()
	lessons, _, url := savingLessons(t, &savedShop{})
	type1 := `{"type":"input_text","selector":"input[name=q]","text":"{{word}}"}`
	id := taught(t, lessons, url+"/search?q=lamp", values("word", `"sofa"`), type1, `{"type":"press","key":"Enter"}`,
		`{"type":"wait_for_url","url_regex":"q=sofa$","timeout_ms":1500}`, readProducts, `{"type":"return","session_storage_key":"found"}`)
	q := lesson.SaveRequest{Name: "search", Description: "Searches the shop.", OtherValues: values("word", `"ox"`)}
	saved, err := lessons.Save(t.Context(), teacher, id, q)
	if routine.CodeOf(err) != routine.CodeNotProved || saved.Saved != "draft" || saved.Proof.Failure.Operation != 4 {
		t.Fatalf("a literal in the URL: %v\n%s", err, saved.Text())
	}
	q.Parameters = []json.RawMessage{json.RawMessage(`{"name":"word","from":"sofa"}`)}
	if saved, err = lessons.Save(t.Context(), teacher, id, q); err != nil || saved.Saved != true {
		t.Fatalf("%v\n%s", err, saved.Text())
	}
	want := fmt.Sprintf(`{"type":"navigate","url":"%s/search?q={{word}}"}`, url)
	if i := slices.IndexFunc(saved.Warnings, func(p routine.Problem) bool { return p.Code == "form_opens_url" }); i < 0 ||
		saved.Warnings[i].Message != "operations 2 to 3 only open a URL that has what was typed" || !strings.Contains(saved.Warnings[i].Hint, want) {
		t.Errorf("warnings: %v", saved.Warnings)
	}
	ended(t, lessons, id)
}

// Teaching and saving place one order between them, and each run afterwards places one.
func TestSaveOfAnOrderPlacesNone(t *testing.T) {
	t.Parallel()
	shop := &savedShop{}
	lessons, of, url := savingLessons(t, shop)
	id := taught(t, lessons, url+"/", values("item", `"lamp"`, "pieces", `2`),
		`{"type":"input_text","selector":"input[name=item]","text":"{{item}}"}`, `{"type":"input_text","selector":"input[name=pieces]","text":"{{pieces}}"}`,
		`{"type":"click","selector":"#order"}`, `{"type":"return_html","scope":"element","selector":"#thanks"}`)
	if got := shop.ordered(); !slices.Equal(got, []string{"lamp ×2"}) {
		t.Fatalf("the lesson ordered %q", got)
	}
	_, err := lessons.Save(t.Context(), teacher, id, lesson.SaveRequest{Name: "order", Description: "Orders."})
	if routine.CodeOf(err) != routine.CodeConflict || !strings.Contains(err.Error(), "operation 4 does POST /orders again") {
		t.Fatal(err)
	}
	saved, err := lessons.Save(t.Context(), teacher, id, lesson.SaveRequest{Name: "order", Description: "Orders.", Prove: lesson.ProveCheckLast})
	if err != nil || saved.Saved != true {
		t.Fatalf("%v\n%s", err, saved.Text())
	}
	if got := shop.ordered(); len(got) != 1 {
		t.Fatalf("after the save: %q", got)
	}
	r, err := of.Routine(t.Context(), teacher, saved.Routine.ID)
	if err != nil || r.Status != routine.StatusActive || operation.ReadOnly(r.Operations) {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(saved.Warnings) > 0 {
		t.Errorf("warnings: %v", saved.Warnings)
	}
	if p := r.Parameters; len(p) != 2 || p[1].Type != routine.TypeInteger || p[1].Rules().MaxValue != "9" || p[1].Description != "" {
		t.Errorf("parameters: %s", routine.JSONText(p))
	}
	for _, part := range []string{`"x-target":{"role":"button","name":"Order now"}`, `"x-acting":["POST /orders"]`} {
		if o := string(r.Operations[3].Raw()); !strings.Contains(o, part) {
			t.Errorf("the click has no %s: %s", part, o)
		}
	}
	for i := range 3 {
		parameters := json.RawMessage(fmt.Sprintf(`{"item":"chair %d","pieces":%d}`, i, i+1))
		e, err := of.Execute(t.Context(), teacher, r.ID, service.Call{Parameters: parameters})
		if err != nil || !strings.Contains(string(e.Result.Data), fmt.Sprint("chair ", i)) {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if got := shop.ordered(); !slices.Equal(got, []string{"lamp ×2", "chair 0 ×1", "chair 1 ×2", "chair 2 ×3"}) {
		t.Errorf("ordered: %q", got)
	}
	// The button that the last operation needs is gone: the proof says so and orders nothing.
	shop.mu.Lock()
	shop.redesigned = true
	shop.mu.Unlock()
	saved, err = lessons.Save(t.Context(), teacher, id, lesson.SaveRequest{Name: "order again", Description: "Orders.", Prove: lesson.ProveCheckLast})
	if routine.CodeOf(err) != routine.CodeNotProved || saved.Saved != "draft" || !strings.Contains(saved.Text(), "nothing matches #order") {
		t.Errorf("%v\n%s", err, saved.Text())
	}
	if got := shop.ordered(); len(got) != 4 {
		t.Errorf("after the failed save: %q", got)
	}
	ended(t, lessons, id)
}
