package httpapi

import (
	"mime"
	"net/http"
	"slices"

	"rote/routine"
)

func (a *api) listExecutions(q *request) (answer, error) {
	query, err := queryOf(q.URL)
	if err != nil {
		return answer{}, err
	}
	f := executionFilter(query)
	f.RoutineID = query.text("routine_id")
	if err := query.err(); err != nil {
		return answer{}, err
	}
	es, total, err := a.service.Executions(q.Context(), q.principal, f)
	return answerExecutions(q, es, total, f), err
}

func (a *api) listRoutineExecutions(q *request) (answer, error) {
	query, err := queryOf(q.URL)
	if err != nil {
		return answer{}, err
	}
	f := executionFilter(query)
	if err := query.err(); err != nil {
		return answer{}, err
	}
	es, total, err := a.service.RoutineExecutions(q.Context(), q.principal, q.routineID(), f)
	return answerExecutions(q, es, total, f), err
}

func executionFilter(query *query) (f routine.ExecutionFilter) {
	f.Limit, f.Offset = query.page()
	f.Status = routine.ExecutionStatus(query.oneOf("status", string(routine.ExecutionPending), string(routine.ExecutionRunning),
		string(routine.ExecutionCompleted), string(routine.ExecutionFailed)))
	return f
}

func answerExecutions(q *request, es []*routine.Execution, total int, f routine.ExecutionFilter) answer {
	items := make([]routine.Summary, len(es))
	for i, e := range es {
		items[i] = e.Summary()
	}
	return answerPage(q, items, total, f.Limit, f.Offset)
}

func (a *api) readExecution(q *request) (answer, error) {
	e, err := a.service.Execution(q.Context(), q.principal, q.parameter("execution_id"))
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: e}, nil
}

func (a *api) cancelExecution(q *request) (answer, error) {
	e, err := a.service.Cancel(q.Context(), q.principal, q.parameter("execution_id"))
	if err != nil {
		return answer{}, err
	}
	if e.Withheld {
		return answer{status: http.StatusOK, body: a.withheldExecution(e)}, nil
	}
	return answer{status: http.StatusOK, body: e}, nil
}

// harmlessTypes are media types that a browser does not run, should it show a
// file in spite of all headers. Any other is sent as bytes.
var harmlessTypes = []string{"application/json", "application/pdf", "application/zip", "audio/mpeg", "image/gif", "image/jpeg", "image/png", "image/webp",
	"text/csv", "text/markdown", "text/plain", "video/mp4", "video/webm"}

func (a *api) readExecutionFile(q *request) (answer, error) {
	f, err := a.service.ExecutionFile(q.Context(), q.principal, q.parameter("execution_id"), q.parameter("name"))
	if err != nil {
		return answer{}, err
	}
	mediaType, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil || !slices.Contains(harmlessTypes, mediaType) {
		mediaType = "application/octet-stream"
	}
	h := q.w.Header()
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	return answer{status: http.StatusOK, body: document{mediaType, f.Data}}, nil
}
