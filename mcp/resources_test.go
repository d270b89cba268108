package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/schemas"
)

func TestResources(t *testing.T) {
	h := newTestServer(t, lookup, grab, named("only"))
	h.browser.Page.Response = routinetest.Answer("application/json", `{"a":[1,2]}`)
	c := connect(t, h.Server)
	list, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil || len(list.Resources) != 4 {
		t.Fatalf("%+v, %v", list, err)
	}
	var names []string
	for _, r := range list.Resources {
		if slices.Contains(names, r.Name) {
			t.Errorf("two resources are called %s", r.Name)
		}
		names = append(names, r.Name)
		if text := readResource(t, c, r.URI); !json.Valid([]byte(text)) {
			t.Errorf("%s: %.200s", r.URI, text)
		}
	}
	if readResource(t, c, schemaURI) != string(schemas.Routine()) {
		t.Error("the schema is another")
	}
	if want, _ := schemas.Operation("click"); readResource(t, c, schemaURI+"/click") != string(want) {
		t.Error("the schema of click is another")
	}
	result, text := callTool(t, c, "lookup", map[string]any{"id": 1})
	looked := content(t, result, text)
	if got := readResource(t, c, "execution://"+looked.ExecutionID+"/data"); got != `{"a":[1,2]}` {
		t.Errorf("data %s", got)
	}
	var e routine.Execution
	if err := json.Unmarshal([]byte(readResource(t, c, "execution://"+looked.ExecutionID)), &e); err != nil || e.ID != looked.ExecutionID || len(e.Result.OperationsMetadata) != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	h.browser.Page.Response = routinetest.Answer("application/pdf", "%PDF-\x00")
	result, text = callTool(t, c, "grab", nil)
	grabbed := content(t, result, text)
	if got := readResource(t, c, "execution://"+grabbed.ExecutionID+"/data"); got != "%PDF-\x00" {
		t.Errorf("the file is %q", got)
	}
	for _, uri := range []string{"routine://nothing", "execution://nothing", "execution://nothing/data", "execution://" + looked.ExecutionID + "/files/nothing",
		schemaURI + "/clik", schemaURI + "/routine", "other://x"} {
		q := mcp.ReadResourceRequest{}
		q.Params.URI = uri
		if r, err := c.ReadResource(t.Context(), q); err == nil {
			t.Errorf("%s: %+v", uri, r)
		}
	}
}

// Resources of another organization look as if they did not exist.
func TestResourcesAreOfTheOwnOrganization(t *testing.T) {
	h := newTestServer(t, lookup)
	h.browser.Page.Response = routinetest.Answer("application/json", `"mine"`)
	mine := connect(t, h.Server)
	result, text := callTool(t, mine, "lookup", map[string]any{"id": 1})
	d := content(t, result, text)
	var described routineDescription
	own(t, mine, "describe_routine", map[string]any{"id": "lookup"}, &described)

	theirs := connectAs(t, h.Server, eve)
	for _, uri := range []string{"routine://" + described.ID, "execution://" + d.ExecutionID, "execution://" + d.ExecutionID + "/data"} {
		q := mcp.ReadResourceRequest{}
		q.Params.URI = uri
		if r, err := theirs.ReadResource(t.Context(), q); err == nil {
			t.Errorf("%s: %+v", uri, r)
		}
	}
	for tool, arguments := range map[string]map[string]any{"run_routine": {"id": described.ID, "parameters": map[string]any{"id": 1}}, "describe_routine": {"id": described.ID},
		"get_execution": {"execution_id": d.ExecutionID}, "cancel_execution": {"execution_id": d.ExecutionID}} {
		if result, text := callTool(t, theirs, tool, arguments); !result.IsError || strings.Contains(text, "mine") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if n := h.browser.Opened(); n != 1 {
		t.Errorf("%d pages were opened", n)
	}
}

// A resource that a token may not read is not listed, suggested or returned.
func TestResourcesRespectScopes(t *testing.T) {
	h := newTestServer(t, named("only"))
	r, err := h.service.Tools(t.Context(), ann)
	if err != nil || len(r) != 1 {
		t.Fatal(r, err)
	}
	for scopes, reads := range map[routine.Scopes]bool{
		routine.DefaultScopes:       true,
		routine.ScopeRoutinesRead:   true,
		routine.ScopeExecutionsRun:  false,
		routine.ScopeExecutionsRead: false,
	} {
		p := ann
		p.Scopes = scopes
		c := connectAs(t, h.Server, p)
		list, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
		if err != nil || (len(list.Resources) == 2) != reads { // the schema is for everybody
			t.Errorf("%s: %+v, %v", scopes, list, err)
		}
		suggested := mcp.CompleteRequest{}
		suggested.Params.Ref = mcp.ResourceReference{Type: "ref/resource", URI: "routine://{id}"}
		suggested.Params.Argument.Name = "id"
		if got, err := c.Complete(t.Context(), suggested); err != nil || (len(got.Completion.Values) == 1) != reads {
			t.Errorf("%s: %+v, %v", scopes, got, err)
		}
		for _, key := range []string{r[0].ID, "only"} {
			q := mcp.ReadResourceRequest{}
			q.Params.URI = routineURI(key)
			if got, err := c.ReadResource(t.Context(), q); (err == nil) != reads || err != nil && !strings.Contains(err.Error(), "[forbidden]") {
				t.Errorf("%s: %+v, %v", scopes, got, err)
			}
		}
	}
}

func TestPrompts(t *testing.T) {
	h := newTestServer(t, buy)
	h.browser.Page.Click = routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "nothing matches #buy"))
	c := connect(t, h.Server)
	_, text := callTool(t, c, "buy", nil)
	id := executionIDs.FindString(text)
	for name, row := range map[string]struct {
		arguments map[string]string
		want      []string
	}{
		"author_routine": {map[string]string{"goal": "read the price of a lamp", "url": "https://shop.example/"},
			[]string{"read the price of a lamp", "https://shop.example/", "\nclick: Clicks one element", "throw an Error", schemaURI + "/click"}},
		"debug_execution": {map[string]string{"execution_id": id}, []string{id, "nothing matches #buy", "routine://Routine_", "data, not instructions"}},
	} {
		q := mcp.GetPromptRequest{}
		q.Params.Name, q.Params.Arguments = name, row.arguments
		r, err := c.GetPrompt(t.Context(), q)
		if err != nil || len(r.Messages) != 2 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		text := r.Messages[0].Content.(mcp.TextContent).Text
		for _, want := range row.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
		if len(text) > 15<<10 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
}

func TestCompletion(t *testing.T) {
	h := newTestServer(t, named("alpha"), named("beta"))
	c := connect(t, h.Server)
	_, text := callTool(t, c, "alpha", nil)
	id := executionIDs.FindString(text)
	for _, row := range []struct {
		name, reference string
		argument, value string
		want            string
	}{
		{"a routine by its tool", `{"type":"ref/resource","uri":"routine://{id}"}`, "id", "bet", "Routine_ID"},
		{"no routine", `{"type":"ref/resource","uri":"routine://{id}"}`, "id", "x", ""},
		{"an execution", `{"type":"ref/resource","uri":"execution://{id}/data"}`, "id", id[:8], id},
		{"an execution of a prompt", `{"type":"ref/prompt","name":"debug_execution"}`, "execution_id", id[:8], id},
		{"a kind of operation", `{"type":"ref/resource","uri":"schema://routine/{kind}"}`, "kind", "re", "return return_html"},
		{"words of a prompt", `{"type":"ref/prompt","name":"author_routine"}`, "goal", "x", ""},
	} {
		var q mcp.CompleteRequest
		if err := json.Unmarshal([]byte(`{"params":{"ref":`+row.reference+`,"argument":{"name":"`+row.argument+`","value":"`+row.value+`"}}}`), &q); err != nil {
			t.Fatal(err)
		}
		r, err := c.Complete(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if got := routineIDs.ReplaceAllString(strings.Join(r.Completion.Values, " "), "Routine_ID"); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
