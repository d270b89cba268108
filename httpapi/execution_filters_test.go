package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"rote/routine"
)

// executionList is the answer of a list of executions.
type executionList struct {
	Rows       []json.RawMessage `json:"items"`
	Total      int               `json:"total"`
	TotalExact *bool             `json:"total_exact"`
	NextCursor string            `json:"next_cursor"`
}

func (e *env) executionList(t *testing.T, path string) (ids []string, list executionList) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.must(t, "GET", path, asAdmin, "").body), &list); err != nil {
		t.Fatal(err)
	}
	for _, row := range list.Rows {
		var execution struct {
			ID string `json:"execution_id"`
		}
		if err := json.Unmarshal(row, &execution); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, execution.ID)
	}
	return ids, list
}

// The pages behind cursors have all executions, newest first, once each, although others are
// created meanwhile.
func TestExecutionCursors(t *testing.T) {
	e := newEnv(t)
	var want []string
	for range 5 {
		want = append([]string{e.ran(t, call("x"))}, want...)
	}
	var got []string
	path := "/executions/?limit=2&status=completed"
	for next := path; ; {
		ids, list := e.executionList(t, next)
		got = append(got, ids...)
		if list.NextCursor == "" {
			break
		}
		next = path + "&cursor=" + url.QueryEscape(list.NextCursor)
		e.ran(t, call("x"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages of %v, want %v", got, want)
	}
	_, all := e.executionList(t, "/executions/")
	if _, last := e.executionList(t, fmt.Sprint("/executions/?limit=", all.Total)); len(last.Rows) != all.Total || last.NextCursor != "" {
		t.Errorf("a full page that is the last one has %d of %d executions and leads to %q", len(last.Rows), all.Total, last.NextCursor)
	}
}

func TestExecutionFilters(t *testing.T) {
	e := newEnv(t)
	id := e.ran(t, call("x"))
	e.ran(t, call("y"))
	for path, want := range map[string]int{
		"/executions/?via=rest":                    2,
		"/executions/?via=mcp":                     0,
		"/executions/?error_code=timeout":          0,
		"/executions/?created_by=nobody":           0,
		"/executions/?since=2001-02-03T04:05:06Z":  2,
		"/executions/?until=2001-02-03T04:05:06Z":  0,
		"/executions/?count_up_to=2":               2,
		"/executions/?count_up_to=1":               1,
		"/routines/$private/executions?version=1":  2,
		"/routines/$private/executions?version=99": 0,
	} {
		_, list := e.executionList(t, path)
		if list.Total != want || (list.TotalExact == nil) != (path != "/executions/?count_up_to=1") {
			t.Errorf("%s: %d, exact %v", path, list.Total, list.TotalExact)
		}
	}
	ids, _ := e.executionList(t, "/executions/?limit=1")
	cursor := routine.CursorOf(&routine.Execution{ID: ids[0]}).String()
	if ids[0] == id {
		t.Fatal("the oldest is listed first")
	}
	for path, want := range map[string]string{
		"/executions/?via=rst":                       `"message":"via must be one of rest, mcp, cli, console, proof, schedule, login"`,
		"/executions/?version=1":                     `"message":"version needs a routine_id: a version is one of a routine"`,
		"/executions/?since=yesterday":               `"message":"since must be a time such as 2031-02-03T04:05:06Z"`,
		"/executions/?count_up_to=0":                 `"message":"count_up_to must be one integer from 1 to 10000"`,
		"/executions/?cursor=e1":                     `"message":"cursor must be the next_cursor of a page of this list: leave it out to begin with the newest execution"`,
		"/executions/?offset=20&cursor=" + cursor:    `"message":"offset cannot be given with a cursor: the page begins behind the cursor"`,
		"/routines/$private/executions?cursor=e1%20": `"pointer":"/cursor"`,
	} {
		scenario{path, "GET", path, "$admin", nil, "", 400, []string{want}, nil}.run(t, e)
	}
}
