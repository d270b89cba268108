package mcp

import (
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestMissingRoutineIDIsRefused(t *testing.T) {
	c := connect(t, newTestServer(t).with(t, Config{Authoring: true}).Server)
	for tool, arguments := range map[string]map[string]any{
		"describe_routine": {}, "run_routine": {"id": ""}, "publish_routine": {"on": true}, "archive_routine": {},
	} {
		result, text := callTool(t, c, tool, arguments)
		if want := tool + " failed: id is required: the tool name of a routine, or its Routine_… id [invalid]."; !result.IsError || text != want {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

func TestMissingExecutionIDIsRefused(t *testing.T) {
	c := connect(t, newTestServer(t).Server)
	for _, tool := range []string{"get_execution", "cancel_execution"} {
		result, text := callTool(t, c, tool, map[string]any{})
		if want := tool + " failed: execution_id is required: it stands in the answer of the call that ran the routine [invalid]."; !result.IsError || text != want {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

func TestUnknownToolErrorSuggestsSearch(t *testing.T) {
	c := connect(t, newTestServer(t, lookup).Server)
	_, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "lokup"}})
	if want := `there is no tool "lokup": tools/list tells which there are, and search_routines finds routines by what they do`; err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// The author's description and what is added to it are two sentences.
func TestDescriptionsOfToolsAreSentences(t *testing.T) {
	h := newTestServer(t, strings.Replace(named("api"), "Reads the page.", "Reads the page", 1),
		strings.Replace(named("Great price"), "Reads the page.", "How much?", 1))
	c := connect(t, h.Server)
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, tool := range list.Tools {
		told[tool.Name] = tool.Description
	}
	if told["api"] != "Reads the page. Result: data is the HTML of the page." || told["great_price"] != "How much? Result: data is the HTML of the page." {
		t.Errorf("%q", told)
	}
	resources, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range resources.Resources {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, ", "); got != "Great price (great_price), api, routine schema" {
		t.Error(got)
	}
}
