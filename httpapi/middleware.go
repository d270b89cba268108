package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"rote/routine"
	"rote/routine/audit"
)

// requestInfo is what the log line of a request needs in addition to the
// request itself.
type requestInfo struct {
	id    string
	base  string // the path before those of the API
	start time.Time
	code  routine.Code // of the problem in the response, or empty
	cause error        // not shown in the response
	// caller is who made the request, as far as that is known.
	caller routine.Principal
}

type requestInfoKey struct{}

func requestInfoOf(ctx context.Context) *requestInfo {
	x, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	return x
}

// RecordProblem stores the code of an error that a handler of [Config].Console has shown, and
// its cause, for the log line of the request.
func RecordProblem(ctx context.Context, err error) {
	if x := requestInfoOf(ctx); x != nil {
		x.recordProblem(problemOf(err), err)
	}
}

// RecordCaller stores for the audit log who made a request that a handler of [Config].Console
// has authenticated.
func RecordCaller(ctx context.Context, p routine.Principal) {
	if x := requestInfoOf(ctx); x != nil {
		x.caller = p
	}
}

// recordProblem stores the code and the cause of an error for the log line. The
// service has already logged why an execution failed.
func (x *requestInfo) recordProblem(p problem, err error) {
	x.code = p.Code
	if p.Status >= http.StatusInternalServerError && p.Execution == nil {
		x.cause = routine.AsError(err).Unwrap()
	}
}

var validRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// startRequest sets the request id and the headers that all responses have, and
// logs the request when it ends. The log line contains no path, query, header
// or body, because callers choose those freely.
func (a *api) startRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &requestInfo{id: r.Header.Get("X-Request-Id"), base: a.base, start: time.Now()}
		if !validRequestID.MatchString(x.id) {
			x.id = uuid.Must(uuid.NewV7()).String()
		}
		h := w.Header()
		h.Set("X-Request-Id", x.id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		ctx, span := a.startSpan(context.WithValue(r.Context(), requestInfoKey{}, x), r, x.start)
		ctx = audit.WithRequest(ctx, audit.Request{Via: a.via(r), ID: x.id, Client: a.admission.ClientAddress(r)})
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		endRequest := a.metrics.startRequest(r)
		defer func() { // also after a panic
			route := chi.RouteContext(ctx).RoutePattern()
			endRequest(route, ww.Status())
			level := slog.LevelInfo
			attrs := []slog.Attr{slog.String("method", r.Method), slog.String("route", route),
				slog.Int("status", ww.Status()), slog.Float64("duration_seconds", time.Since(x.start).Seconds()), slog.String("request_id", x.id)}
			if x.code != "" {
				attrs = append(attrs, slog.String("code", string(x.code)))
			}
			if x.cause != nil {
				level = slog.LevelError
				attrs = append(attrs, slog.Any("error", x.cause))
			}
			a.log.LogAttrs(ctx, level, "request", attrs...)
			a.audit.RequestEnded(ctx, x.caller, x.code, slog.String("request", r.Method+" "+route))
			endSpan(span, r, route, ww.Status(), x.code)
		}()
		next.ServeHTTP(ww, r.WithContext(ctx))
	})
}

// via returns the front end of a request.
func (a *api) via(r *http.Request) routine.Via {
	if a.inConsole(r) {
		return routine.ViaConsole
	}
	return routine.ViaREST
}

// catchPanic answers a panic with an internal error. If part of the response
// has already been sent, it closes the connection, so that the client does not
// take the response for complete.
func catchPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			err := routine.Internal("handle request", routine.PanicError(p))
			if ww, ok := w.(middleware.WrapResponseWriter); ok && ww.Status() != 0 {
				requestInfoOf(r.Context()).recordProblem(problemOf(err), err)
				panic(http.ErrAbortHandler)
			}
			writeProblem(w, r, err)
		}()
		next.ServeHTTP(w, r)
	})
}
