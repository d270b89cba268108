// Package telemetry sends the traces and the metrics of the program with the SDK of
// OpenTelemetry, if the standard variables of the environment ask for it. It alone knows the SDK.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"rote/routine/tracing"
)

// Telemetry sends traces. A nil Telemetry sends none.
type Telemetry struct{ provider *trace.TracerProvider }

// Start starts what the variables OTEL_* ask for; nil: they ask for nothing. version is that of
// the program. Errors of the SDK, such as that nobody takes the spans, are written to log.
func Start(ctx context.Context, version string, log *slog.Logger) (*Telemetry, error) {
	on, err := traces.wanted()
	if err == nil && on {
		err = checkSampler()
	}
	if !on || err != nil {
		return nil, err
	}
	described, err := describe(ctx, version)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	logFaults(log)
	return &Telemetry{trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(described))}, nil
}

// describe returns what the collector is told about this process.
func describe(ctx context.Context, version string) (*resource.Resource, error) {
	described, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "rote"), attribute.String("service.version", version)),
		resource.WithFromEnv()) // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return described, nil
}

// logFaults makes the SDK write its errors to log.
func logFaults(log *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("telemetry was not sent", "error", err) }))
}

// Tracer returns what makes the spans; nil if t is.
func (t *Telemetry) Tracer() *tracing.Tracer {
	if t == nil {
		return nil
	}
	return tracing.NewTracer(t.provider, propagator{})
}

// closeTime is how long Close may take: a program must not hang because nobody takes its spans.
const closeTime = 3 * time.Second

// Close sends the spans that wait, as long as that takes no more than 3 s, and stops.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(fmt.Errorf("the last spans were not sent: %w", err)) // the program itself has not failed
	}
	return nil
}

// endpoint is the variable with the URL of the collector of all signals.
const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"

// signal is the name of a signal in variables.
type signal string

const (
	traces  signal = "TRACES"
	metrics signal = "METRICS"
)

// endpoint returns the variable with the URL of the collector of the signal.
func (s signal) endpoint() string { return "OTEL_EXPORTER_OTLP_" + string(s) + "_ENDPOINT" }

// wanted reports whether the environment asks for the signal. An error names the variable that
// rote cannot follow, because what is silently missing is noticed when it is needed.
func (s signal) wanted() (bool, error) {
	if off, err := strconv.ParseBool(os.Getenv("OTEL_SDK_DISABLED")); err == nil && off {
		return false, nil
	}
	name := "OTEL_" + string(s) + "_EXPORTER"
	switch exporter := strings.TrimSpace(os.Getenv(name)); exporter {
	case "none":
		return false, nil
	case "":
		if os.Getenv(endpoint) == "" && os.Getenv(s.endpoint()) == "" {
			return false, nil
		}
	case "otlp":
	default:
		return false, fmt.Errorf("%s is %q: rote has otlp and none", name, exporter)
	}
	return true, errors.Join(s.checkProtocol(), checkEndpoint(endpoint), checkEndpoint(s.endpoint()))
}

// checkProtocol returns an error if another protocol than that of the exporter is wanted.
func (s signal) checkProtocol() error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + string(s) + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch protocol := strings.TrimSpace(os.Getenv(name)); protocol {
		case "":
			continue
		case "http/protobuf":
			return nil // the first one wins
		default:
			return fmt.Errorf("%s is %q: rote has http/protobuf only, for which collectors listen on port 4318", name, protocol)
		}
	}
	return nil
}

// checkEndpoint returns an error if a variable has no URL of HTTP.
func checkEndpoint(name string) error {
	value := os.Getenv(name)
	if value == "" {
		return nil
	}
	u, err := url.Parse(strings.TrimSpace(value))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s must be a URL, as in http://localhost:4318", name) // without the value, which may have a password
	}
	return nil
}

var samplers = []string{"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}

// checkSampler returns an error if the SDK does not have the sampler, for which it would take another.
func checkSampler() error {
	name := strings.ToLower(strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER")))
	if name == "" {
		return nil
	}
	if !slices.Contains(samplers, name) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER is %q: rote has %s", name, strings.Join(samplers, ", "))
	}
	arg := strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER_ARG"))
	if ratio, err := strconv.ParseFloat(arg, 64); strings.HasSuffix(name, "traceidratio") && arg != "" && (err != nil || !(ratio >= 0 && ratio <= 1)) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q: it must be a number from 0 to 1", arg)
	}
	return nil
}

// propagator is the W3C Trace Context.
type propagator struct{}

// Parent returns the span of ctx.
func (propagator) Parent(ctx context.Context) tracing.Parent {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return tracing.Parent{Traceparent: carrier["traceparent"], Tracestate: carrier["tracestate"]}
}

// Below returns a context whose spans are below p.
func (propagator) Below(ctx context.Context, p tracing.Parent) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": p.Traceparent, "tracestate": p.Tracestate})
}
