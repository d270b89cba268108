package console

import (
	"net/http"

	"rote/routine"
)

// formFault says why a posted form was refused. A nil one is that of a new form.
type formFault struct {
	Message string
	// Others are the problems that belong to no field of the form.
	Others []routine.Problem
	fields map[string]string
	status int
}

// Of returns the error message of a field; empty if the field is valid.
func (f *formFault) Of(field string) string {
	if f == nil {
		return ""
	}
	return f.fields[field]
}

// Status returns the status of the answer with the form.
func (f *formFault) Status() int {
	if f == nil {
		return http.StatusOK
	}
	return f.status
}

// refused returns err as the fault of a form if the person can correct it there, and err
// itself otherwise. fieldOf returns the name of the field to which a pointer of the posted
// JSON belongs; empty: to none.
func (q *request) refused(err error, fieldOf func(pointer string) string) (*formFault, error) {
	switch routine.CodeOf(err) {
	case routine.CodeInvalid, routine.CodeConflict, routine.CodePreconditionFailed, routine.CodeForbidden, routine.CodeValueRequired,
		routine.CodeNotFound, routine.CodeSecretUnavailable, routine.CodeTooLarge:
	default:
		return nil, err
	}
	e := routine.AsError(err)
	message := e.Message
	if len(e.Problems) > 0 {
		message = "The form has invalid values. Nothing is saved."
	}
	f := &formFault{Message: message, fields: map[string]string{}, status: q.admission.Refuse(q.w.Header(), err)}
	for _, p := range e.Problems {
		field := fieldOf(p.Pointer)
		if field == "" {
			f.Others = append(f.Others, p)
			continue
		}
		text := p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		if before := f.fields[field]; before != "" {
			text = before + "; " + text
		}
		f.fields[field] = text
	}
	return f, nil
}

// fieldFault returns the fault of one field, which the console itself has found.
func fieldFault(field, message string) *formFault {
	return &formFault{Message: "The form has invalid values. Nothing is saved.", fields: map[string]string{field: message}, status: http.StatusBadRequest}
}
