package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/seeded"
	"rote/routine/service"
	"rote/routine/tool"
)

// oddName is a name that an author might give: words of any script, signs,
// blanks, and often enough the same letters as another.
func oddName(r *rand.Rand) string {
	words := []string{"price", "Preis", "prix!", "цена", "値段", "🛒", "a b", "A-B", "__", "%2F", "\"'\\",
		"search_routines", "get", "ﬁ", "é", "e\u0301", "ß", "İ", "9", "…", "\u202e", "\u200d", "x"}
	var b strings.Builder
	for range 1 + r.IntN(5) {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	if r.IntN(10) == 0 {
		b.WriteString(strings.Repeat("long ", r.IntN(30)))
	}
	return b.String()
}

// Each routine is one tool, whatever its name. The tool's name is valid for
// every client and the same after a restart.
func TestManyOddNames(t *testing.T) {
	h := newTestServer(t)
	r := seeded.Rand(t)
	n := 1500
	if optional.IsFullSize() {
		n = 10_000
	}
	names := map[string]string{} // of tools, by routine
	for tries := 0; len(names) < n; tries++ {
		if tries > 2*n {
			t.Fatalf("only %d names were taken", len(names))
		}
		text, err := json.Marshal(oddName(r))
		if err != nil {
			t.Fatal(err)
		}
		definition := []byte(`{"name":` + string(text) + `,"description":"Odd.","operations":[{"type":"return_html"}]}`)
		made, _, err := h.service.CreateRoutine(t.Context(), ann, definition, service.Idempotency{})
		if routine.CodeOf(err) == routine.CodeInvalid {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		names[made.ID] = made.ToolName
	}
	for start := range 2 {
		service := service.New(service.Config{Store: h.store, Browser: h.browser})
		p := initialized(t, newServer(t, Config{Service: service, RefreshInterval: -1, MaxListed: 2 * n}))
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var list struct {
			Tools []struct {
				Name string
				Meta map[string]any `json:"_meta"`
			}
		}
		if err := json.Unmarshal(p.result("1").Result, &list); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, listed := range list.Tools {
			id, ofRoutine := listed.Meta["rote/routine-id"].(string)
			if ofRoutine && (names[id] != listed.Name || seen[listed.Name] || !tool.ValidName(listed.Name) || len(listed.Name) > 40) {
				t.Fatalf("start %d: %s is %q, was %q", start, id, listed.Name, names[id])
			}
			seen[listed.Name] = true
		}
		if len(list.Tools) != n+len(runTools()) {
			t.Errorf("start %d: %d tools", start, len(list.Tools))
		}
	}
}

// Invalid and unusual messages are answered, and the session continues.
func TestOddMessagesAreAnswered(t *testing.T) {
	f := newHTTPFixture(t, lookup)
	f.browser.Page.Response = routinetest.Answer("application/json", `"found"`)
	sse, http := f.sse(t, "ann"), f.caller(t, legacy, "ann")
	stdio := initialized(t, f.Server)
	for _, row := range []struct{ name, arguments, visited string }{
		{"a number beyond 2^53", `{"id":9007199254740993}`, "items/9007199254740993"},
		{"NaN as text", `{"id":"NaN"}`, ""},
		{"a lone surrogate", `{"id":"\ud800"}`, ""},
		{"an exponent", `{"id":1e400}`, ""},
		{"a key that stands twice", `{"id":1,"id":2}`, ""},
	} {
		for id, ask := range map[string]func(string) message{
			"1": func(text string) message { stdio.send(text); return stdio.next() },
			"2": func(text string) message { sse.send(text); return sse.next() },
			"3": func(text string) message { list := http.ask(text); return list[len(list)-1] },
		} {
			before := f.visits()
			m := ask(call(id, "lookup", row.arguments))
			if string(m.ID) != id {
				t.Errorf("%s: %s", row.name, m.raw)
			}
			if visited := strings.TrimPrefix(f.visits(), before); row.visited != "" && !strings.Contains(visited, row.visited) {
				t.Errorf("%s: visited %q", row.name, visited)
			}
			if row.visited == "" && m.Error == nil && !strings.Contains(m.raw, `"isError":true`) {
				t.Errorf("%s was taken: %s", row.name, m.raw)
			}
		}
	}
	for _, text := range []string{`{`, `[]`, `"x"`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, strings.Repeat("[", 10000), "\xff\xfe",
		`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`} {
		stdio.send(text)
		if m := stdio.next(); m.Error == nil {
			t.Errorf("stdio, %.40q: %s", text, m.raw)
		}
		r := http.post(t.Context(), text)
		if r.StatusCode >= 500 {
			t.Errorf("http, %.40q: %s", text, r.Status)
		}
		_ = r.Body.Close()
	}
	stdio.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"ping"}`, "end"))
	stdio.result(`"end"`)
}
