package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"rote/routine"
)

// pageRows is the number of rows of a page of the list.
const pageRows = 25

// maxListedValue limits what the list shows of one parameter, in bytes of HTML.
const maxListedValue = 40

// executionList is what the list of executions shows.
type executionList struct {
	Filter executionFilter
	// Problem says what is wrong with the routine of the filter; empty: nothing.
	Problem  string
	Statuses []routine.ExecutionStatus
	Rows     []executionRow
	Total    routine.Total
	// Newer and Older are the addresses of the pages before and after; empty: there is none.
	Newer, Older string
}

// executionRow is one execution of the list.
type executionRow struct {
	*routine.Execution
	Parameters []parameter
}

// executionFilter is the query of the list, as its form has it.
type executionFilter struct {
	Status, Routine string
	Page            int // from 1
}

// readExecutionFilter reads a query. Values that no form sends are as good as none.
func readExecutionFilter(values url.Values) executionFilter {
	f := executionFilter{Status: values.Get("status"), Routine: strings.TrimSpace(values.Get("routine"))}
	f.Page, _ = strconv.Atoi(values.Get("page"))
	f.Page = min(max(f.Page, 1), routine.MaxTotal)
	return f
}

// Set reports whether the filter leaves out executions.
func (f executionFilter) Set() bool { return f.Status != "" || f.Routine != "" }

// address returns the address of a page of the list with this filter.
func (f executionFilter) address(x *console, page int) string {
	values := url.Values{}
	for name, value := range map[string]string{"status": f.Status, "routine": f.Routine} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if page > 1 {
		values.Set("page", strconv.Itoa(page))
	}
	if len(values) == 0 {
		return x.to("executions")
	}
	return x.to("executions") + "?" + values.Encode()
}

var executionStatuses = []routine.ExecutionStatus{routine.ExecutionPending, routine.ExecutionRunning, routine.ExecutionCompleted,
	routine.ExecutionFailed}

func listExecutions(q *request) error {
	f := readExecutionFilter(q.URL.Query())
	list := executionList{Filter: f, Statuses: executionStatuses}
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
	es, total, err := q.service.Executions(q.Context(), q.principal, routine.ExecutionFilter{RoutineID: id,
		Status: routine.ExecutionStatus(f.Status), Limit: pageRows, Offset: (f.Page - 1) * pageRows})
	if err != nil {
		return err
	}
	for _, e := range es {
		list.Rows = append(list.Rows, executionRow{e, readParameters(e.Parameters, maxListedValue)})
	}
	list.Total = routine.NewTotal(total)
	if f.Page > 1 {
		list.Newer = f.address(q.console, f.Page-1)
	}
	if total > f.Page*pageRows {
		list.Older = f.address(q.console, f.Page+1)
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
