// Package console is the web console: pages on which people see, try, write and mend
// routines in a browser. The server renders the pages with html/template; a few small
// ECMAScript modules add what a page cannot do by itself. A page works without
// JavaScript unless its handler says otherwise.
//
// The console has no rules about routines: it calls [service.Service], as the REST front
// end does. Texts of other people, such as names, messages of pages and their addresses,
// are shown as text and never as links or markup.
package console

import (
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"rote/httpapi"
	"rote/routine"
	"rote/routine/service"
)

// Config configures the console. Service and Admission are required.
type Config struct {
	Service *service.Service
	// Admission is shared with the REST front end, whose handler serves the console: see
	// [httpapi.Config].Console. It has checked the Host header and the origin of each request.
	Admission *httpapi.Admission
	Log       *slog.Logger
	// Local, if set, is the principal of every caller, and there is no sign-in.
	Local *routine.Principal
	// Lessons are those that REST and MCP use too; nil: there are none.
	Lessons Lessons
	// BasePath is the prefix of all paths of the service, as in /rote. The console is at
	// /console below it.
	BasePath string
	// Examples are routines that the page of an empty store offers; nil: none.
	Examples []Example
	// MaxBody limits the bytes of a posted form (4 MiB).
	MaxBody int64
	// About returns what the page of the health says about the service; nil: nothing. It is
	// for administrators.
	About func() []Fact
}

// console is the front end with all defaults filled in.
type console struct {
	service     *service.Service
	admission   *httpapi.Admission
	log         *slog.Logger
	local       *routine.Principal
	base        string // with /console
	maxBody     int64
	examples    []Example
	about       func() []Fact
	lessons     Lessons
	assets      *assets
	pages       map[string]*template.Template
	crossOrigin *http.CrossOriginProtection
}

const defaultMaxBody = 4 << 20

// New returns the handler of all paths below BasePath/console.
func New(c Config) http.Handler {
	x := &console{service: c.Service, admission: c.Admission, log: c.Log, local: c.Local, maxBody: c.MaxBody, examples: c.Examples,
		about: c.About, lessons: c.Lessons, crossOrigin: http.NewCrossOriginProtection()}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	if x.maxBody <= 0 {
		x.maxBody = defaultMaxBody
	}
	if base := strings.Trim(c.BasePath, "/"); base != "" {
		x.base = "/" + base
	}
	x.base += "/console"
	x.assets = newAssets()
	x.pages = x.parseTemplates()
	return x.router()
}

// router returns the handler of all paths. A path that needs no sign-in says so by its
// handler: open instead of signedIn.
func (x *console) router() http.Handler {
	r := chi.NewRouter()
	r.Use(x.secureHeaders, x.refuseOtherSites, middleware.Compress(5, "text/html"))
	r.NotFound(x.signedIn(notFound))
	r.MethodNotAllowed(x.signedIn(methodNotAllowed))
	r.Route(x.base, func(r chi.Router) {
		r.Get("/", x.signedIn(func(q *request) error { return q.redirect("routines") }))
		r.Get("/assets/{hash}/*", x.assets.serve)
		r.Get("/login", x.open(signInPage))
		r.Post("/login", x.open(signIn))
		r.Post("/logout", x.open(signOut))
		r.Post("/preferences", x.open(savePreferences))
		x.executionRoutes(r)
		x.routineRoutes(r)
		x.editorRoutes(r)
		x.importRoutes(r)
		x.lessonRoutes(r)
		x.scheduleRoutes(r)
		x.sessionRoutes(r)
		x.secretRoutes(r)
		x.tokenRoutes(r)
		x.healthRoutes(r)
	})
	return r
}
