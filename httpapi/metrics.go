package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"rote/routine"
)

// Metrics counts what happens, for /metrics. To have executions and webhooks in
// it, make it the Observer of the service too. No label of it is an id, a name
// or a host: what callers send makes no new series.
type Metrics struct {
	registry *prometheus.Registry
	// Of requests.
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	// Of executions.
	executions *prometheus.CounterVec
	runs       *prometheus.HistogramVec
	waits      prometheus.Histogram
	denials    prometheus.Counter
	webhooks   *prometheus.CounterVec
}

// In seconds. A run takes 300 at most.
var (
	requestBuckets = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 300}
	runBuckets     = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
)

// NewMetrics makes the Metrics of one handler.
func NewMetrics() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_http_requests_total",
			Help: "Requests that were answered, by route."}, []string{"route", "method", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "rote_http_request_duration_seconds", Buckets: requestBuckets,
			Help: "Time from a request's header to the end of its answer, by route."}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rote_http_requests_in_flight",
			Help: "Requests that are being answered."}),
		executions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_executions_total",
			Help: "Executions that this process has ended, by status, error code (empty: none) and the door they came through."}, []string{"status", "code", "via"}),
		runs: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "rote_execution_duration_seconds", Buckets: runBuckets,
			Help: "Time from the acceptance of an execution to its end, by status."}, []string{"status"}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rote_execution_wait_seconds", Buckets: runBuckets,
			Help: "Time that executions waited for a browser."}),
		denials: prometheus.NewCounter(prometheus.CounterOpts{Name: "rote_egress_denials_total",
			Help: "Requests of runs that the egress policy refused."}),
		webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_webhook_attempts_total",
			Help: "Attempts to deliver a webhook, by what came of them."}, []string{"outcome"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.durations, m.inFlight, m.executions, m.runs, m.waits, m.denials, m.webhooks)
	for _, outcome := range []routine.WebhookOutcome{routine.WebhookDelivered, routine.WebhookRetried, routine.WebhookGivenUp} {
		m.webhooks.WithLabelValues(string(outcome)) // 0 is told too
	}
	return m
}

var _ routine.Observer = (*Metrics)(nil)

// ExecutionEnded counts an execution and what its run was refused.
func (m *Metrics) ExecutionEnded(e *routine.Execution) {
	m.executions.WithLabelValues(string(e.Status), string(e.ErrorCode), string(e.Via)).Inc()
	m.runs.WithLabelValues(string(e.Status)).Observe(*e.DurationSeconds)
	if e.StartedAt != nil {
		m.waits.Observe(e.StartedAt.Sub(e.CreatedAt).Seconds())
	}
	if e.Result == nil {
		return
	}
	for _, o := range e.Result.OperationsMetadata {
		for _, d := range o.EgressDenied {
			m.denials.Add(float64(d.Count))
		}
	}
}

// WebhookSent counts an attempt.
func (m *Metrics) WebhookSent(o routine.WebhookOutcome) { m.webhooks.WithLabelValues(string(o)).Inc() }

// Measure counts the requests of a handler that stands beside this front end
// under one path. A nil Metrics counts nothing.
func (m *Metrics) Measure(path string, h http.Handler) http.Handler {
	if m == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		answered := m.begin(r)
		defer func() { answered(path, ww.Status()) }()
		h.ServeHTTP(ww, r)
	})
}

var knownMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// begin counts a request as one in flight, until what it gives is called with
// the pattern of its path, which may be empty, and its status; 0: it was broken
// off before it had one.
func (m *Metrics) begin(r *http.Request) (answered func(pattern string, status int)) {
	if m == nil {
		return func(string, int) {}
	}
	start := time.Now()
	m.inFlight.Inc()
	return func(pattern string, status int) {
		m.inFlight.Dec()
		method := r.Method
		if !slices.Contains(knownMethods, method) {
			method = "other"
		}
		route := strings.TrimSuffix(pattern, "/")
		if route == "" {
			route = "other"
		}
		m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
		m.durations.WithLabelValues(route, method).Observe(time.Since(start).Seconds())
	}
}

// load is the service's own statistics, taken when they are asked for.
type load struct{ service *routine.Service }

func describeLoad(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, nil, nil)
}

var (
	runningDesc      = describeLoad("rote_executions_running", "Executions that have a browser.")
	runningLimitDesc = describeLoad("rote_executions_running_limit", "How many executions may run at once (--concurrency).")
	waitingDesc      = describeLoad("rote_executions_waiting", "Executions that wait for a browser.")
	waitingLimitDesc = describeLoad("rote_executions_waiting_limit", "How many executions may wait; one more is refused (--queue).")
	storeDesc        = describeLoad("rote_database_bytes", "Size of the database's file and log.")
	startsDesc       = describeLoad("rote_browser_starts_total", "Browser processes that came up.")
	failuresDesc     = describeLoad("rote_browser_failures_total", "Browser processes that did not come up, died or had to be killed.")
	replacementsDesc = describeLoad("rote_browser_replacements_total", "Browser processes that were replaced because of their age.")
)

func (l load) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runningDesc, runningLimitDesc, waitingDesc, waitingLimitDesc, storeDesc, startsDesc, failuresDesc, replacementsDesc} {
		all <- d
	}
}

func (l load) Collect(all chan<- prometheus.Metric) {
	s := l.service.Statistics()
	gauge := func(d *prometheus.Desc, v float64) {
		all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	gauge(runningDesc, float64(s.Running))
	gauge(runningLimitDesc, float64(s.RunningLimit))
	gauge(waitingDesc, float64(s.Waiting))
	gauge(waitingLimitDesc, float64(s.WaitingLimit))
	if s.StoreBytes >= 0 {
		gauge(storeDesc, float64(s.StoreBytes))
	}
	if s.Browser == nil {
		return
	}
	counter := func(d *prometheus.Desc, n int64) {
		all <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n))
	}
	counter(startsDesc, s.Browser.Starts)
	counter(failuresDesc, s.Browser.Failures)
	counter(replacementsDesc, s.Browser.Replacements)
}

// readMetrics answers in the text format of Prometheus.
func (a *api) readMetrics(q *request) (answer, error) {
	if err := a.service.MayReadStatistics(q.principal); err != nil {
		return answer{}, err
	}
	a.metrics.serve(q.w, q.Request)
	return answer{written: true}, nil
}

func (m *Metrics) serve(w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
}

// NewMetricsHandler serves m at /metrics to everybody, for a listener of its
// own. It accepts the Host headers that [Config.AllowedHosts] describes, so that
// no web page reads it by DNS rebinding.
func NewMetricsHandler(m *Metrics, allowedHosts []string) http.Handler {
	g := newGuard(allowedHosts, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch err := g.admit(r); {
		case err != nil:
			http.Error(w, routine.AsError(err).Message, http.StatusForbidden)
		case r.URL.Path != "/metrics":
			http.Error(w, "this listener serves /metrics only", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "metrics are read with GET", http.StatusMethodNotAllowed)
		default:
			m.serve(w, r)
		}
	})
}
