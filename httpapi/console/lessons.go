package console

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"rote/httpapi"
	"rote/routine"
	"rote/routine/lesson"
)

// Lessons are those of the REST front end, and what a person who sees the picture of their page
// needs besides. The package rote/routine/lesson has the implementation and describes the methods.
type Lessons interface {
	httpapi.Lessons
	Resolve(ctx context.Context, p routine.Principal, q lesson.ResolveRequest) (*lesson.Resolved, error)
	ElementAt(ctx context.Context, p routine.Principal, id string, x, y float64) (*routine.ElementDescription, error)
}

// lessonRoutes adds the pages on which people make and mend routines on a live page.
func (x *console) lessonRoutes(r chi.Router) {
	r.Get("/lessons", x.signedIn(lessonsPage))
	r.Post("/lessons", x.teaching(startLesson))
	r.Post("/lessons/resolve", x.teaching(resolveRoutine))
	r.Get("/lessons/{lesson_id}", x.teaching(lessonPage))
	r.Post("/lessons/{lesson_id}/try", x.teaching(tryOperations))
	r.Post("/lessons/{lesson_id}/undo", x.teaching(undoOperations))
	r.Post("/lessons/{lesson_id}/save", x.teaching(saveLesson))
	r.Post("/lessons/{lesson_id}/end", x.teaching(endLesson))
}

// errNoLessons is the error of a server without lessons.
var errNoLessons = routine.Errorf(routine.CodeNotFound, "this server has no lessons: start it with --lessons 2, and without --read-only")

// teaching returns the handler of a path for people who may teach.
func (x *console) teaching(h handler) http.HandlerFunc {
	return x.signedIn(func(q *request) error {
		if x.lessons == nil {
			return errNoLessons
		}
		if err := x.service.MayTeach(q.principal); err != nil {
			return err
		}
		return h(q)
	})
}

// lessonsData is what the list of lessons shows.
type lessonsData struct {
	Lessons []lesson.Info
	// Withheld says why the person can start none; empty: he can.
	Withheld string
	Form     lesson.StartRequest
	Error    string
}

func lessonsPage(q *request) error {
	query := q.URL.Query()
	return q.showLessons(http.StatusOK, lesson.StartRequest{URL: query.Get("url"), Routine: query.Get("routine"), Execution: query.Get("execution")}, "")
}

// showLessons shows the list with the form of a new lesson.
func (q *request) showLessons(status int, form lesson.StartRequest, fault string) error {
	d := lessonsData{Form: form, Error: fault}
	err := q.service.MayTeach(q.principal)
	if q.lessons == nil {
		err = errNoLessons
	}
	if err != nil {
		d.Withheld = routine.AsError(err).Message
	} else if d.Lessons, err = q.lessons.List(q.principal); err != nil {
		return err
	}
	return q.render(status, "lessons", page{Title: "Teach", Section: "lessons", Data: d})
}

// startLesson opens a lesson on a URL, or on a routine that is to be mended, and shows it.
func startLesson(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	form := lesson.StartRequest{URL: q.PostForm.Get("url"), Routine: q.PostForm.Get("routine"), Execution: q.PostForm.Get("execution"),
		Session: q.PostForm.Get("session")}
	started, err := q.lessons.Start(q.Context(), q.principal, form)
	if err != nil {
		return q.showLessons(q.refusedLesson(err), form, routine.AsError(err).Headline())
	}
	v := &lessonView{Info: started.Info, Steps: started.Done, Failure: started.Failure, Candidates: started.Candidates}
	v.noteStart(started.SessionWarning, started.Ended)
	return q.showLesson(http.StatusCreated, v)
}

// noteStart says that nobody is logged in, and that another lesson was ended for this one. Either may be empty.
func (v *lessonView) noteStart(sessionWarning, ended string) {
	if sessionWarning != "" {
		v.Notices = append(v.Notices, sessionWarning)
	}
	if ended != "" {
		v.Notices = append(v.Notices, "The saved lesson "+shortID(ended)+" was ended to make room.")
	}
}

// refusedLesson records why a form was refused, and returns the status of its page. What the
// page of a lesson or the browser could not do is no fault of the service.
func (q *request) refusedLesson(err error) int {
	status := q.refusedForm(err)
	if status == http.StatusInternalServerError && routine.CodeOf(err) != routine.CodeInternal {
		return http.StatusUnprocessableEntity
	}
	return status
}

func endLesson(q *request) error {
	if _, err := q.lessons.End(q.Context(), q.principal, q.pathParameter("lesson_id")); err != nil {
		return err
	}
	return q.redirect("lessons")
}
