package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// pageRows is the number of rows of a page of the list.
const pageRows = 25

// maxListedValue limits what the list shows of one parameter, in bytes of HTML.
const maxListedValue = 40

// executionList is what the list of executions shows.
type executionList struct {
	Filter executionFilter
	// Problem is the error message of the filter's routine; empty if it is valid.
	Problem  string
	Statuses []routine.ExecutionStatus
	Rows     []executionRow
	Total    routine.Total
	Vias     []routine.Via
	Sinces   []since
	// Newest and Older are the addresses of the first page and of the one after this; empty:
	// this is the first or the last one.
	Newest, Older string
}

// executionRow is one execution of the list.
type executionRow struct {
	*routine.Execution
	Parameters []parameter
}

// executionFilter is the query of the list, as its form has it.
type executionFilter struct {
	Status, Routine, Via, Code, User string
	// Since is how far back the list goes: one of sinces; empty: to the beginning.
	Since string
	// Before is the place in the list at which the page begins; empty: at the newest.
	Before string
}

// since is a choice of how far back the list goes.
type since struct {
	Value, Text string
	time        time.Duration
}

var sinces = []since{{"1h", "the last hour", time.Hour}, {"24h", "24 hours", 24 * time.Hour}, {"7d", "7 days", 7 * 24 * time.Hour},
	{"30d", "30 days", 30 * 24 * time.Hour}}

func readExecutionFilter(values url.Values) executionFilter {
	text := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	return executionFilter{Status: text("status"), Routine: text("routine"), Via: text("via"), Code: text("code"), User: text("user"),
		Since: text("since"), Before: text("before")}
}

// Set reports whether the filter leaves out executions.
func (f executionFilter) Set() bool {
	f.Before = ""
	return f != executionFilter{}
}

// address returns the address of the page of the list that begins at a place.
func (f executionFilter) address(x *console, before string) string {
	values := url.Values{}
	for _, v := range []struct{ name, value string }{{"status", f.Status}, {"routine", f.Routine}, {"via", f.Via}, {"code", f.Code},
		{"user", f.User}, {"since", f.Since}, {"before", before}} {
		if v.value != "" {
			values.Set(v.name, v.value)
		}
	}
	if len(values) == 0 {
		return x.to("executions")
	}
	return x.to("executions") + "?" + values.Encode()
}

// selection returns what the store selects by the filter. Values that no form and no link has
// are CodeInvalid.
func (f executionFilter) selection(routineID string, now time.Time) (s routine.ExecutionFilter, err error) {
	s = routine.ExecutionFilter{RoutineID: routineID, Status: routine.ExecutionStatus(f.Status), Via: routine.Via(f.Via), Code: routine.Code(f.Code),
		CreatedBy: f.User, Limit: pageRows + 1}
	if f.Since != "" {
		i := slices.IndexFunc(sinces, func(s since) bool { return s.Value == f.Since })
		if i < 0 {
			return s, routine.Errorf(routine.CodeInvalid, "%s is no time of the filter: choose one", routine.Quote(routine.Truncate(f.Since, 40)))
		}
		s.Since = now.Add(-sinces[i].time)
	}
	if f.Before != "" {
		var ok bool
		if s.Before, ok = routine.ParseExecutionCursor(f.Before); !ok {
			return s, routine.Errorf(routine.CodeInvalid, "this address is not of a page of the list: begin with the newest executions")
		}
	}
	return s, nil
}

var executionStatuses = []routine.ExecutionStatus{routine.ExecutionPending, routine.ExecutionRunning, routine.ExecutionCompleted,
	routine.ExecutionFailed}

func listExecutions(q *request) error {
	f := readExecutionFilter(q.URL.Query())
	list := executionList{Filter: f, Statuses: executionStatuses, Vias: routine.Vias, Sinces: sinces}
	p := page{Title: "Executions", Section: "executions", Modules: []string{"list.js"}}
	id, err := q.routineIDOf(f.Routine)
	switch routine.CodeOf(err) {
	case "":
	case routine.CodeNotFound, routine.CodeConflict:
		list.Problem = routine.AsError(err).Message
		p.Data = list
		return q.render(http.StatusBadRequest, "executions", p)
	default:
		return err
	}
	selection, err := f.selection(id, time.Now())
	if err != nil {
		return err
	}
	es, total, err := q.service.Executions(q.Context(), q.principal, selection)
	if err != nil {
		return err
	}
	if len(es) > pageRows {
		es = es[:pageRows]
		list.Older = f.address(q.console, routine.CursorOf(es[pageRows-1]).String())
	}
	for _, e := range es {
		list.Rows = append(list.Rows, executionRow{e, readParameters(e.Parameters, maxListedValue)})
	}
	list.Total = routine.NewTotal(total)
	if f.Before != "" {
		list.Newest = f.address(q.console, "")
	}
	p.Data = list
	return q.render(http.StatusOK, "executions", p)
}

// routineIDOf returns the id of the routine that a filter names by its id or its name.
// CodeNotFound; CodeConflict if several routines have the name.
func (q *request) routineIDOf(text string) (string, error) {
	if text == "" || strings.HasPrefix(text, "Routine_") {
		return text, nil
	}
	r, err := q.service.RoutineNamed(q.Context(), q.principal, text)
	if err != nil {
		return "", err
	}
	return r.ID, nil
}
