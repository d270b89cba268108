package httpapi

import (
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
	if err := query.err(); err != nil {
		return response{}, err
	}
	es, total, err := a.service.Executions(q.Context(), q.principal, f)
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
	es, total, err := a.service.RoutineExecutions(q.Context(), q.principal, q.routineID(), f)
	return executionsResponse(q, es, total, f), err
}

func executionFilter(query *query) (f routine.ExecutionFilter) {
	f.Limit, f.Offset = query.limitAndOffset()
	f.Status = routine.ExecutionStatus(query.oneOf("status", string(routine.ExecutionPending), string(routine.ExecutionRunning),
		string(routine.ExecutionCompleted), string(routine.ExecutionFailed)))
	f.ScheduleID = query.text("schedule_id")
	return f
}

func executionsResponse(q *request, es []*routine.Execution, total int, f routine.ExecutionFilter) response {
	items := make([]routine.Summary, len(es))
	for i, e := range es {
		items[i] = e.Summary()
	}
	return pageResponse(q, items, total, f.Limit, f.Offset)
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
