package console

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"rote/httpapi"
	"rote/routine"
)

// request is an HTTP request with what the console knows about it.
type request struct {
	*http.Request
	*console
	w           http.ResponseWriter
	principal   routine.Principal // the zero value on pages that need no sign-in
	preferences preferences
}

// handler answers one request. It has written a response if it returns nil; it has written
// none if it returns an error, which is then shown as a page.
type handler func(q *request) error

// open returns the handler of a path for everybody.
func (x *console) open(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, x.maxBody)
		q := &request{Request: r, console: x, w: w, preferences: readPreferences(r)}
		if err := h(q); err != nil {
			q.fail(err)
		}
	}
}

// signedIn returns the handler of a path for people who are signed in. Others get the
// sign-in page, which leads back to the path.
func (x *console) signedIn(h handler) http.HandlerFunc {
	return x.open(func(q *request) (err error) {
		if q.principal, err = q.signedInPrincipal(); err != nil {
			return err
		}
		httpapi.RecordCaller(q.Context(), q.principal)
		if err := x.admission.Count(q.w, q.Request, q.principal); err != nil {
			return err
		}
		done, err := x.admission.StartRequest(q.Request, q.principal)
		if err != nil {
			return err
		}
		defer done()
		return h(q)
	})
}

// fail shows an error as a page. Somebody who is not signed in gets the sign-in page.
func (q *request) fail(err error) {
	httpapi.RecordProblem(q.Context(), err)
	status := q.admission.Refuse(q.w.Header(), err)
	e := routine.AsError(err)
	p := page{Title: http.StatusText(status), Data: problemData{Error: e, Status: status, RequestID: q.w.Header().Get("X-Request-Id")}}
	name := "problem"
	if e.Code == routine.CodeUnauthenticated && q.local == nil {
		p, name = q.signInAgain(e), "login"
	}
	if broken := q.render(status, name, p); broken != nil {
		q.log.ErrorContext(q.Context(), "render problem", "error", broken)
		http.Error(q.w, e.Message, status)
	}
}

// problemData is what the page of an error shows.
type problemData struct {
	*routine.Error
	Status    int
	RequestID string
}

func notFound(*request) error {
	return routine.Errorf(routine.CodeNotFound, "the console has no page at this address: choose one in the navigation")
}

func methodNotAllowed(q *request) error {
	return routine.Errorf(routine.CodeNotFound, "this address cannot be called with %s", q.Method)
}

// page is what all pages have in common, and the data of one.
type page struct {
	Title string
	// Section is the entry of the navigation that is current: routines, executions, …
	Section string
	Crumbs  []crumb
	// Modules are the names of the scripts that the page needs besides console.js.
	Modules []string
	// Refresh, if not 0, is after how many seconds a browser without JavaScript loads the
	// page again.
	Refresh int
	Data    any
}

// crumb is a link to a page above this one.
type crumb struct{ Text, Href string }

// pageData is what templates get: a page and what the request says.
type pageData struct {
	page
	Preferences preferences
	Principal   routine.Principal
	// SignOut reports whether the person can sign out.
	SignOut bool
	// Here is the path and query of the page.
	Here string
}

// render writes a page. Nothing is written if the template fails.
func (q *request) render(status int, name string, p page) error {
	var text bytes.Buffer
	t, known := q.pages[name]
	if !known {
		return routine.Internal("render page", fmt.Errorf("there is no template %s", name))
	}
	data := pageData{page: p, Preferences: q.preferences, Principal: q.principal, Here: q.URL.RequestURI(),
		SignOut: q.local == nil && !q.principal.Anonymous()}
	if err := t.ExecuteTemplate(&text, "layout", data); err != nil {
		return routine.Internal("render "+name, err)
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(text.Bytes()) // only the connection can fail here
	return nil
}

// to returns the path of a page of the console, whose segments it escapes.
func (x *console) to(segments ...string) string {
	path := x.base
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}

// redirect answers a form with the page to which it leads.
func (q *request) redirect(segments ...string) error {
	http.Redirect(q.w, q.Request, q.to(segments...), http.StatusSeeOther)
	return nil
}

// redirectTo answers with a path of the console and a query.
func (q *request) redirectTo(query url.Values, segments ...string) error {
	http.Redirect(q.w, q.Request, q.to(segments...)+"?"+query.Encode(), http.StatusSeeOther)
	return nil
}

// pathParameter returns a parameter of the path, percent-decoded.
func (q *request) pathParameter(name string) string { return httpapi.PathParameter(q.Request, name) }

// readForm reads the posted form. CodeInvalid, CodeTooLarge.
func (q *request) readForm() error {
	err := q.ParseForm()
	if err == nil && strings.HasPrefix(q.Header.Get("Content-Type"), "multipart/form-data") {
		err = q.ParseMultipartForm(q.maxBody)
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return routine.Errorf(routine.CodeTooLarge, "the form has more than %d bytes: shorten it", large.Limit)
	case err != nil:
		return routine.Errorf(routine.CodeInvalid, "the form cannot be read: %v", err)
	}
	return nil
}

// localPath returns a path of the console that a form or a query names, and the start page
// if it names anything else: a link of another site must not lead elsewhere.
func (x *console) localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, x.base+"/") || strings.Contains(u.Path, "..") ||
		strings.ContainsAny(path, "\\\r\n") {
		return x.base + "/"
	}
	return path
}
