package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/tool"
)

func TestRoutineAsTool(t *testing.T) {
	r := &routine.Routine{ToolName: "find_prices", Definition: routinetest.Parse(t, `{"name": "Find\u202e prices", "description": "Finds prices,\n cheapest first",
		"parameters": [{"name": "query", "description": "Words"}],
		"operations": [{"type": "fetch", "endpoint": {"url": "https://shop.example/?q={{query}}"}, "session_storage_key": "prices"},
			{"type": "return", "session_storage_key": "prices"}]}`)}
	got := tool.Of(r)
	want := `{"name":"find_prices","title":"Find prices","description":"Finds prices, cheapest first. Result: data is the value stored as \"prices\".",` +
		`"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"Words"}},"required":["query"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":true}}`
	if diff := cmp.Diff(want, string(routine.RawJSON(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Result != `data is the value stored as "prices".` {
		t.Errorf("result %q", got.Result)
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
}

func TestRoutinesThatCannotBeTools(t *testing.T) {
	var many []routine.Parameter
	for i := range 1000 {
		many = append(many, routine.Parameter{Name: fmt.Sprint("p", i), Type: routine.TypeString})
	}
	for _, row := range []struct {
		name, tool string
		parameters []routine.Parameter
		want       string
	}{
		{"a name with a space", "find prices", nil, `"find prices" is no tool name that clients take`},
		{"no name", "", nil, `"" is no tool name that clients take`},
		{"a long name", strings.Repeat("x", 65), nil, "is no tool name that clients take"},
		{"a parameter with a name of signs", "find", []routine.Parameter{{Name: "größe"}}, `parameter "größe" has a name that clients do not take`},
		{"many parameters", "find", many, "the schema of its parameters has more than 16384 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := tool.Of(&routine.Routine{ToolName: row.tool, Definition: routine.Definition{Parameters: row.parameters}})
			if err := got.Check(); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}
