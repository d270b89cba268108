// Package httpapi is the REST front end: it turns requests into calls of
// [routine.Service] and what comes back into JSON. It holds no rule about
// routines. Errors are answered as problem details (RFC 9457).
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
)

// Config is what the front end is made of. Service is needed; the zero value of
// the rest means the default.
type Config struct {
	Service *routine.Service
	Log     *slog.Logger
	// MaxBody bounds the bytes of a request's body (4 MiB).
	MaxBody int64
	// AllowedHosts are the Host and Origin values accepted beyond loopback, as
	// name or name:port. * accepts any.
	AllowedHosts []string
	// Local, when set, is every caller: tokens are not looked at.
	Local *routine.Principal
	// BasePath begins every path, as in /rote; empty: none.
	BasePath string
	// RateLimit is how many calls a minute each token may make, and each
	// address without one; 0: any number.
	RateLimit int
	// TrustedProxies are the addresses of reverse proxies whose X-Forwarded-For
	// header tells the address of a caller; none: the header is ignored.
	TrustedProxies []netip.Prefix
	// CORSOrigins are the origins, as in https://app.example, whose pages may
	// use the service from a browser; none: only pages of AllowedHosts, as far
	// as browsers let them without CORS.
	CORSOrigins []string
	// Door, when set, is one that other front ends on the listener share; else
	// there is one of the values above.
	Door *Door
	// Metrics counts the requests and is read at /metrics by callers with the
	// scope admin; nil: neither. [NewMetricsHandler] serves it without a token.
	Metrics *Metrics
}

const defaultMaxBody = 4 << 20

// api is the front end with its configuration completed.
type api struct {
	service *routine.Service
	log     *slog.Logger
	maxBody int64
	base    string
	door    *Door
	bodies  bodies
	metrics *Metrics
}

// NewHandler makes the handler of all paths of the front end. It answers every
// request itself, so what shares a listener with it is mounted beside it.
func NewHandler(c Config) http.Handler {
	a := &api{service: c.Service, log: c.Log, maxBody: c.MaxBody, door: c.Door, metrics: c.Metrics}
	if a.door == nil {
		a.door = NewDoor(c)
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
		a.metrics.registry.MustRegister(load{a.service})
	}
	r := chi.NewRouter()
	r.Use(a.begin, catchPanic, a.checkHost)
	if len(c.CORSOrigins) > 0 {
		r.Use(allowOrigins(c.CORSOrigins))
	}
	r.Use(routeByPath)
	r.NotFound(a.serve(a.noSuchPath))
	for pattern, m := range a.routes() {
		r.Get(a.base+pattern, a.serve(m.choose))
		if !strings.HasSuffix(pattern, "*") {
			r.Get(a.base+pattern+"/", a.serve(m.choose))
		}
	}
	return r
}

// routes is the table of all paths; each is there with and without a slash at
// its end.
func (a *api) routes() map[string]methods {
	all := map[string]methods{
		"/routines":                       {http.MethodGet: a.asCaller(a.listRoutines), http.MethodPost: a.asCaller(a.createRoutine)},
		"/routines/validate_routine_json": {http.MethodPost: a.asCaller(a.validateRoutine)},
		"/routines/{routine_id}": {http.MethodGet: a.asCaller(a.readRoutine), http.MethodPatch: a.asCaller(a.patchRoutine),
			http.MethodDelete: a.asCaller(a.archiveRoutine)},
		"/routines/by-name/{name}":                  {http.MethodGet: a.asCaller(a.readNamedRoutine), http.MethodPut: a.asCaller(a.putRoutine)},
		"/routines/{routine_id}/openapi.json":       {http.MethodGet: a.asCaller(a.describeRoutine)},
		"/routines/{routine_id}/versions":           {http.MethodGet: a.asCaller(a.listVersions)},
		"/routines/{routine_id}/versions/{version}": {http.MethodGet: a.asCaller(a.readVersion)},
		"/routines/{routine_id}/restore":            {http.MethodPost: a.asCaller(a.restoreRoutine)},
		"/routines/{routine_id}/execute":            {http.MethodPost: a.asCaller(a.executeRoutine)},

		"/routines/{routine_id}/executions":       {http.MethodGet: a.asCaller(a.listRoutineExecutions)},
		"/executions":                             {http.MethodGet: a.asCaller(a.listExecutions)},
		"/executions/{execution_id}":              {http.MethodGet: a.asCaller(a.readExecution)},
		"/executions/{execution_id}/cancel":       {http.MethodPost: a.asCaller(a.cancelExecution)},
		"/executions/{execution_id}/events":       {http.MethodGet: a.asCaller(a.executionEvents)},
		"/executions/{execution_id}/files/{name}": {http.MethodGet: a.asCaller(a.readExecutionFile)},

		"/healthz":      {http.MethodGet: a.health},
		"/readyz":       {http.MethodGet: a.ready},
		"/schemas/*":    {http.MethodGet: a.schema},
		"/openapi.yaml": {http.MethodGet: a.openAPI},
		"/docs":         {http.MethodGet: a.docs},
		"/docs/*":       {http.MethodGet: a.docsFile},
	}
	if a.metrics != nil {
		all["/metrics"] = methods{http.MethodGet: a.asCaller(a.readMetrics)}
	}
	return all
}

// methods are the handlers of one path. HEAD works where GET does, OPTIONS
// everywhere.
type methods map[string]handler

// choose does the request with its method's handler.
func (m methods) choose(q *request) (answer, error) {
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
	return answer{}, routine.Errorf(codeMethodNotAllowed, "this path answers to %s only", allow)
}

// options says what can be sent here; which methods, Allow says already.
func (m methods) options(q *request) (answer, error) {
	if m[http.MethodPatch] != nil {
		q.w.Header().Set("Accept-Patch", mergePatches)
	}
	return answer{status: http.StatusNoContent}, nil
}

func (a *api) noSuchPath(*request) (answer, error) {
	return answer{}, routine.Errorf(routine.CodeNotFound, "there is nothing at this path: %s/docs describes what there is", a.base)
}

// routeByPath makes chi choose by path alone, whatever the method: a path's
// methods are a matter of its table, so that one it does not know is refused
// alike on every path.
func routeByPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		next.ServeHTTP(w, r)
	})
}
