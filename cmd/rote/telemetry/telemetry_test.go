package telemetry

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"rote/routine/routinetest/leakcheck"
	"rote/routine/tracing"
)

// Without the variables nothing is sent. A value that cannot be followed is an error that names
// its variable and says what there is.
func TestStart(t *testing.T) {
	const url = "http://127.0.0.1:4318"
	for _, row := range []struct {
		env  map[string]string
		on   bool
		want string // in the error
	}{
		{},
		{env: map[string]string{endpoint: url}, on: true},
		{env: map[string]string{traces.endpoint(): url + "/v1/traces"}, on: true},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, on: true},
		{env: map[string]string{endpoint: url, "OTEL_TRACES_EXPORTER": "none"}},
		{env: map[string]string{endpoint: url, "OTEL_SDK_DISABLED": "true"}},
		{env: map[string]string{endpoint: url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
			"OTEL_TRACES_SAMPLER_ARG": "0.5", "OTEL_SERVICE_NAME": "x", "OTEL_RESOURCE_ATTRIBUTES": "a=b"}, on: true},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "jaeger"}, want: `OTEL_TRACES_EXPORTER is "jaeger": rote has otlp and none`},
		{env: map[string]string{endpoint: url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, want: `OTEL_EXPORTER_OTLP_PROTOCOL is "grpc": rote has http/protobuf only`},
		{env: map[string]string{endpoint: url, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, want: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"},
		{env: map[string]string{endpoint: "localhost:4318"}, want: endpoint + " must be a URL"},
		{env: map[string]string{traces.endpoint(): "https://"}, want: traces.endpoint() + " must be a URL"},
		{env: map[string]string{endpoint: url, "OTEL_TRACES_SAMPLER": "some"}, want: `OTEL_TRACES_SAMPLER is "some"`},
		{env: map[string]string{endpoint: url, "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"}, want: "a number from 0 to 1"},
		{env: map[string]string{endpoint: url, "OTEL_RESOURCE_ATTRIBUTES": "nothing"}, want: "OTEL_RESOURCE_ATTRIBUTES"},
	} {
		t.Run("", func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			for name, value := range row.env {
				t.Setenv(name, value)
			}
			started, err := Start(t.Context(), "1", slog.New(slog.DiscardHandler))
			switch {
			case row.want != "":
				if err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("%v: %v, want %s", row.env, err, row.want)
				}
			case err != nil || (started != nil) != row.on || (started.Tracer() != nil) != row.on:
				t.Errorf("%v: %v %v", row.env, started, err)
			}
			if err := started.Close(); err != nil {
				t.Error(err)
			}
			if err := leakcheck.Find(before); err != nil {
				t.Error(err)
			}
		})
	}
}

// A collector that never answers delays neither the work nor, by more than a moment, the end.
func TestCollectorThatHangs(t *testing.T) {
	before := goleak.IgnoreCurrent()
	hanging := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hanging }))
	t.Setenv(endpoint, s.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	var log bytes.Buffer
	started, err := Start(t.Context(), "1", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tracer, began := started.Tracer(), time.Now()
	const spans = 10_000 // more than the queue takes
	for range spans {
		_, span := tracer.Start(t.Context(), tracing.Internal, "work", time.Time{})
		span.End("")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("%d spans took %v", spans, took)
	}
	began = time.Now()
	if err := started.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > closeTime+2*time.Second {
		t.Errorf("Close took %v", took)
	}
	if !strings.Contains(log.String(), "the last spans were not sent") {
		t.Errorf("the log does not say that spans were lost: %s", &log)
	}
	close(hanging)
	s.Close()
	if err := leakcheck.Find(before); err != nil {
		t.Error(err)
	}
}

// The figures that /metrics shows are sent with the name of the service, also at the end.
func TestMetrics(t *testing.T) {
	before := goleak.IgnoreCurrent()
	bodies := make(chan []byte, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/metrics" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		bodies <- text
	}))
	t.Setenv(endpoint, s.URL)
	registry := prometheus.NewRegistry()
	promauto.With(registry).NewCounterVec(prometheus.CounterOpts{Name: "rote_executions_total"}, []string{"status"}).WithLabelValues("completed").Add(7)
	m, err := StartMetrics(t.Context(), "1", registry, slog.New(slog.DiscardHandler))
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	m.Close()
	s.Close()
	var sent metricpb.MetricsData
	if err := proto.Unmarshal(<-bodies, &sent); err != nil {
		t.Fatal(err)
	}
	text := sent.String()
	for _, want := range []string{`string_value:"rote"`, `name:"rote_executions_total"`, `string_value:"completed"`, "as_double:7"} {
		if !strings.Contains(strings.ReplaceAll(text, ": ", ":"), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if err := leakcheck.Find(before); err != nil {
		t.Error(err)
	}
}

// Metrics are off without the variables, and on by themselves; what cannot be followed is an error.
func TestStartMetrics(t *testing.T) {
	for _, row := range []struct {
		env  map[string]string
		on   bool
		want string // in the error
	}{
		{},
		{env: map[string]string{"OTEL_METRICS_EXPORTER": "otlp"}, on: true},
		{env: map[string]string{traces.endpoint(): "http://127.0.0.1:4318"}},
		{env: map[string]string{endpoint: "http://127.0.0.1:4318", "OTEL_METRICS_EXPORTER": "none"}},
		{env: map[string]string{"OTEL_METRICS_EXPORTER": "prometheus"}, want: `OTEL_METRICS_EXPORTER is "prometheus": rote has otlp and none`},
		{env: map[string]string{metrics.endpoint(): "collector"}, want: metrics.endpoint() + " must be a URL"},
	} {
		t.Run("", func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "1") // nobody listens
			for name, value := range row.env {
				t.Setenv(name, value)
			}
			m, err := StartMetrics(t.Context(), "1", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
			if row.want == "" && (err != nil || (m != nil) != row.on) || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("%v: %v %v", row.env, m, err)
			}
			m.Close()
		})
	}
}
