package httpapi

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// withWarnings is a routine's own fields, with what is doubtful about it.
type withWarnings struct {
	*routine.Routine
	Warnings []routine.Problem `json:"warnings"`
}

func (a *api) createRoutine(q *request) (answer, error) {
	if err := a.service.MayCreate(q.principal); err != nil {
		return answer{}, err
	}
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	once, err := onceOf(q.Header, text)
	if err != nil {
		return answer{}, err
	}
	r, warnings, err := a.service.CreateRoutineOnce(q.Context(), q.principal, text, once)
	if err != nil {
		return answer{}, &failure{error: err, warnings: warnings}
	}
	tag(q, r)
	return answer{status: http.StatusCreated, body: a.changedRoutine(r, warnings), location: a.base + "/routines/" + r.ID}, nil
}

// validation is the answer to a definition that was accepted. One that was not
// is answered as a problem with valid false.
type validation struct {
	Valid    bool                `json:"valid"`
	Routine  *routine.Definition `json:"routine"`
	Errors   []routine.Problem   `json:"errors"`
	Warnings []routine.Problem   `json:"warnings"`
}

func (a *api) validateRoutine(q *request) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	d, warnings, err := a.service.Validate(q.Context(), q.principal, text)
	if err != nil {
		return answer{}, &failure{error: err, warnings: warnings, validation: true}
	}
	return answer{status: http.StatusOK, body: validation{true, d, orNone[routine.Problem](nil), orNone(warnings)}}, nil
}

func (a *api) readRoutine(q *request) (answer, error) {
	r, err := a.service.RoutineSince(q.Context(), q.principal, q.routineID(), exchangeOf(q.Context()).start)
	if err != nil {
		return answer{}, err
	}
	body, err := a.bodies.of(r)
	if err != nil {
		return answer{}, err
	}
	tag(q, r)
	return answer{status: http.StatusOK, body: body}, nil
}

func (a *api) listRoutines(q *request) (answer, error) {
	query, err := queryOf(q.URL)
	if err != nil {
		return answer{}, err
	}
	f := routineFilter(query)
	if err := query.err(); err != nil {
		return answer{}, err
	}
	rs, total, err := a.service.Routines(q.Context(), q.principal, f)
	if err != nil {
		return answer{}, err
	}
	got := answerPage(q, rs, total, f.Limit, f.Offset)
	if q.principal.Anonymous() {
		q.w.Header().Set("WWW-Authenticate", "Bearer") // RFC 9110, 11.6.1: credentials would change the answer
		got.body = publicRoutines{got.body.(page[*routine.Routine]), true}
	}
	return got, nil
}

// publicRoutines is a list for a caller without a token. It says that the
// routines of organizations are missing.
type publicRoutines struct {
	page[*routine.Routine]
	PublicOnly bool `json:"public_only"`
}

// maxSearch bounds q in characters, maxWords in words: each is looked for in
// every routine.
const (
	maxSearch = 200
	maxWords  = 10
)

// routineFilter reads which routines a list is asked for.
func routineFilter(query *query) routine.RoutineFilter {
	f := routine.RoutineFilter{Designated: query.flag("mcp"), IsPublic: query.flag("public"), Tag: query.text("tag")}
	f.Limit, f.Offset = query.page()
	switch status := query.oneOf("status", "draft", "active", "archived", "all"); status {
	case "":
	case "all":
		f.Statuses = []routine.Status{routine.StatusDraft, routine.StatusActive, routine.StatusArchived}
	default:
		f.Statuses = []routine.Status{routine.Status(status)}
	}
	search := query.text("q")
	f.Words = strings.Fields(search)
	if len(f.Words) > maxWords || utf8.RuneCountInString(search) > maxSearch {
		query.fault("q", " must be at most %d words of %d characters together", maxWords, maxSearch)
	}
	return f
}

// orNone makes no items a list without items: null would be neither.
func orNone[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
