package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/tracing"
)

// unwatched are the paths that programs ask for again and again, which would fill the traces.
var unwatched = []string{"/healthz", "/readyz", "/metrics"}

// startSpan starts the span of a request below the one that its traceparent names.
func (a *api) startSpan(ctx context.Context, r *http.Request, since time.Time) (context.Context, *tracing.Span) {
	for _, path := range unwatched {
		if r.URL.Path == a.base+path {
			return ctx, nil
		}
	}
	parent := tracing.Parent{Traceparent: r.Header.Get("traceparent"), Tracestate: r.Header.Get("tracestate")}
	return a.tracer.Start(a.tracer.Below(ctx, parent), tracing.Server, "HTTP", since)
}

// endSpan ends the span of a request with the names of the conventions of OpenTelemetry for HTTP.
// It has the pattern of the route and not the path, which callers choose.
func endSpan(span *tracing.Span, r *http.Request, route string, status int, code routine.Code) {
	method := knownMethod(r.Method)
	span.SetName(strings.TrimSpace(method + " " + route))
	if method == "other" {
		method = "_OTHER"
	}
	span.Set("http.request.method", method)
	span.Set("http.route", route)
	span.SetInt("http.response.status_code", status)
	if status < http.StatusInternalServerError {
		span.Set("rote.code", string(code)) // the caller's error, not the server's
		span.End("")
		return
	}
	span.End(cmp.Or(string(code), strconv.Itoa(status)))
}
