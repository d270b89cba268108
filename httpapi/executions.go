package httpapi

import (
	"fmt"
	"math"
	"mime"
	"net/http"
	"slices"

	"rote/routine"
)

func (a *api) listExecutions(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	f := executionFilter(query)
	f.RoutineID = query.text("routine_id")
	if f.Version > 0 && f.RoutineID == "" {
		query.addProblem("version", " needs a routine_id: a version is one of a routine")
	}
	if err := query.err(); err != nil {
		return response{}, err
	}
	es, total, err := a.service.Executions(q.Context(), q.principal, withNext(f))
	return executionsResponse(q, es, total, f), err
}

func (a *api) listRoutineExecutions(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	f := executionFilter(query)
	if err := query.err(); err != nil {
		return response{}, err
	}
	es, total, err := a.service.RoutineExecutions(q.Context(), q.principal, q.routineID(), withNext(f))
	return executionsResponse(q, es, total, f), err
}

func executionFilter(query *query) (f routine.ExecutionFilter) {
	f.Limit, f.Offset = query.limitAndOffset()
	f.Status = routine.ExecutionStatus(query.oneOf("status", string(routine.ExecutionPending), string(routine.ExecutionRunning),
		string(routine.ExecutionCompleted), string(routine.ExecutionFailed)))
	f.ScheduleID = query.text("schedule_id")
	var vias []string
	for _, v := range routine.Vias {
		vias = append(vias, string(v))
	}
	f.Via = routine.Via(query.oneOf("via", vias...))
	f.Code, f.CreatedBy = routine.Code(query.text("error_code")), query.text("created_by")
	f.Version = query.integer("version", 0, 1, math.MaxInt32, "of at least 1")
	f.Since, f.Until = query.time("since"), query.time("until")
	f.CountUpTo = query.integer("count_up_to", routine.MaxTotal, 1, routine.MaxTotal, fmt.Sprintf("from 1 to %d", routine.MaxTotal))
	if text := query.text("cursor"); text != "" {
		var ok bool
		if f.Before, ok = routine.ParseExecutionCursor(text); !ok {
			query.addProblem("cursor", " must be the next_cursor of a page of this list: leave it out to begin with the newest execution")
		} else if f.Offset > 0 {
			query.addProblem("offset", " cannot be given with a cursor: the page begins behind the cursor")
		}
	}
	return f
}

// executionPage is a page of executions.
type executionPage struct {
	listPage[routine.Summary]
	// NextCursor is the place of the next page; empty: there is none.
	NextCursor string `json:"next_cursor,omitempty"`
}

// withNext returns a filter that selects one execution more, which shows whether there is a next page.
func withNext(f routine.ExecutionFilter) routine.ExecutionFilter {
	f.Limit++
	return f
}

// executionsResponse returns the page of a filter, for what [withNext] has selected.
func executionsResponse(q *request, es []*routine.Execution, total int, f routine.ExecutionFilter) response {
	hasNext := len(es) > f.Limit
	es = es[:min(len(es), f.Limit)]
	items := make([]routine.Summary, len(es))
	for i, e := range es {
		items[i] = e.Summary()
	}
	page := executionPage{listPage: listPage[routine.Summary]{items, routine.NewTotalUpTo(total, f.MaxCounted()), f.Limit, f.Offset}}
	if hasNext {
		page.NextCursor = routine.CursorOf(es[len(es)-1]).String()
	}
	if f.Before == nil {
		setPageLinks(q, len(items), page.Total, f.Limit, f.Offset)
	}
	return response{status: http.StatusOK, body: page}
}

func (a *api) readExecution(q *request) (response, error) {
	e, err := a.service.Execution(q.Context(), q.principal, q.pathParameter("execution_id"))
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: e}, nil
}

func (a *api) cancelExecution(q *request) (response, error) {
	e, err := a.service.Cancel(q.Context(), q.principal, q.pathParameter("execution_id"))
	if err != nil {
		return response{}, err
	}
	if e.Withheld {
		return response{status: http.StatusOK, body: a.withheldExecution(e)}, nil
	}
	return response{status: http.StatusOK, body: e}, nil
}

// inertMediaTypes are media types that a browser does not execute if it
// displays a file in spite of the headers. Files of all other types are sent as
// application/octet-stream.
var inertMediaTypes = []string{"application/json", "application/pdf", "application/zip", "audio/mpeg", "image/gif", "image/jpeg", "image/png", "image/webp",
	"text/csv", "text/markdown", "text/plain", "video/mp4", "video/webm"}

func (a *api) readExecutionFile(q *request) (response, error) {
	f, err := a.service.ExecutionFile(q.Context(), q.principal, q.pathParameter("execution_id"), q.pathParameter("name"))
	if err != nil {
		return response{}, err
	}
	mediaType, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil || !slices.Contains(inertMediaTypes, mediaType) {
		mediaType = "application/octet-stream"
	}
	h := q.w.Header()
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	return response{status: http.StatusOK, body: document{mediaType, f.Data}}, nil
}
