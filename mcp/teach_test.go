package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/routinetest"
)

// Each tool hands its arguments to the lessons, also in the spellings that models use
// instead of the right ones, and answers with their text and nothing else.
func TestLessonTools(t *testing.T) {
	h, fake := newTestServer(t, named("reads")), newFakeLessons()
	c := connect(t, h.with(t, Config{Lessons: fake}).Server)
	reads := annOrganization(t, h.Server).registry
	reads.refresh(t.Context())
	id := reads.find("reads").id
	click, press := `{"type":"click","selector":"#go"}`, `{"type":"press","key":"Enter"}`
	for _, row := range []struct {
		tool, arguments string
		want            any
		text            string
	}{
		{"start_lesson", `{"url":"https://shop.example/"}`, lesson.StartRequest{URL: "https://shop.example/"}, fake.started.Text()},
		{"start_lesson", `{"routine":"reads","execution":"e1","until":"0","values":{"page":"x","n":3},"incognito":"false"}`,
			lesson.StartRequest{Routine: id, Execution: "e1", Until: new(0), Incognito: new(false),
				Values: map[string]json.RawMessage{"page": json.RawMessage(`"x"`), "n": json.RawMessage(`3`)}}, fake.started.Text()},
		{"start_lesson", `{"routine":"unknown","incognito":true}`, lesson.StartRequest{Routine: "unknown", Incognito: new(true)}, fake.started.Text()},
		{"start_lesson", `{"url":"https://shop.example/","session":"shop"}`, lesson.StartRequest{URL: "https://shop.example/", Session: "shop"}, fake.started.Text()},
		{"take_snapshot", `{"lesson":"L"}`, about{"L", lesson.SnapshotRequest{}}, fake.snapshot.Text()},
		{"take_snapshot", `{"lesson":"L","scope":"#a","find":"w","extract":"li","max_bytes":"900"}`,
			about{"L", lesson.SnapshotRequest{Scope: "#a", Find: "w", Extract: "li", MaxBytes: 900}}, fake.snapshot.Text()},
		{"list_network_requests", `{"lesson":"L"}`, about{"L", lesson.RequestsQuery{}}, someRequests.Text()},
		{"list_network_requests", `{"lesson":"L","find":"19.00 €","since":"2"}`, about{"L", lesson.RequestsQuery{Find: "19.00 €", Since: 2}}, someRequests.Text()},
		{"list_network_requests", `{"lesson":"L","id":3}`, about{"L", 3}, someRequest.Text()},
		{"try_operation", `{"lesson":"L","operation":` + click + `}`, about{"L", lesson.TryRequest{Operations: raw(click)}}, fake.tried.Text()},
		{"try_operation", `{"lesson":"L","operation":"{\"type\":\"click\",\"selector\":\"#go\"}"}`,
			about{"L", lesson.TryRequest{Operations: raw(click)}}, fake.tried.Text()},
		{"try_operation", `{"lesson":"L","operations":[` + click + `,` + press + `],"values":{"p":{"secret":"PIN"}},"at":2,"keep":false}`,
			about{"L", lesson.TryRequest{Operations: raw(click, press), At: 2, Keep: new(false),
				Values: map[string]json.RawMessage{"p": json.RawMessage(`{"secret":"PIN"}`)}}}, fake.tried.Text()},
		{"undo_operations", `{"lesson":"L","to":0}`, about{"L", lesson.UndoRequest{}}, fake.undone.Text()},
		{"undo_operations", `{"lesson":"L","to":3,"replay":false}`, about{"L", lesson.UndoRequest{To: 3, Replay: new(false)}}, fake.undone.Text()},
		{"end_lesson", `{"lesson":"L"}`, about{"L", nil}, fake.ended.Text()},
	} {
		result, text := callTool(t, c, row.tool, json.RawMessage(row.arguments))
		if result.IsError || text != row.text || len(result.Content) != 1 || result.StructuredContent != nil {
			t.Errorf("%s %s answered %+v", row.tool, row.arguments, result)
		}
		if diff := cmp.Diff(row.want, fake.one(t)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", row.tool, row.arguments, diff)
		}
	}
	for _, p := range fake.callers {
		if diff := cmp.Diff(ann, p); diff != "" {
			t.Errorf("on behalf of (-want +got):\n%s", diff)
		}
	}
}

// A call that cannot be understood says which argument to give, and does nothing.
func TestLessonToolsRefuseArguments(t *testing.T) {
	fake := newFakeLessons()
	c := connect(t, newTestServer(t).with(t, Config{Lessons: fake}).Server)
	for _, row := range []struct{ tool, arguments, want string }{
		{"start_lesson", `{"URl":1,"link":"x"}`, "valid are url, routine, execution, until, values, incognito, session"},
		{"start_lesson", `{"until":1.5}`, `"until" must be a whole number`},
		{"list_network_requests", `{"id":1}`, "lesson is required"},
		{"list_network_requests", `{"lesson":"L","id":"first"}`, `"id" must be a whole number`},
		{"save_lesson", `{"lesson":"L","parameters":{}}`, `"parameters" must be a list`},
		{"save_lesson", `{"lesson":"L","titel":"x"}`, "valid are lesson, name, description, parameters, prove, other_values, expected_version, dry_run"},
		{"take_snapshot", `{}`, "lesson is required: it is in the answer of start_lesson [invalid]"},
		{"try_operation", `{"lesson":"L"}`, "give either operation or operations"},
		{"try_operation", `{"lesson":"L","operation":"click #go"}`, `an operation is an object, as in {"type":"click","selector":"#go"}, not "click #go" [invalid]`},
		{"try_operation", `{"lesson":"L","operation":null,"operations":[]}`, "give either operation or operations"},
		{"try_operation", `{"lesson":"L","operation":{"type":"click"},"operations":[{"type":"click"}]}`, "give either operation or operations"},
		{"undo_operations", `{"lesson":"L"}`, "to is required: how many operations to keep"},
		{"end_lesson", `{"lesson":""}`, "lesson is required"},
	} {
		result, text := callTool(t, c, row.tool, json.RawMessage(row.arguments))
		if !result.IsError || !strings.Contains(text, row.want) {
			t.Errorf("%s %s: %s", row.tool, row.arguments, text)
		}
	}
	if len(fake.requests) > 0 {
		t.Errorf("requests: %+v", fake.requests)
	}
}

// An operation that failed is an error with the same text; an error of the lesson has
// its code, its problems and what to do.
func TestLessonErrors(t *testing.T) {
	fake := newFakeLessons()
	c := connect(t, newTestServer(t).with(t, Config{Lessons: fake}).Server)
	failed := lesson.Step{Record: routine.OperationRecord{Type: "click"}, Error: &lesson.StepError{Code: routine.CodeElementNotFound, Message: "nothing matches"}}
	fake.tried.OK, fake.tried.Steps = false, []lesson.Step{failed}
	fake.undone.Replayed, fake.started.Done = []lesson.Step{{OK: true}, failed}, []lesson.Step{failed}
	for _, row := range []struct {
		tool, arguments, text string
		failed                bool
	}{
		{"try_operation", `{"lesson":"L","operation":{"type":"click"}}`, fake.tried.Text(), true},
		{"undo_operations", `{"lesson":"L","to":2}`, fake.undone.Text(), true},
		{"start_lesson", `{"url":"https://a.example/"}`, fake.started.Text(), true},
		{"start_lesson", `{"routine":"r"}`, fake.started.Text(), false}, // its failure is what the caller wants to see
	} {
		if result, text := callTool(t, c, row.tool, json.RawMessage(row.arguments)); result.IsError != row.failed || text != row.text {
			t.Errorf("%s: %+v", row.tool, result)
		}
	}
	fake.err = &routine.Error{Code: routine.CodeBusy, Message: `2 of your 2 lessons are open: L1, L2. End one: end_lesson {"lesson":"L1"}`}
	if _, text := callTool(t, c, "start_lesson", json.RawMessage(`{}`)); text != "start_lesson failed: "+routine.AsError(fake.err).Message+" [busy]." {
		t.Error(text)
	}
	for _, row := range []struct {
		err  error
		want []string
	}{
		{&routine.Error{Code: routine.CodeBusy, Message: "2 of 2 lessons are open", RetryAfter: 30e9}, []string{"2 of 2 lessons are open [busy]",
			"call again in 30s"}},
		{routine.Errorf(routine.CodeNotFound, "there is no lesson L"), []string{"there is no lesson L [not_found]"}},
		{routine.Errorf(routine.CodePageLost, "the page crashed"), []string{"the page crashed [page_lost]", "undo_operations opens the page again"}},
		{routine.Errorf(routine.CodeLessonLimit, "200 tries were made"), []string{"[lesson_limit]", "save the lesson or end it"}},
		{routine.Invalid("operation", []routine.Problem{{Pointer: "/selector", Code: "required", Message: "selector is required"}}),
			[]string{"[invalid]", "- /selector: selector is required [required]"}},
		{routine.Internal("look", fmt.Errorf("a secret of the store")), []string{"internal error, incident "}},
	} {
		fake.err = row.err
		for _, tool := range strings.Fields(lessonToolNames) {
			arguments := map[string]string{"start_lesson": `{}`, "try_operation": `{"lesson":"L","operation":{}}`, "undo_operations": `{"lesson":"L","to":0}`}[tool]
			if arguments == "" {
				arguments = `{"lesson":"L"}`
			}
			result, text := callTool(t, c, tool, json.RawMessage(arguments))
			for _, want := range row.want {
				if !result.IsError || !strings.Contains(text, want) || strings.Contains(text, "secret") {
					t.Errorf("%s: no %q in %s", tool, want, text)
				}
			}
			if notFound := routine.CodeOf(row.err) == routine.CodeNotFound; notFound && strings.Contains(text, "search_routines") == (tool != "start_lesson") {
				t.Errorf("%s: %s", tool, text) // there it is a routine or an execution that was not found
			} else if notFound && strings.Contains(text, "without id lists the requests") != (tool == "list_network_requests") {
				t.Errorf("%s: %s", tool, text) // there it may be a request
			}
		}
	}
}

// The answer of save_lesson is structured, and the same as text. A routine that is not
// proved is an error with the whole answer.
func TestSaveLesson(t *testing.T) {
	fake := newFakeLessons()
	c := connect(t, newTestServer(t).with(t, Config{Lessons: fake}).Server)
	for arguments, want := range map[string]lesson.SaveRequest{
		`{"lesson":"L"}`: {Via: routine.ViaMCP},
		`{"lesson":"L","name":"search_lamps","description":"Finds lamps.","parameters":[{"name":"q","from":"lamp"}],"prove":"check_last",` +
			`"other_values":{"q":"chair"},"expected_version":"3","dry_run":"true"}`: {Name: "search_lamps", Description: "Finds lamps.",
			Parameters: raw(`{"name":"q","from":"lamp"}`), Prove: lesson.ProveCheckLast, OtherValues: map[string]json.RawMessage{"q": json.RawMessage(`"chair"`)},
			ExpectedVersion: new(3), DryRun: true, Via: routine.ViaMCP},
	} {
		result, text := callTool(t, c, "save_lesson", json.RawMessage(arguments))
		if whole := string(routine.RawJSON(&fake.saved)); result.IsError || text != whole || string(result.RawStructuredContent) != whole {
			t.Errorf("%s: %+v", arguments, result)
		}
		if diff := cmp.Diff(about{"L", want}, fake.one(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
	fake.err, fake.saved.Saved, fake.saved.Proof.Passed = routine.Errorf(routine.CodeNotProved, "the proof failed"), "draft", false
	result, text := callTool(t, c, "save_lesson", json.RawMessage(`{"lesson":"L","name":"search_lamps"}`))
	if !result.IsError || text != string(routine.RawJSON(&fake.saved)) || !strings.HasPrefix(text, `{"saved":"draft",`) {
		t.Errorf("%+v", result)
	}
}

func TestSnapshotWithScreenshot(t *testing.T) {
	c := connect(t, newTestServer(t).with(t, Config{Lessons: newFakeLessons()}).Server)
	result, _ := callTool(t, c, "take_snapshot", json.RawMessage(`{"lesson":"L1","screenshot":true}`))
	if len(result.Content) != 2 {
		t.Fatalf("%+v", result.Content)
	}
	if picture, ok := result.Content[1].(mcp.ImageContent); !ok || picture.MIMEType != "image/jpeg" || picture.Data != "cGljdHVyZSBvZiBMMQ==" {
		t.Errorf("%+v", result.Content[1])
	}
}

// The operations of a replay and of the runs of a proof are reported one by one, with
// numbers that grow.
func TestLessonProgress(t *testing.T) {
	fake := newFakeLessons()
	fake.reports = []routine.Progress{{Index: 0, Total: 2, Operation: "navigate"}, {Index: 1, Total: 2, Operation: "click"},
		{Index: 0, Total: 2, Operation: "navigate"}, {Index: 1, Total: 2, Operation: "click"}}
	p := initialized(t, newTestServer(t).with(t, Config{Lessons: fake}).Server)
	for id, call := range []string{`"start_lesson","arguments":{"routine":"r"}`, `"undo_operations","arguments":{"lesson":"L","to":2}`,
		`"try_operation","arguments":{"lesson":"L","operation":{}}`, `"save_lesson","arguments":{"lesson":"L","name":"n"}`} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"_meta":{"progressToken":"t"}}}`, id, call))
		for i, want := range []string{"1/2 navigate", "2/2 click", "3/4 navigate", "4/4 click"} {
			if m := p.next(); m.Method != "notifications/progress" || m.Params.Message != want || m.Params.Progress != float64(i) {
				t.Fatalf("%s: got %s, want %q", call, m.raw, want)
			}
		}
		p.result(fmt.Sprint(id))
	}
}

// lessonToolNames are all tools of lessons.
const lessonToolNames = "end_lesson list_network_requests save_lesson start_lesson take_snapshot try_operation undo_operations"

// Lessons need two scopes: to write routines and to run them. Servers without lessons
// and read-only servers have none of the tools.
func TestWhoMayTeach(t *testing.T) {
	h := newTestServer(t)
	for _, row := range []struct {
		scopes routine.Scopes
		config Config
		want   string
	}{
		{routine.DefaultScopes, Config{Lessons: newFakeLessons()}, lessonToolNames},
		{routine.ScopeRoutinesWrite | routine.ScopeExecutionsRun, Config{Lessons: newFakeLessons()}, lessonToolNames},
		{routine.ScopeAdmin, Config{Lessons: newFakeLessons()}, lessonToolNames},
		{routine.DefaultScopes &^ routine.ScopeRoutinesWrite, Config{Lessons: newFakeLessons(), Authoring: true}, ""},
		{routine.DefaultScopes &^ routine.ScopeExecutionsRun, Config{Lessons: newFakeLessons(), Authoring: true}, ""},
		{routine.DefaultScopes, Config{Lessons: newFakeLessons(), ReadOnly: true}, ""},
		{routine.DefaultScopes, Config{Authoring: true}, ""},
	} {
		p := ann
		p.Scopes = row.scopes
		c := connectAs(t, h.with(t, row.config).Server, p)
		list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var visible []string
		for _, tool := range list.Tools {
			if slices.Contains(strings.Fields(lessonToolNames), tool.Name) {
				visible = append(visible, tool.Name)
			}
		}
		if got := strings.Join(visible, " "); got != row.want {
			t.Errorf("%s %+v: %s", row.scopes, row.config, got)
		}
		q := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "end_lesson", Arguments: map[string]any{"lesson": "L"}}}
		if r, err := c.CallTool(t.Context(), q); (err == nil && !r.IsError) != (row.want != "") {
			t.Errorf("%s %+v: end_lesson answers %v, %v", row.scopes, row.config, r, err)
		}
	}
}

// An agent pays for the list of tools with each task, so the tools are small: those of
// lessons take at most 6.6 KB, and a list with the toolset run alone at most 4 KB, and
// 600 bytes for each routine.
func TestSizeOfToolList(t *testing.T) {
	size := func(s *Server) int {
		p := initialized(t, s)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		return len(p.result("1").Result)
	}
	var few []string
	for i := range 10 {
		few = append(few, fmt.Sprintf(`{"name": "search lamps %d", "description": "Searches the shop for lamps of a colour and gives name and price of each.",
			"parameters": [{"name": "colour", "description": "Colour of the lamps. For example: red"}],
			"operations": [{"type": "navigate", "url": "https://shop.example/{{colour}}"}, {"type": "return_html"}]}`, i))
	}
	h := newTestServer(t, few...)
	run := size(h.Server)
	if limit := 4<<10 + len(few)*600; run > limit {
		t.Errorf("tools/list with %d routines has %d bytes, more than %d", len(few), run, limit)
	}
	if lessons := size(h.with(t, Config{Lessons: newFakeLessons()}).Server) - run; lessons > 6600 {
		t.Errorf("the tools of lessons have %d bytes", lessons)
	}
}

// With lessons, prompts and failures say how to do it on the live page, and name the
// calls. Without them they name none of the tools.
func TestAdviceOfLessons(t *testing.T) {
	h := newTestServer(t, buy)
	h.browser.Page.Click = routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "nothing matches #buy"))
	h.browser.Page.Evidence = routinetest.ShowEvidence(&routine.Evidence{URL: "https://shop.example/", Title: "Shop"})
	for _, lessons := range []bool{true, false} {
		config := Config{}
		if lessons {
			config.Lessons = newFakeLessons()
		}
		c, hello := initializedClient(t, h.with(t, config).Server, ann)
		_, failure := callTool(t, c, "buy", nil)
		id := executionIDs.FindString(failure)
		_, record := callTool(t, c, "get_execution", map[string]any{"execution_id": id})
		routineID := h.executions(t, routine.ExecutionFailed)[0].RoutineID
		for text, want := range map[string]string{
			hello.Instructions: "open its page with start_lesson",
			failure:            "\nTo mend it: start_lesson " + `{"routine":"buy","execution":"` + id + `"}`,
			record:             "\nTo mend it: start_lesson " + `{"routine":"` + routineID + `","execution":"` + id + `"}`,
			prompt(t, c, "author_routine", map[string]string{"goal": "buy a lamp"}): "1. start_lesson with the url where the task begins",
			prompt(t, c, "debug_execution", map[string]string{"execution_id": id}): `start_lesson {"routine":"` + routineID + `","execution":"` + id +
				`"}. It runs the operations`,
		} {
			if lessons != strings.Contains(text, want) || !lessons && strings.Contains(text, "lesson") {
				t.Errorf("with lessons %v: want %q in\n%s", lessons, want, text)
			}
		}
		if lessons == strings.Contains(failure, "get_execution tells what was on the page") {
			t.Errorf("with lessons %v: %s", lessons, failure)
		}
	}
	h.browser.Page.Click = routinetest.FailClick(routine.Errorf(routine.CodeEgressDenied, "not allowed"))
	if _, text := callTool(t, connect(t, h.with(t, Config{Lessons: newFakeLessons()}).Server), "buy", nil); strings.Contains(text, "lesson") {
		t.Errorf("the routine is not at fault: %s", text)
	}
}

// prompt returns the text of a prompt.
func prompt(t *testing.T, c *client.Client, name string, arguments map[string]string) string {
	t.Helper()
	var q mcp.GetPromptRequest
	q.Params.Name, q.Params.Arguments = name, arguments
	r, err := c.GetPrompt(t.Context(), q)
	if err != nil || len(r.Messages) == 0 {
		t.Fatalf("%s: %+v, %v", name, r, err)
	}
	return r.Messages[0].Content.(mcp.TextContent).Text
}
