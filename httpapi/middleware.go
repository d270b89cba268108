package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"rote/routine"
)

// exchange is what a request's log line tells, beyond what the request says.
type exchange struct {
	id    string
	start time.Time
	code  routine.Code // of a problem; empty: none was answered
	cause error        // what the answer does not show
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// note keeps of an error what the log needs. Why an execution failed has been
// logged by the service.
func (x *exchange) note(p problem, err error) {
	x.code = p.Code
	if p.Status >= http.StatusInternalServerError && p.Execution == nil {
		x.cause = routine.AsError(err).Unwrap()
	}
}

var saneRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// begin gives the request its id and the answer the headers that all have, and
// writes the request's log line. The line holds nothing that a caller chose
// freely: no path, query, header or body.
func (a *api) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{id: r.Header.Get("X-Request-Id"), start: time.Now()}
		if !saneRequestID.MatchString(x.id) {
			x.id = uuid.Must(uuid.NewV7()).String()
		}
		h := w.Header()
		h.Set("X-Request-Id", x.id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		ctx := context.WithValue(r.Context(), exchangeKey{}, x)
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		answered := a.metrics.begin(r)
		defer func() { // also when the answer was broken off
			route := chi.RouteContext(ctx).RoutePattern()
			answered(route, ww.Status())
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
		}()
		next.ServeHTTP(ww, r.WithContext(ctx))
	})
}

// catchPanic answers a panic as an internal error. When part of an answer is out,
// the connection is cut, so that nobody takes it for whole.
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
			err := routine.Internal("handle request", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			if ww, ok := w.(middleware.WrapResponseWriter); ok && ww.Status() != 0 {
				exchangeOf(r.Context()).note(problemOf(err), err)
				panic(http.ErrAbortHandler)
			}
			fail(w, r, err)
		}()
		next.ServeHTTP(w, r)
	})
}
