package httpapi

import (
	"net/http"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson"
)

// importRoutine answers with the routine that a recording becomes. It saves nothing. With resolve
// it tries the operations in a lesson, which stays open.
func (a *api) importRoutine(q *request) (response, error) {
	var r lesson.ImportRequest
	source := decoded("source", &r.Source, "a string: the text of the recording")
	source.requiredHint = "it is the text of the recording"
	err := q.readFields(source, decoded("kind", &r.Kind, "a string"), decoded("test", &r.Test, "a string"), decoded("name", &r.Name, "a string"),
		decoded("resolve", &r.Resolve, "true or false"), decoded("values", &r.Values, "an object of name to value"),
		decoded("session", &r.Session, "a string: the name of a saved session"))
	if err == nil {
		err = r.Check()
	}
	var imported *lesson.Imported
	switch {
	case err != nil:
	case !r.Resolve:
		var static *importer.Imported
		if static, err = a.service.Import(q.Context(), q.principal, r.Request); err == nil {
			imported = &lesson.Imported{Imported: *static}
		}
	case a.lessons == nil:
		err = routine.Errorf(routine.CodeInvalid, "resolve tries the operations in a lesson, and this server has none: leave it out")
	default:
		imported, err = a.lessons.Import(q.Context(), q.principal, r)
	}
	if e := routine.AsError(err); err != nil && len(e.Problems) == 0 && e.Code == routine.CodeInvalid {
		e.Problems = []routine.Problem{{Code: "recording", Message: e.Message}}
	}
	return response{status: http.StatusOK, body: imported}, err
}
