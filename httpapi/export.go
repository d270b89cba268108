package httpapi

import (
	"net/http"
	"strings"

	"rote/routine/exporter"
)

// exportRoutine answers with a routine in the format of another tool.
func (a *api) exportRoutine(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	to := query.oneOf("to", exporter.Formats...)
	if !query.values.Has("to") {
		query.addProblem("to", " is missing: it is one of %s", strings.Join(exporter.Formats, ", "))
	}
	if err := query.err(); err != nil {
		return response{}, err
	}
	exported, err := a.service.Export(q.Context(), q.principal, q.routineID(), to)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: exported}, nil
}
