package telemetry

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
)

// Metrics sends metrics. A nil Metrics sends none.
type Metrics struct{ provider *metric.MeterProvider }

// StartMetrics starts to send the metrics of g, which /metrics shows too, if the variables OTEL_*
// ask for it; nil: they do not. The time between two sendings is that of
// OTEL_METRIC_EXPORT_INTERVAL, by default a minute. version and log are as in [Start].
func StartMetrics(ctx context.Context, version string, g prometheus.Gatherer, log *slog.Logger) (*Metrics, error) {
	on, err := metrics.wanted()
	if !on || err != nil {
		return nil, err
	}
	described, err := describe(ctx, version)
	if err != nil {
		return nil, err
	}
	exporter, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	logFaults(log)
	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(g))))
	return &Metrics{metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(described))}, nil
}

// Close sends the metrics once more, as long as that takes no more than 3 s, and stops.
func (m *Metrics) Close() {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := m.provider.Shutdown(ctx); err != nil {
		otel.Handle(fmt.Errorf("the last metrics were not sent: %w", err)) // the program itself has not failed
	}
}
