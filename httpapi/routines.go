package httpapi

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// withWarnings is a routine with the warnings about its definition.
type withWarnings struct {
	*routine.Routine
	Warnings []routine.Problem `json:"warnings"`
}

func (a *api) createRoutine(q *request) (response, error) {
	if err := a.service.MayCreate(q.principal); err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	once, err := idempotencyOf(q.Header, text)
	if err != nil {
		return response{}, err
	}
	r, warnings, err := a.service.CreateRoutine(q.Context(), q.principal, text, once)
	if err != nil {
		return response{}, &errorDetails{error: err, warnings: warnings}
	}
	setETag(q, r)
	return response{status: http.StatusCreated, body: a.changedRoutine(r, warnings), location: a.base + "/routines/" + r.ID}, nil
}

// validation is the response to a valid definition. An invalid one is answered
// with a problem whose valid is false.
type validation struct {
	Valid    bool                `json:"valid"`
	Routine  *routine.Definition `json:"routine"`
	Errors   []routine.Problem   `json:"errors"`
	Warnings []routine.Problem   `json:"warnings"`
}

func (a *api) validateRoutine(q *request) (response, error) {
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	d, warnings, err := a.service.Validate(q.Context(), q.principal, text)
	if err != nil {
		return response{}, &errorDetails{error: err, warnings: warnings, validation: true}
	}
	return response{status: http.StatusOK, body: validation{true, d, nonNil[routine.Problem](nil), nonNil(warnings)}}, nil
}

func (a *api) readRoutine(q *request) (response, error) {
	r, err := a.service.Routine(q.Context(), q.principal, q.routineID())
	if err != nil {
		return response{}, err
	}
	body, err := a.routineCache.response(r)
	if err != nil {
		return response{}, err
	}
	setETag(q, r)
	return response{status: http.StatusOK, body: body}, nil
}

func (a *api) listRoutines(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	f := routineFilter(query)
	if err := query.err(); err != nil {
		return response{}, err
	}
	rs, total, err := a.service.Routines(q.Context(), q.principal, f)
	if err != nil {
		return response{}, err
	}
	got := pageResponse(q, rs, total, f.Limit, f.Offset)
	if q.principal.Anonymous() {
		q.w.Header().Set("WWW-Authenticate", "Bearer") // RFC 9110, 11.6.1: credentials would change the response
		got.body = publicRoutines{got.body.(listPage[*routine.Routine]), true}
	}
	return got, nil
}

// publicRoutines is a list for a caller without a token. It says that the
// routines of organizations are not included.
type publicRoutines struct {
	listPage[*routine.Routine]
	PublicOnly bool `json:"public_only"`
}

// Limits of the search parameter q: every word is searched for in every
// routine.
const (
	maxSearchChars = 200
	maxSearchWords = 10
)

// routineFilter reads the filter parameters of a list of routines.
func routineFilter(query *query) routine.RoutineFilter {
	f := routine.RoutineFilter{Designated: query.boolean("mcp"), IsPublic: query.boolean("public"), Tag: query.text("tag")}
	f.Limit, f.Offset = query.limitAndOffset()
	switch status := query.oneOf("status", "draft", "active", "archived", "all"); status {
	case "":
	case "all":
		f.Statuses = []routine.Status{routine.StatusDraft, routine.StatusActive, routine.StatusArchived}
	default:
		f.Statuses = []routine.Status{routine.Status(status)}
	}
	search := query.text("q")
	f.Words = strings.Fields(search)
	if len(f.Words) > maxSearchWords || utf8.RuneCountInString(search) > maxSearchChars {
		query.addProblem("q", " must be at most %d words of %d characters together", maxSearchWords, maxSearchChars)
	}
	return f
}

// nonNil returns an empty list for nil, which JSON would show as null.
func nonNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
