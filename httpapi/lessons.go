package httpapi

import (
	"context"
	"encoding/json"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/lesson"
)

// Lessons opens and keeps the live pages on which callers make routines. The package
// rote/routine/lesson has the implementation and describes the methods.
type Lessons interface {
	Start(ctx context.Context, p routine.Principal, q lesson.StartRequest) (*lesson.Started, error)
	Import(ctx context.Context, p routine.Principal, q lesson.ImportRequest) (*lesson.Imported, error)
	List(p routine.Principal) ([]lesson.Info, error)
	Get(p routine.Principal, id string) (lesson.Info, error)
	Snapshot(ctx context.Context, p routine.Principal, id string, q lesson.SnapshotRequest) (*lesson.Snapshot, error)
	Screenshot(ctx context.Context, p routine.Principal, id string) (*routine.Screenshot, error)
	Try(ctx context.Context, p routine.Principal, id string, q lesson.TryRequest) (*lesson.Tried, error)
	Undo(ctx context.Context, p routine.Principal, id string, q lesson.UndoRequest) (*lesson.Undone, error)
	Requests(ctx context.Context, p routine.Principal, id string, q lesson.RequestsQuery) (*lesson.RequestList, error)
	Request(ctx context.Context, p routine.Principal, id string, number int) (*lesson.RequestOperation, error)
	Save(ctx context.Context, p routine.Principal, id string, q lesson.SaveRequest) (*lesson.Saved, error)
	End(ctx context.Context, p routine.Principal, id string) (lesson.Info, error)
}

// lessonRoutes returns the paths of lessons.
func (a *api) lessonRoutes() map[string]methodHandlers {
	return map[string]methodHandlers{
		"/lessons":                               {http.MethodGet: a.teaching(a.listLessons), http.MethodPost: a.teaching(a.startLesson)},
		"/lessons/{lesson_id}":                   {http.MethodGet: a.teaching(a.readLesson), http.MethodDelete: a.teaching(a.endLesson)},
		"/lessons/{lesson_id}/snapshot":          {http.MethodGet: a.teaching(a.readSnapshot)},
		"/lessons/{lesson_id}/screenshot.jpg":    {http.MethodGet: a.teaching(a.readLessonScreenshot)},
		"/lessons/{lesson_id}/requests":          {http.MethodGet: a.teaching(a.listRequests)},
		"/lessons/{lesson_id}/requests/{number}": {http.MethodGet: a.teaching(a.readRequest)},
		"/lessons/{lesson_id}/operations":        {http.MethodPost: a.teaching(a.tryOperations)},
		"/lessons/{lesson_id}/save":              {http.MethodPost: a.teaching(a.saveLesson)},
		"/lessons/{lesson_id}/undo":              {http.MethodPost: a.teaching(a.undoOperations)},
	}
}

// teaching returns a handler that refuses callers who may not teach before it reads
// their request. What the page or the browser could not do is no fault of the service,
// so such errors have the status 422.
func (a *api) teaching(h handler) handler {
	return a.authenticated(func(q *request) (response, error) {
		if err := a.service.MayTeach(q.principal); err != nil {
			return response{}, err
		}
		got, err := h(q)
		if code := routine.CodeOf(err); err != nil && code != routine.CodeInternal && statusOf(code) == http.StatusInternalServerError {
			err = &errorDetails{error: err, status: http.StatusUnprocessableEntity}
		}
		return got, err
	})
}

func (q *request) lessonID() string { return q.pathParameter("lesson_id") }

// decoded returns the optional field of a body whose value is decoded into a variable.
// what names the expected type, as in "a string".
func decoded[T any](name string, into *T, what string) jsonField {
	return jsonField{name: name, code: "type", message: name + " must be " + what, read: func(value jsonValue) bool {
		return value.Kind() != 'n' && json.Unmarshal(value.Value, into) == nil
	}}
}

// readFields reads a body that is an object of optional fields.
func (q *request) readFields(fields ...jsonField) error {
	text, err := q.readBody()
	if err != nil {
		return err
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return readJSONObject(text, "its fields are "+strings.Join(names, ", "), fields...)
}

func (a *api) startLesson(q *request) (response, error) {
	var s lesson.StartRequest
	err := q.readFields(decoded("url", &s.URL, "a string"), decoded("routine", &s.Routine, "a string: an id or the name of a tool"),
		decoded("execution", &s.Execution, "a string: the id of a failed run"), decoded("until", &s.Until, "a whole number"),
		decoded("values", &s.Values, "an object of name to value"), decoded("incognito", &s.Incognito, "true or false"),
		decoded("session", &s.Session, "a string: the name of a saved session"))
	if err != nil {
		return response{}, err
	}
	started, err := a.lessons.Start(q.Context(), q.principal, s)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusCreated, body: started, location: a.base + "/lessons/" + started.ID}, nil
}

// lessonList is all lessons that the caller may see. They are few, so there are no pages.
type lessonList struct {
	Items []lesson.Info `json:"items"`
	Total int           `json:"total"`
}

func (a *api) listLessons(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err == nil {
		err = query.err()
	}
	if err != nil {
		return response{}, err
	}
	list, err := a.lessons.List(q.principal)
	return response{status: http.StatusOK, body: lessonList{nonNil(list), len(list)}}, err
}

func (a *api) readLesson(q *request) (response, error) {
	info, err := a.lessons.Get(q.principal, q.lessonID())
	return response{status: http.StatusOK, body: info}, err
}

func (a *api) endLesson(q *request) (response, error) {
	info, err := a.lessons.End(q.Context(), q.principal, q.lessonID())
	return response{status: http.StatusOK, body: info}, err
}

func (a *api) readSnapshot(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	s := lesson.SnapshotRequest{Scope: query.text("scope"), Find: query.text("find"), Extract: query.text("extract"),
		MaxBytes: query.integer("max_bytes", 0, routine.MinLook, routine.MaxLook, "from 500 to 24000")}
	if err := query.err(); err != nil {
		return response{}, err
	}
	snapshot, err := a.lessons.Snapshot(q.Context(), q.principal, q.lessonID(), s)
	if err != nil {
		return response{}, err
	}
	return q.textOrJSON(snapshot.Text(), snapshot), nil
}

// textOrJSON returns v as JSON if the request accepts that rather than text, and else
// text, which says the same to a reader.
func (q *request) textOrJSON(text string, v any) response {
	q.w.Header().Set("Vary", "Accept")
	if prefersJSON(q.Header) {
		return response{status: http.StatusOK, body: v}
	}
	return response{status: http.StatusOK, body: document{"text/plain; charset=utf-8", []byte(text)}}
}

// prefersJSON reports whether the Accept headers name JSON, and do not name plain text
// before it.
func prefersJSON(h http.Header) bool {
	for _, line := range h.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			mediaType, parameters, err := mime.ParseMediaType(part)
			switch {
			case err != nil || parameters["q"] == "0":
			case mediaType == "application/json":
				return true
			case mediaType == "text/plain":
				return false
			}
		}
	}
	return false
}

func (a *api) readLessonScreenshot(q *request) (response, error) {
	s, err := a.lessons.Screenshot(q.Context(), q.principal, q.lessonID())
	if err != nil {
		return response{}, err
	}
	q.w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	return response{status: http.StatusOK, body: document{s.ContentType, s.Data}}, nil
}

func (a *api) tryOperations(q *request) (response, error) {
	var t lesson.TryRequest
	var one json.RawMessage
	single := decoded("operation", &one, `an object, as in {"type": "click", "selector": "#go"}`)
	err := q.readFields(single, decoded("operations", &t.Operations, "a list of operations"), decoded("values", &t.Values, "an object of name to value"),
		decoded("at", &t.At, "a whole number"), decoded("keep", &t.Keep, "true or false"))
	if err != nil {
		return response{}, err
	}
	if (one != nil) == (len(t.Operations) > 0) {
		return response{}, invalidRequest([]routine.Problem{{Code: "required", Message: "the body needs either the field operation or the field operations"}})
	}
	if one != nil {
		t.Operations = []json.RawMessage{one}
	}
	tried, err := a.lessons.Try(q.Context(), q.principal, q.lessonID(), t)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: tried}, nil
}

func (a *api) undoOperations(q *request) (response, error) {
	var u lesson.UndoRequest
	to := decoded("to", &u.To, "a whole number of operations")
	to.requiredHint = `it is how many operations to keep, as in {"to": 2}`
	if err := q.readFields(to, decoded("replay", &u.Replay, "true or false")); err != nil {
		return response{}, err
	}
	undone, err := a.lessons.Undo(q.Context(), q.principal, q.lessonID(), u)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: undone}, nil
}

func (a *api) listRequests(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	r := lesson.RequestsQuery{Find: query.text("find"), Since: query.integer("since", 0, 0, math.MaxInt32, "of at least 0")}
	if err := query.err(); err != nil {
		return response{}, err
	}
	list, err := a.lessons.Requests(q.Context(), q.principal, q.lessonID(), r)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: list}, nil
}

func (a *api) readRequest(q *request) (response, error) {
	number, err := strconv.Atoi(q.pathParameter("number"))
	if err != nil {
		return response{}, routine.Errorf(routine.CodeNotFound, "there is no such request: its number is in the list of requests")
	}
	one, err := a.lessons.Request(q.Context(), q.principal, q.lessonID(), number)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: one}, nil
}

func (a *api) saveLesson(q *request) (response, error) {
	s := lesson.SaveRequest{Via: routine.ViaREST}
	err := q.readFields(decoded("name", &s.Name, "a string"), decoded("description", &s.Description, "a string"),
		decoded("parameters", &s.Parameters, "a list of declarations"), decoded("prove", &s.Prove, "all, check_last or no"),
		decoded("other_values", &s.OtherValues, "an object of name to value"), decoded("expected_version", &s.ExpectedVersion, "a whole number"),
		decoded("dry_run", &s.DryRun, "true or false"))
	if err != nil {
		return response{}, err
	}
	saved, err := a.lessons.Save(q.Context(), q.principal, q.lessonID(), s)
	if err != nil {
		return response{}, &errorDetails{error: err, saved: saved}
	}
	return response{status: http.StatusOK, body: saved}, nil
}
