package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// own calls a tool of the service's own and decodes its answer.
func own(t *testing.T, c *client.Client, tool string, arguments any, into any) {
	t.Helper()
	result, text := callTool(t, c, tool, arguments)
	if result.IsError || json.Unmarshal([]byte(text), into) != nil || string(result.RawStructuredContent) == "" {
		t.Fatalf("%s %v: %.500s", tool, arguments, text)
	}
}

// with is the house with another server before it.
func (h *testServer) with(t *testing.T, c Config) *testServer {
	t.Helper()
	c.Service, c.Log, c.RefreshInterval = h.service, h.log.logger(), -1
	other := *h
	other.Server = newServer(t, c)
	return &other
}

func TestSearchFindsWhatIsNotListed(t *testing.T) {
	h := newTestServer(t, published...)
	h = h.with(t, Config{MaxListed: 1})
	c := connect(t, h.Server)
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil || len(list.Tools) != 1+len(runTools()) {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for _, row := range []struct {
		arguments map[string]any
		tools     string
		total     int
	}{
		{map[string]any{"query": "FLIGHTS cheapest"}, "search_flights", 1},
		{map[string]any{"query": "voucher"}, "post_order", 1}, // a parameter
		{map[string]any{"query": "flights orders"}, "", 0},
		{map[string]any{"limit": "2"}, "2 of them", 4},
		{map[string]any{}, "4 of them", 4},
	} {
		var found struct {
			Routines []searchHit
			Total    int
		}
		own(t, c, "search_routines", row.arguments, &found)
		var names []string
		for _, r := range found.Routines {
			names = append(names, r.Tool)
		}
		got := strings.Join(names, " ")
		if len(names) > 1 {
			got = fmt.Sprintf("%d of them", len(names))
		}
		if got != row.tools || found.Total != row.total {
			t.Errorf("%v: %q of %d, want %q of %d", row.arguments, got, found.Total, row.tools, row.total)
		}
	}
}

// The routines that are used stay listed, by whichever name they are called.
func TestUsedRoutinesAreListed(t *testing.T) {
	h := newTestServer(t, named("old"), named("middle"), named("new")).with(t, Config{MaxListed: 2})
	p := initialized(t, h.Server)
	if got := p.tools(); got != "middle new" {
		t.Fatalf("at first: %s", got)
	}
	p.send(call("1", "middle", "{}"))
	p.answer("1")
	looks := h.store.looks
	if got := p.tools(); got != "middle new" || h.store.looks != looks {
		t.Errorf("after a call of a listed one: %s, %d looks", got, h.store.looks-looks)
	}
	p.send(call("2", "run_routine", `{"id":"old"}`))
	p.answer("2")
	if got := p.tools(); got != "middle old" {
		t.Errorf("after a call of one that was not: %s", got)
	}
	p.send(call("3", "new", "{}")) // by its name in the first list
	if m := p.answer("3"); !strings.Contains(m.raw, `"completed"`) {
		t.Errorf("a call of what has fallen out of the list: %.300s", m.raw)
	}
	if got := p.tools(); got != "new old" {
		t.Errorf("after it: %s", got)
	}
	p.send(call("4", "middle", "{}"))
	p.answer("4")
	o := annOrganization(t, h.Server)
	if n := len(o.registry.lastUsed); n != 3 {
		t.Errorf("%d uses are remembered", n)
	}
	if _, err := h.service.ArchiveRoutine(t.Context(), ann, o.registry.find("old").id, nil); err != nil {
		t.Fatal(err)
	}
	if got := p.tools(); got != "middle new" || len(o.registry.lastUsed) != 2 {
		t.Errorf("after it was archived: %s, %d uses", got, len(o.registry.lastUsed))
	}
}

func TestDescribeRoutineIsComplete(t *testing.T) {
	h := newTestServer(t, lookup)
	r := create(t, h.service, ann, strings.Replace(named("kept back"), `{`, `{"is_mcp_tool_designated": false, `, 1))
	c := connect(t, h.Server)
	var d routineDescription
	own(t, c, "describe_routine", map[string]any{"id": "lookup"}, &d)
	if d.Tool != "lookup" || d.ReadOnly != true || d.Result != `data is the value stored as "item".` || len(d.Operations) != 3 || d.Operations[0] != "navigate https://shop.example/items/{{id}}" ||
		!strings.Contains(string(d.Parameters), `"id":{"type":"integer"`) {
		t.Errorf("%+v", d)
	}
	var byID routineDescription
	own(t, c, "describe_routine", map[string]any{"id": d.ID}, &byID)
	if byID.Tool != "lookup" {
		t.Errorf("by id: %+v", byID)
	}
	own(t, c, "describe_routine", map[string]any{"id": r.ID}, &byID) // no tool, but stored
	if byID.Name != "kept back" {
		t.Errorf("%+v", byID)
	}
}

func TestRunRoutineRunsWhatIsNotListed(t *testing.T) {
	h := newTestServer(t, lookup, named("newer"))
	h.browser.Page.Response = routinetest.Answer("application/json", `{"a":1}`)
	h = h.with(t, Config{MaxListed: 1})
	c := connect(t, h.Server)
	result, text := callTool(t, c, "run_routine", map[string]any{"id": "lookup", "parameters": map[string]any{"id": 7}})
	if d := content(t, result, text); string(d.Data) != `{"a":1}` || h.visits() != "https://shop.example/items/7" {
		t.Errorf("%s, visited %s", text, h.visits())
	}
	result, text = callTool(t, c, "run_routine", map[string]any{"id": "lookup", "parameters": map[string]any{"i": 7}})
	if !result.IsError || !strings.HasPrefix(text, `Invalid arguments for lookup: unknown argument "i"`) {
		t.Errorf("bad arguments: %s", text)
	}
	// What is used comes into the list.
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil || len(list.Tools) != 1+len(runTools()) || !strings.Contains(fmt.Sprint(list.Tools), "lookup") {
		t.Errorf("%d tools, %v", len(list.Tools), err)
	}
}

func TestBuiltinErrorsSayWhatIsWrong(t *testing.T) {
	c := connect(t, newTestServer(t).with(t, Config{Authoring: true}).Server)
	for _, row := range []struct {
		tool      string
		arguments any
		want      string
	}{
		{"search_routines", map[string]any{"qery": 1}, `search_routines failed: invalid arguments: unknown field "qery"; valid are query, limit [invalid].`},
		{"search_routines", map[string]any{"limit": 2.5}, `search_routines failed: invalid arguments: "limit" must be a whole number, not a 2.5; valid are query, limit [invalid].`},
		{"search_routines", []int{1}, `search_routines failed: invalid arguments: cannot unmarshal array into Go value of type struct`},
		{"describe_routine", map[string]any{"id": "nothing"}, `describe_routine failed: there is no routine "nothing" [not_found].` + "\nNext: search_routines finds"},
		{"run_routine", map[string]any{"id": "nothing"}, `run_routine failed: there is no routine "nothing" [not_found].`},
		{"get_execution", map[string]any{"execution_id": "nothing"}, `get_execution failed: there is no execution "nothing" [not_found].`},
		{"cancel_execution", map[string]any{"execution_id": "nothing"}, `cancel_execution failed: there is no execution "nothing" [not_found].`},
		{"create_routine", map[string]any{}, `create_routine failed: the argument routine is missing: give the definition as an object [invalid].`},
		{"create_routine", map[string]any{"routine": map[string]any{"name": "n", "operations": []any{}}}, "create_routine failed: 2 problems in the routine"},
	} {
		result, text := callTool(t, c, row.tool, row.arguments)
		if !result.IsError || !strings.HasPrefix(text, row.want) {
			t.Errorf("%s %v: %s", row.tool, row.arguments, text)
		}
	}
}

// An answer that was cut names the call for the rest, and following it brings
// all there is.
func TestRestOfATruncatedResult(t *testing.T) {
	h := newTestServer(t, lookup)
	var items []string
	for i := range 3000 {
		items = append(items, fmt.Sprintf(`{"n":%d,"name":"item"}`, i))
	}
	h.browser.Page.Response = routinetest.Answer("application/json",
		`{"total":3000,"odd/~name":[`+strings.Join(items, ",")+`],"text":"`+strings.Repeat("ü", 100)+`"}`)
	c := connect(t, h.Server)
	result, text := callTool(t, c, "lookup", map[string]any{"id": 1})
	var first struct {
		Items []struct{ N int } `json:"odd/~name"`
	}
	d := content(t, result, text)
	if err := json.Unmarshal(d.Data, &first); err != nil || d.Truncated == nil {
		t.Fatal(text[:500])
	}
	seen := len(first.Items)
	next := d.Truncated.Next
	for calls := 0; seen < 3000; calls++ {
		if next.Tool != "get_execution" || next.Arguments["path"] != "/odd~1~0name" || calls > 10 {
			t.Fatalf("next %+v", next)
		}
		result, text = callTool(t, c, next.Tool, next.Arguments)
		d = content(t, result, text)
		var more []struct{ N int }
		if err := json.Unmarshal(d.Data, &more); err != nil || len(more) == 0 || more[0].N != seen || d.Part == nil || d.Part.Total != 3000 {
			t.Fatalf("after %d: %+v %.200s", seen, d.Part, d.Data)
		}
		if seen += len(more); d.Truncated == nil {
			t.Fatalf("after %d items: no next", seen)
		}
		next = d.Truncated.Next
	}
	result, text = callTool(t, c, next.Tool, next.Arguments)
	if d = content(t, result, text); d.Truncated != nil || string(d.Data) != `{"text":"`+strings.Repeat("ü", 100)+`"}` {
		t.Errorf("after the last item: %.300s", text)
	}
	for path, want := range map[string]string{"/odd~1~0name/7/n": "7", "/text": `"üüü"`, "/total": "3000"} {
		result, text = callTool(t, c, "get_execution", map[string]any{"execution_id": d.ExecutionID, "path": path, "offset": 5, "limit": 3})
		if d := content(t, result, text); string(d.Data) != want {
			t.Errorf("%s: %s", path, d.Data)
		}
	}
	for _, path := range []string{"no", "/no", "/text/1"} {
		if result, text := callTool(t, c, "get_execution", map[string]any{"execution_id": d.ExecutionID, "path": path}); !result.IsError {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// A run that takes longer than the soft deadline continues. The answer says how
// to get its result.
func TestSlowRunContinuesAfterItsCall(t *testing.T) {
	h := newTestServer(t, hang).with(t, Config{SoftDeadline: time.Millisecond})
	c := connect(t, h.Server)
	result, text := callTool(t, c, "hang", nil)
	d := content(t, result, text)
	if d.Status != "pending" && d.Status != "running" || d.Next == nil || d.Next.Tool != "get_execution" || d.Next.Arguments["execution_id"] != d.ExecutionID || string(d.Data) != "null" {
		t.Fatalf("answer %s", text)
	}
	<-h.hanging
	result, text = callTool(t, c, "get_execution", map[string]any{"execution_id": d.ExecutionID})
	if now := content(t, result, text); now.Status != "running" || now.Operations == nil || now.Operations.Total != 1 {
		t.Errorf("while it goes on: %s", text)
	}
	ended := make(chan string, 1)
	patient := connect(t, h.with(t, Config{}).Server)
	go func() {
		_, text := callTool(t, patient, "get_execution", map[string]any{"execution_id": d.ExecutionID})
		ended <- text
	}()
	var cancelled struct {
		Status    string
		ErrorCode string `json:"error_code"`
	}
	own(t, c, "cancel_execution", map[string]any{"execution_id": d.ExecutionID}, &cancelled)
	if cancelled.Status != "failed" || cancelled.ErrorCode != "cancelled" {
		t.Errorf("cancelled: %+v", cancelled)
	}
	if text := <-ended; !strings.Contains(text, `Routine "hang" failed`) || !strings.Contains(text, "[cancelled]") {
		t.Errorf("waiting for it: %s", text)
	}
	if n := h.browser.Closed(); n != 1 {
		t.Errorf("%d pages were closed", n)
	}
}

// get_execution waits as a call does, and reports the progress of the run.
func TestGetExecutionWaitsAndReportsProgress(t *testing.T) {
	h := newTestServer(t, buy)
	pressed, release := make(chan bool), make(chan bool)
	h.browser.Page.Click = func(context.Context, routine.Click) (routine.Match, error) {
		pressed <- true
		<-release
		return routine.Match{Matches: 1}, nil
	}
	result, text := callTool(t, connect(t, h.with(t, Config{SoftDeadline: time.Millisecond}).Server), "buy", nil)
	id := content(t, result, text).ExecutionID
	<-pressed
	h.reportInterval = time.Millisecond
	p := initialized(t, h.Server)
	p.send(call("1", "get_execution", `{"execution_id":"`+id+`","wait_seconds":0}`))
	if m := p.result("1"); !strings.Contains(m.raw, `"status":"running"`) || !strings.Contains(m.raw, `"done":1`) {
		t.Errorf("at once: %s", m.raw)
	}
	p.send(strings.Replace(calling("2", "get_execution"), `{}`, `{"execution_id":"`+id+`"}`, 1))
	told := map[string]float64{}
	for still := 0; still < 20; { // so long it waits
		m := p.next()
		if told[m.Params.Message] = m.Params.Progress; m.Method == "" {
			t.Fatalf("it has not waited: %s", m.raw)
		}
		if strings.HasPrefix(m.Params.Message, "1 of 3 operations are done (") {
			still++
		}
	}
	for done := range 2 {
		if at, ok := told[fmt.Sprintf("%d of 3 operations are done", done)]; !ok || at != float64(done) {
			t.Errorf("%d done: %v", done, told)
		}
	}
	release <- true
	m := p.next()
	for m.Method != "" {
		m = p.next()
	}
	if string(m.ID) != "2" || !strings.Contains(m.raw, `"status":"completed"`) {
		t.Errorf("after the end: %s", m.raw)
	}
}

func TestDetachedRunContinuesWhenItsCallIsCancelled(t *testing.T) {
	h := newTestServer(t, hang).with(t, Config{DetachOnCancel: true})
	p := initialized(t, h.Server)
	p.send(call("1", "hang", "{}"))
	<-h.hanging
	p.send(cancelled("1"), ping)
	p.result(`"ping"`)
	if n := h.browser.Closed(); n != 0 {
		t.Error("the run was ended")
	}
	running := h.executions(t, routine.ExecutionRunning)
	if len(running) != 1 {
		t.Fatalf("%d running", len(running))
	}
	if _, err := h.service.Cancel(t.Context(), ann, running[0].ID); err != nil {
		t.Fatal(err)
	}
}

func TestHeartbeatWithoutProgress(t *testing.T) {
	h := newTestServer(t, hang)
	h.service = service.New(service.Config{Store: h.store, Browser: h.browser, Concurrency: 1, Queue: 10})
	h = h.with(t, Config{})
	h.reportInterval = time.Millisecond
	p := initialized(t, h.Server)
	p.send(calling("1", "hang"))
	<-h.hanging
	p.send(calling("2", "hang"))
	waitUntil(t, "the second waits", func() bool { return len(h.executions(t, routine.ExecutionPending)) == 1 })
	p.send(calling("3", "hang"))
	last := map[string]float64{}
	for want := map[string]string{"1": "1/1 navigate https://hang.example/ (", "2": "starting a browser", "3": "queued, 1 ahead"}; len(want) > 0; {
		m := p.next()
		token := string(m.Params.ProgressToken)
		if before, told := last[token]; m.Method != "notifications/progress" || told && m.Params.Progress <= before || m.Params.Progress >= 1 {
			t.Fatalf("after %v: %s", before, m.raw)
		}
		last[token] = m.Params.Progress
		if strings.HasPrefix(m.Params.Message, want[token]) && want[token] != "" {
			delete(want, token)
		}
	}
	_ = p.in.Close()
	for p.drained() {
	}
}
