package tracing

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Without a trace nothing is allocated, and a span costs less than a millionth of a second: a run
// has a few dozen, and takes some ten milliseconds at least.
func TestOffCostsNothing(t *testing.T) {
	var none *Tracer
	ctx := t.Context()
	off := func() {
		_, root := none.Start(none.Below(ctx, Parent{}), Server, "mcp", time.Time{})
		root.Set("key", "value")
		root.End("")
		_, span := Start(ctx, Internal, "operation")
		span.SetInt("key", 1)
		span.End("failed")
	}
	if n := testing.AllocsPerRun(100, off); n != 0 {
		t.Errorf("%v allocations", n)
	}
	measured := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			off()
		}
	})
	t.Logf("two spans that are off: %d ns", measured.NsPerOp())
	if measured.NsPerOp() > 2000 {
		t.Errorf("two spans that are off take %d ns", measured.NsPerOp())
	}
}

func TestSpans(t *testing.T) {
	memory := tracetest.NewInMemoryExporter()
	tracer := NewTracer(trace.NewTracerProvider(trace.WithSyncer(memory)), nil)
	ctx, root := tracer.Start(t.Context(), Server, "root", time.Time{})
	began := time.Now().Add(-time.Hour).Truncate(time.Second)
	below, child := StartAt(ctx, Internal, "child", began)
	child.Set("empty", "")
	child.Set("key", "value")
	child.EndAt("timeout", began.Add(time.Minute))
	var log bytes.Buffer
	logger := slog.New(LogHandler(slog.NewTextHandler(&log, nil))).With("a", 1)
	logger.InfoContext(below, "within")
	logger.InfoContext(t.Context(), "without")
	root.End("")
	spans := memory.GetSpans()
	if len(spans) != 2 {
		t.Fatal(spans)
	}
	c, r := spans[0], spans[1]
	if c.Parent.SpanID() != r.SpanContext.SpanID() || c.EndTime.Sub(c.StartTime) != time.Minute || len(c.Attributes) != 2 ||
		c.Status.Code.String() != "Error" || r.Status.Code.String() != "Unset" {
		t.Errorf("%+v", spans)
	}
	within, without, _ := strings.Cut(log.String(), "\n")
	if !strings.Contains(within, "a=1 trace_id="+c.SpanContext.TraceID().String()+" span_id="+c.SpanContext.SpanID().String()) ||
		strings.Contains(without, "trace_id") {
		t.Error(&log)
	}
}
