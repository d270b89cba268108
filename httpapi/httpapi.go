// Package httpapi is the REST front end. It decodes requests, calls
// [service.Service] and encodes the results as JSON. It contains no rules about
// routines. Errors are returned as problem details (RFC 9457).
package httpapi

import (
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/service"
	"rote/routine/tracing"
)

// Config configures the front end. Service is required; the zero values of all
// other fields select defaults.
type Config struct {
	Service *service.Service
	Log     *slog.Logger
	// Audit gets the requests that are refused; nil: nothing is written.
	Audit *audit.Log
	// MaxBody limits the bytes of a request body (4 MiB).
	MaxBody int64
	// AllowedHosts are the accepted Host and Origin values in addition to loopback,
	// as name or name:port. * accepts all.
	AllowedHosts []string
	// Local, if set, is the principal of every caller, and tokens are ignored.
	Local *routine.Principal
	// BasePath is the prefix of all paths, as in /rote.
	BasePath string
	// RateLimit is the number of calls per minute for each token, and for each
	// address without a token. 0 means no limit.
	RateLimit int
	// TrustedProxies are the addresses of the reverse proxies whose X-Forwarded-For
	// header is trusted. If empty, the header is ignored.
	TrustedProxies []netip.Prefix
	// CORSOrigins are the origins, as in https://app.example, whose pages may use
	// the service from a browser. Without them, only pages of AllowedHosts can, as
	// far as browsers allow it without CORS.
	CORSOrigins []string
	// Admission is shared with the other front ends on the listener. If nil, it is
	// made from the values above.
	Admission *Admission
	// Lessons, if not nil, adds the paths of lessons.
	Lessons Lessons
	// Console, if not nil, serves the paths below BasePath/console. The front end checks the
	// host, logs and counts these requests as its own. CORSOrigins may not read them.
	Console http.Handler
	// Tracer traces the requests; nil: there are no traces.
	Tracer *tracing.Tracer
	// Metrics counts the requests. It is served at /metrics to callers with the
	// scope admin; [NewMetricsHandler] serves it without a token. If nil, there are
	// no metrics.
	Metrics *Metrics
}

const defaultMaxBody = 4 << 20

// api is the front end with all defaults filled in.
type api struct {
	service      *service.Service
	lessons      Lessons // nil without its paths
	log          *slog.Logger
	audit        *audit.Log
	maxBody      int64
	base         string
	admission    *Admission
	routineCache routineCache
	metrics      *Metrics
	tracer       *tracing.Tracer
}

// NewHandler returns the handler of all paths of the front end. It also answers
// unknown paths, so other handlers must be mounted outside of it.
func NewHandler(c Config) http.Handler {
	a := newAPI(c)
	return a.router(c, a.routes(), a.notFound)
}

// NewWorkerHandler returns the handler of a process without front ends: its health, its
// readiness and its metrics, which need no token.
func NewWorkerHandler(c Config) http.Handler {
	a := newAPI(c)
	return a.router(c, map[string]methodHandlers{
		"/healthz": {http.MethodGet: a.health},
		"/readyz":  {http.MethodGet: a.ready},
		"/metrics": {http.MethodGet: a.readOpenMetrics},
	}, func(*request) (response, error) {
		return response{}, routine.Errorf(routine.CodeNotFound, "there is nothing at this path: a worker has /healthz, /readyz and /metrics")
	})
}

// newAPI fills in the defaults.
func newAPI(c Config) *api {
	a := &api{service: c.Service, lessons: c.Lessons, log: c.Log, audit: c.Audit, maxBody: c.MaxBody, admission: c.Admission, metrics: c.Metrics,
		tracer: c.Tracer, routineCache: newRoutineCache()}
	if a.admission == nil {
		a.admission = NewAdmission(c)
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.maxBody <= 0 {
		a.maxBody = defaultMaxBody
	}
	if base := strings.Trim(c.BasePath, "/"); base != "" {
		a.base = "/" + base
	}
	if a.metrics != nil {
		a.metrics.registry.MustRegister(serviceCollector{a.service})
	}
	return a
}

// router returns the handler of some paths.
func (a *api) router(c Config, routes map[string]methodHandlers, notFound handler) http.Handler {
	r := chi.NewRouter()
	r.Use(a.startRequest, catchPanic, a.requireAllowedHost)
	if c.Console != nil {
		r.Use(a.serveConsole(c.Console)) // before CORS
	}
	if len(c.CORSOrigins) > 0 {
		r.Use(corsHandler(c.CORSOrigins))
	}
	r.Use(ignoreMethod)
	r.NotFound(a.handle(notFound))
	for pattern, m := range routes {
		r.Get(a.base+pattern, a.handle(m.dispatch))
		if !strings.HasSuffix(pattern, "*") {
			r.Get(a.base+pattern+"/", a.handle(m.dispatch))
		}
	}
	return r
}

// serveConsole returns middleware that passes the paths of the console to its handler. A
// browser that asks for the address of the service itself is led to the console.
func (a *api) serveConsole(console http.Handler) func(http.Handler) http.Handler {
	path := a.base + "/console"
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case a.inConsole(r):
				console.ServeHTTP(w, r)
			case strings.TrimSuffix(r.URL.Path, "/") == a.base && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
				http.Redirect(w, r, path+"/", http.StatusSeeOther)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

// inConsole reports whether a request is for a path of the console.
func (a *api) inConsole(r *http.Request) bool {
	path := a.base + "/console"
	return r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/")
}

// routes returns all paths. Each is served with and without a trailing slash.
func (a *api) routes() map[string]methodHandlers {
	all := map[string]methodHandlers{
		"/routines":                       {http.MethodGet: a.authenticated(a.listRoutines), http.MethodPost: a.authenticated(a.createRoutine)},
		"/routines/validate_routine_json": {http.MethodPost: a.authenticated(a.validateRoutine)},
		"/routines/import":                {http.MethodPost: a.teaching(a.importRoutine)},
		"/routines/{routine_id}": {http.MethodGet: a.authenticated(a.readRoutine), http.MethodPatch: a.authenticated(a.patchRoutine),
			http.MethodDelete: a.authenticated(a.archiveRoutine)},
		"/routines/by-name/{name}":                  {http.MethodGet: a.authenticated(a.readNamedRoutine), http.MethodPut: a.authenticated(a.putRoutine)},
		"/routines/{routine_id}/openapi.json":       {http.MethodGet: a.authenticated(a.routineOpenAPI)},
		"/routines/{routine_id}/export":             {http.MethodGet: a.authenticated(a.exportRoutine)},
		"/routines/{routine_id}/versions":           {http.MethodGet: a.authenticated(a.listVersions)},
		"/routines/{routine_id}/versions/{version}": {http.MethodGet: a.authenticated(a.readVersion)},
		"/routines/{routine_id}/restore":            {http.MethodPost: a.authenticated(a.restoreRoutine)},
		"/routines/{routine_id}/execute":            {http.MethodPost: a.authenticated(a.executeRoutine)},

		"/routines/{routine_id}/executions":       {http.MethodGet: a.authenticated(a.listRoutineExecutions)},
		"/executions":                             {http.MethodGet: a.authenticated(a.listExecutions), http.MethodPost: a.authenticated(a.executeUnsaved)},
		"/executions/{execution_id}":              {http.MethodGet: a.authenticated(a.readExecution)},
		"/executions/{execution_id}/cancel":       {http.MethodPost: a.authenticated(a.cancelExecution)},
		"/executions/{execution_id}/events":       {http.MethodGet: a.authenticated(a.executionEvents)},
		"/executions/{execution_id}/files/{name}": {http.MethodGet: a.authenticated(a.readExecutionFile)},

		"/schedules": {http.MethodGet: a.authenticated(a.listSchedules), http.MethodPost: a.authenticated(a.createSchedule)},
		"/schedules/{schedule_id}": {http.MethodGet: a.authenticated(a.readSchedule), http.MethodPatch: a.authenticated(a.patchSchedule),
			http.MethodDelete: a.authenticated(a.deleteSchedule)},

		"/secrets": {http.MethodGet: a.authenticated(a.listSecrets)},
		"/secrets/{name}": {http.MethodGet: a.authenticated(a.readSecret), http.MethodPut: a.authenticated(a.saveSecret),
			http.MethodDelete: a.authenticated(a.deleteSecret)},
		"/secrets/{name}/codes": {http.MethodPost: a.authenticated(a.giveCode)},
		"/secrets/{name}/uses":  {http.MethodGet: a.authenticated(a.listSecretUses)},

		"/sessions": {http.MethodGet: a.authenticated(a.listSessions)},
		"/sessions/{name}": {http.MethodGet: a.authenticated(a.readSession), http.MethodPut: a.authenticated(a.saveSession),
			http.MethodDelete: a.authenticated(a.deleteSession)},
		"/sessions/{name}/state": {http.MethodPut: a.authenticated(a.importSession), http.MethodDelete: a.authenticated(a.clearSession)},
		"/sessions/{name}/login": {http.MethodPost: a.authenticated(a.loginSession)},
		"/sessions/{name}/uses":  {http.MethodGet: a.authenticated(a.listSessionUses)},

		"/healthz":      {http.MethodGet: a.health},
		"/readyz":       {http.MethodGet: a.ready},
		"/schemas/*":    {http.MethodGet: a.schema},
		"/openapi.yaml": {http.MethodGet: a.openAPI},
		"/docs":         {http.MethodGet: a.docsIndex},
		"/docs/*":       {http.MethodGet: a.docsPage},
		"/docs/api":     {http.MethodGet: a.reference},
		"/docs/api/*":   {http.MethodGet: a.referenceFile},
	}
	if a.metrics != nil {
		all["/metrics"] = methodHandlers{http.MethodGet: a.authenticated(a.readMetrics)}
	}
	if a.lessons != nil {
		maps.Copy(all, a.lessonRoutes())
	}
	return all
}

// methodHandlers are the handlers of one path by method. HEAD is accepted where
// GET is, OPTIONS everywhere.
type methodHandlers map[string]handler

// dispatch calls the handler of the request's method.
func (m methodHandlers) dispatch(q *request) (response, error) {
	method := q.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h, ok := m[method]; ok {
		return h(q)
	}
	allowed := slices.Sorted(maps.Keys(m))
	if m[http.MethodGet] != nil {
		allowed = slices.Insert(allowed, slices.Index(allowed, http.MethodGet)+1, http.MethodHead)
	}
	allow := strings.Join(append(allowed, http.MethodOptions), ", ")
	q.w.Header().Set("Allow", allow)
	if q.Method == http.MethodOptions {
		return m.options(q)
	}
	return response{}, routine.Errorf(codeMethodNotAllowed, "this path answers to %s only", allow)
}

// options answers OPTIONS. The Allow header has been set.
func (m methodHandlers) options(q *request) (response, error) {
	if m[http.MethodPatch] != nil {
		types := patchTypes
		if strings.Contains(q.URL.Path, "/schedules/") {
			types = mergePatchTypes
		}
		q.w.Header().Set("Accept-Patch", types)
	}
	return response{status: http.StatusNoContent}, nil
}

func (a *api) notFound(*request) (response, error) {
	return response{}, routine.Errorf(routine.CodeNotFound, "there is nothing at this path: %s/docs describes what there is", a.base)
}

// ignoreMethod makes chi route by path alone. [methodHandlers.dispatch] chooses
// by method, so that an unsupported method gets the same error on every path.
func ignoreMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		next.ServeHTTP(w, r)
	})
}
