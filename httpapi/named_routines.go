package httpapi

import (
	"net/http"
	"strings"

	"rote/routine"
)

// readNamedRoutine answers with the routine of the caller's organization that
// has the name in the path.
func (a *api) readNamedRoutine(q *request) (answer, error) {
	r, err := a.service.RoutineNamed(q.Context(), q.principal, q.parameter("name"))
	if err != nil {
		return answer{}, err
	}
	return a.one(q, r), nil
}

// putRoutine creates the routine of the name in the path, or makes the body its
// next version. It answers 201 for a new routine, otherwise 200.
func (a *api) putRoutine(q *request) (answer, error) {
	if err := a.service.MayChange(q.principal); err != nil {
		return answer{}, err
	}
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	var condition routine.PutCondition
	if condition.Versions, err = expectedVersions(q.Header); err != nil {
		return answer{}, err
	}
	if given := q.Header.Values("If-None-Match"); len(given) > 0 {
		if strings.TrimSpace(strings.Join(given, ",")) != "*" {
			return answer{}, routine.Errorf(routine.CodeInvalid,
				"If-None-Match can only be * here: it creates the routine and never changes one. To change a known version, send If-Match")
		}
		condition.New = true
	}
	r, created, warnings, err := a.service.PutRoutine(q.Context(), q.principal, q.parameter("name"), text, condition)
	got, err := a.changed(q, r, warnings, err)
	if created {
		got.status, got.location = http.StatusCreated, a.base+"/routines/"+r.ID
	}
	return got, err
}
