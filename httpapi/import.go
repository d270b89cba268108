package httpapi

import (
	"net/http"

	"rote/routine"
	"rote/routine/importer"
)

// importRoutine answers with the routine that a recording becomes. It saves nothing.
func (a *api) importRoutine(q *request) (response, error) {
	if err := a.service.MayTeach(q.principal); err != nil {
		return response{}, err
	}
	var r importer.Request
	source := decoded("source", &r.Source, "a string: the text of the recording")
	source.requiredHint = "it is the text of the recording"
	err := q.readFields(source, decoded("kind", &r.Kind, "a string"), decoded("test", &r.Test, "a string"), decoded("name", &r.Name, "a string"))
	if err != nil {
		return response{}, err
	}
	imported, err := a.service.Import(q.Context(), q.principal, r)
	if err != nil {
		if e := routine.AsError(err); len(e.Problems) == 0 && e.Code == routine.CodeInvalid {
			e.Problems = []routine.Problem{{Code: "recording", Message: e.Message}}
		}
		return response{}, err
	}
	return response{status: http.StatusOK, body: imported}, nil
}
