// Package tracing makes the spans of OpenTelemetry. It alone knows the API of OpenTelemetry, and
// it does not know the SDK, which cmd/rote sets up if its environment asks for traces. Without
// it, nothing here costs more than to look for a span in a context.
//
// A span has names, numbers and codes: no values of parameters, no secrets, no texts of pages.
package tracing

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of what makes the spans.
const scope = "rote"

// Tracer starts the first span of what this process does for a caller. A nil Tracer starts none.
type Tracer struct {
	tracer     trace.Tracer
	propagator Propagator
}

// NewTracer returns the Tracer whose spans p records.
func NewTracer(p trace.TracerProvider, g Propagator) *Tracer { return &Tracer{p.Tracer(scope), g} }

// Kind says what a span is to its parent.
type Kind = trace.SpanKind

const (
	// Server is the span of a request that came from another process.
	Server = trace.SpanKindServer
	// Client is the span of a call to another process.
	Client = trace.SpanKindClient
	// Internal is the span of work of this process.
	Internal = trace.SpanKindInternal
)

// Start starts a span below the one of ctx or, if ctx has none, a new trace.
func (t *Tracer) Start(ctx context.Context, kind Kind, name string, since time.Time) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return start(ctx, t.tracer, kind, name, since)
}

// Start starts a span below the one of ctx. If ctx has none, it returns ctx and nil.
func Start(ctx context.Context, kind Kind, name string) (context.Context, *Span) {
	return StartAt(ctx, kind, name, time.Time{})
}

// Active reports whether Start would start a span.
func Active(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// StartAt is Start for what has started before; the zero time is now.
func StartAt(ctx context.Context, kind Kind, name string, since time.Time) (context.Context, *Span) {
	if !Active(ctx) {
		return ctx, nil
	}
	return start(ctx, trace.SpanFromContext(ctx).TracerProvider().Tracer(scope), kind, name, since)
}

func start(ctx context.Context, t trace.Tracer, kind Kind, name string, since time.Time) (context.Context, *Span) {
	options := []trace.SpanStartOption{trace.WithSpanKind(kind)}
	if !since.IsZero() {
		options = append(options, trace.WithTimestamp(since))
	}
	ctx, span := t.Start(ctx, name, options...)
	return ctx, &Span{span}
}

// Span is one piece of work. The methods of a nil Span do nothing.
type Span struct{ span trace.Span }

// SetName replaces the name of the span.
func (s *Span) SetName(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Set sets an attribute, unless the value is empty.
func (s *Span) Set(key, value string) {
	if s != nil && value != "" {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// SetInt sets an attribute that is a number.
func (s *Span) SetInt(key string, value int) {
	if s != nil {
		s.span.SetAttributes(attribute.Int(key, value))
	}
}

// End ends the span. errorType is a code that says why the work has failed; empty: it has not.
func (s *Span) End(errorType string) { s.EndAt(errorType, time.Time{}) }

// EndAt is End for work that has ended before; the zero time is now.
func (s *Span) EndAt(errorType string, at time.Time) {
	if s == nil {
		return
	}
	if errorType != "" {
		s.Set("error.type", errorType)
		s.span.SetStatus(codes.Error, "")
	}
	var options []trace.SpanEndOption
	if !at.IsZero() {
		options = append(options, trace.WithTimestamp(at))
	}
	s.span.End(options...)
}

// Parent is a span of another process, as the W3C Trace Context writes it.
type Parent struct {
	Traceparent string `json:"traceparent,omitempty"`
	Tracestate  string `json:"tracestate,omitempty"`
}

// Propagator reads and writes Parents.
type Propagator interface {
	// Parent returns the span of ctx; empty: it has none.
	Parent(ctx context.Context) Parent
	// Below returns a context whose spans are below p, or ctx if p is not valid.
	Below(ctx context.Context, p Parent) context.Context
}

// Parent returns the span of ctx for another process. It is empty if ctx has none.
func (t *Tracer) Parent(ctx context.Context) Parent {
	if t == nil {
		return Parent{}
	}
	return t.propagator.Parent(ctx)
}

// Below returns a context whose spans are below p, or ctx if p is not valid.
func (t *Tracer) Below(ctx context.Context, p Parent) context.Context {
	if t == nil || p.Traceparent == "" {
		return ctx
	}
	return t.propagator.Below(ctx, p)
}

// LogHandler adds trace_id and span_id to the lines that h writes for the context of a span.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ slog.Handler }

// Handle writes a line.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() {
		r.AddAttrs(slog.String("trace_id", c.TraceID().String()), slog.String("span_id", c.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler whose lines have more attributes.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns a handler whose further attributes are in a group.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
