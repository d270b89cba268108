package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/importer"
)

// importRoutes adds the pages on which recordings of other tools become routines.
func (x *console) importRoutes(r chi.Router) {
	r.Get("/routines/import", x.signedIn(importPage))
	r.Post("/routines/import", x.signedIn(importRecording))
}

// importView is what the page of imports shows.
type importView struct {
	// Source is the text of the recording, and Test the test or request of it that was asked for.
	Source, Test string
	// Tests are the tests of a recording with several, one of which has to be named.
	Tests []string
	// Error says why the recording cannot be imported.
	Error string
	// Imported is what it became; nil if there is none yet. Definition is its routine.
	Imported   *importer.Imported
	Definition string
	// CanTry reports whether the server has lessons, in one of which the routine can be tried.
	CanTry bool
}

// Notable are the steps that were not carried as they were.
func (v *importView) Notable() []importedStep {
	var all []importedStep
	for _, item := range v.Imported.Report.Items {
		if item.Message != "" {
			all = append(all, importedStep{item.Source.Line, item.Source.Text, item.What, item.Message, item.Code})
		}
	}
	return all
}

// importedStep is a step of a recording, and what became of it.
type importedStep struct {
	Line                      int
	Text, What, Message, Code string
}

func importPage(q *request) error { return q.showImport(http.StatusOK, &importView{}) }

func (q *request) showImport(status int, v *importView) error {
	return q.render(status, "import", page{Title: "Import", Section: "routines", Crumbs: []crumb{{"Routines", q.to("routines")}},
		Modules: []string{"import.js"}, Data: v})
}

// importRecording shows the routine that a recording becomes. It saves nothing.
func importRecording(q *request) error {
	v := &importView{}
	if err := q.readRecording(v); err != nil {
		return q.refuseImport(v, err)
	}
	r := importer.Request{Source: v.Source, Test: v.Test}
	imported, err := q.service.Import(q.Context(), q.principal, r)
	if err != nil {
		if tests, unread := importer.Tests(r); unread == nil && len(tests) > 1 {
			v.Tests = tests
		}
		return q.refuseImport(v, err)
	}
	v.Imported, v.Definition, v.CanTry = imported, layOut(imported.Routine), q.lessons != nil
	return q.showImport(http.StatusOK, v)
}

// refuseImport shows the page of imports with the reason why there is no routine.
func (q *request) refuseImport(v *importView, err error) error {
	e := routine.AsError(err)
	v.Error = e.Message
	if e.Code == routine.CodeTooLarge {
		v.Source = "" // the page would be as large
		v.Error = fmt.Sprintf("The recording is too large: here it may have %s. The command rote import reads HAR files of up to %s.",
			size(min(q.maxBody, importer.MaxSource)), size(importer.MaxRequests))
	}
	return q.showImport(q.refusedForm(err), v)
}

// readRecording reads the posted form: a file, or a text. CodeInvalid, CodeTooLarge.
func (q *request) readRecording(v *importView) error {
	if err := q.readForm(); err != nil {
		return err
	}
	v.Source, v.Test = q.PostForm.Get("source"), q.PostForm.Get("test")
	if q.MultipartForm != nil {
		defer func() { _ = q.MultipartForm.RemoveAll() }() // a file that stays is the system's to remove
		v.Source, v.Test = q.FormValue("source"), q.FormValue("test")
		for _, f := range q.MultipartForm.File["file"] {
			if f.Size == 0 {
				continue // no file was chosen
			}
			opened, err := f.Open()
			if err != nil {
				return fmt.Errorf("open the file of a form: %w", err)
			}
			text, err := io.ReadAll(opened)
			if err = errors.Join(err, opened.Close()); err != nil {
				return fmt.Errorf("read the file of a form: %w", err)
			}
			v.Source = string(text)
		}
	}
	if v.Source == "" {
		return routine.Errorf(routine.CodeInvalid, "Choose a file, or paste its text.")
	}
	return nil
}
