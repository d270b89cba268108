package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// many joins n texts made from a format and their number.
func many(n int, format string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(texts, ",")
}

// using is a definition with these parameters, all of which it uses.
func using(name string, n int, parameters string) string {
	return fmt.Sprintf(`{"name": %q, "description": "Heavy.", "parameters": [%s], "operations": [{"type": "fetch", "endpoint": {"url": "https://shop.example/", "method": "POST", "body": [%s]}}]}`,
		name, parameters, many(n, `"{{p%d}}"`))
}

// One routine with long lists does not cost every client megabytes, nor hide the
// other tools. It still is found, described and called, with all its values.
func TestLargeRoutinesStayUsable(t *testing.T) {
	const maxTools, maxDescription = 200 << 10, 40 << 10
	long := strings.Repeat("x", 500<<10)
	for _, row := range []struct {
		name, definition string
		tool             bool
		arguments        map[string]any
	}{
		{"many_values", using("many_values", 1, `{"name": "p0", "type": "enum", "enum_values": [`+many(60000, `"value number %d"`)+`]}`), true,
			map[string]any{"p0": "value number 59999"}},
		{"many_numbers", using("many_numbers", 1, `{"name": "p0", "type": "integer", "enum_values": [`+many(20000, `%d`)+`]}`), true, map[string]any{"p0": 19999}},
		{"long_texts", using("long_texts", 1, `{"name": "p0", "description": "`+long+`", "default": "`+long+`", "examples": ["`+long+`"], "observed_value": "`+long+`"}`), true, nil},
		{"long_pattern", using("long_pattern", 1, `{"name": "p0", "pattern": "^(?:`+strings.Repeat("x", 3900)+`)?$", "required": false}`), true, nil},
		{"many_examples", using("many_examples", 1, `{"name": "p0", "examples": [`+many(20000, `"example %d"`)+`]}`), true, map[string]any{"p0": "x"}},
		{"many_lists", using("many_lists", 100, many(100, `{"name": "p%d", "default": "1", "enum_values": [`+strings.ReplaceAll(many(300, `"%d"`), "%", "%%")+`]}`)), false, map[string]any{"p99": "299"}},
		{"many_parameters", using("many_parameters", 3000, many(3000, `{"name": "p%d", "description": "A description", "required": false}`)), false, map[string]any{"p2999": "x"}},
		{"many_operations", `{"name": "many_operations", "description": "Heavy.", "operations": [` +
			many(5000, `{"type": "navigate", "url": "https://shop.example/%d/`+strings.Repeat("ü", 90)+`"}`) + `]}`, true, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newTestServer(t, named("light"), row.definition, named("lighter"))
			h.browser.Page.Response = routinetest.Answer("application/json", `1`)
			c := connect(t, h.Server)
			tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, tool := range tools.Tools {
				names[tool.Name] = true
			}
			if text := routine.RawJSON(tools); len(text) > maxTools || !names["light"] || !names["lighter"] || names[row.name] != row.tool {
				t.Errorf("%d bytes, %v", len(text), names)
			}
			for tool, arguments := range map[string]map[string]any{"search_routines": {"query": "heavy"}, "describe_routine": {"id": row.name}} {
				result, text := callTool(t, c, tool, arguments)
				if len(text) > maxDescription || result.IsError || !strings.Contains(text, row.name) || !json.Valid([]byte(text)) {
					t.Errorf("%s: %d bytes, %.300s", tool, len(text), text)
				}
				if told := strings.Contains(text, "call it with run_routine"); tool == "describe_routine" && told == row.tool {
					t.Errorf("%s: %.300s", tool, text)
				}
			}
			if result, text := callTool(t, c, "run_routine", map[string]any{"id": row.name, "parameters": row.arguments}); result.IsError {
				t.Errorf("run_routine: %.500s", text)
			}
			if result, text := callTool(t, c, "run_routine", map[string]any{"id": row.name, "parameters": map[string]any{"none": 1}}); !result.IsError || len(text) > maxDescription {
				t.Errorf("run_routine with an unknown argument: %d bytes, %.500s", len(text), text)
			}
			list, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
			if text := routine.RawJSON(list); err != nil || len(text) > maxDescription {
				t.Errorf("resources/list: %d bytes, %v", len(text), err)
			}
		})
	}
}

// Tools that are large but not too large share the room of the list, and leave
// their place to smaller ones where they do not fit.
func TestListOfToolsIsBounded(t *testing.T) {
	h := newTestServer(t, named("light")).with(t, Config{MaxListed: 10})
	for i := range 12 {
		create(t, h.service, ann, using(fmt.Sprintf("large%d", i), 50, many(50, `{"name": "p%d", "description": "`+strings.Repeat("x", 180)+`"}`)))
	}
	h.store.set(func() { h.store.edits["light"] = func(r *routine.Routine) { r.UpdatedAt = 1 } }) // the last in the order of the list
	c := connect(t, h.Server)
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	size, light, large := 0, false, 0
	for _, tool := range tools.Tools {
		size += len(routine.RawJSON(tool))
		light = light || tool.Name == "light"
		if strings.HasPrefix(tool.Name, "large") {
			large++
		}
	}
	if size > minListed+8<<10 || !light || large < 3 {
		t.Errorf("%d bytes, light is listed: %v, %d large ones", size, light, large)
	}
}

// A look at the store reads the definitions of what has changed, and what one
// look has read the next one need not read when the first fails.
func TestRefreshReadsOnlyWhatHasChanged(t *testing.T) {
	h := newTestServer(t, named("one"), named("two"), named("three"))
	reads := &countedReads{Store: h.store}
	s := newServer(t, Config{Service: service.New(service.Config{Store: reads, Browser: h.browser}), RefreshInterval: -1, Log: h.log.logger()})
	registry := annOrganization(t, s).registry
	look := func(want int, listed ...string) {
		t.Helper()
		reads.count = 0
		registry.refresh(t.Context())
		for _, name := range listed {
			if registry.find(name) == nil {
				t.Errorf("%s is missing", name)
			}
		}
		if reads.count != want {
			t.Errorf("%d definitions were read, not %d", reads.count, want)
		}
	}
	reads.broken = "two"
	look(3, "one", "three")
	reads.broken = ""
	look(1, "one", "two", "three")
	look(0, "one", "two", "three")
	if _, _, err := h.service.PatchRoutine(t.Context(), ann, registry.find("two").id, []byte(`{"description": "changed"}`), nil); err != nil {
		t.Fatal(err)
	}
	reads.broken = "two"
	look(1, "one", "two", "three") // as it was
	reads.broken = ""
	look(1, "one", "two", "three")
	if got := registry.find("two").authorDescription; got != "changed" {
		t.Error(got)
	}
}

// countedReads counts the definitions that are read from a store, of which one
// can be broken.
type countedReads struct {
	routine.Store
	count  int
	broken string // the routine's name
}

func (c *countedReads) Routine(ctx context.Context, id string) (*routine.Routine, error) {
	c.count++
	r, err := c.Store.Routine(ctx, id)
	if err == nil && r.Name == c.broken {
		return nil, fmt.Errorf("routine %s is broken", id)
	}
	return r, err
}
