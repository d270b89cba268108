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
	"rote/routine/service"
)

// Metrics are the Prometheus metrics of the service. To count executions and
// webhooks, set it as the service's Observer too. No label contains an id, a
// name or a host, so callers cannot create new series.
type Metrics struct {
	registry *prometheus.Registry
	// Of requests.
	requests         *prometheus.CounterVec
	requestDurations *prometheus.HistogramVec
	inFlight         prometheus.Gauge
	// Of executions.
	executions   *prometheus.CounterVec
	runDurations *prometheus.HistogramVec
	queueTimes   prometheus.Histogram
	denials      prometheus.Counter
	webhooks     *prometheus.CounterVec
	// Of jobs.
	jobs     *prometheus.CounterVec
	jobWaits prometheus.Histogram
	// Of lessons.
	lessonsOpen      prometheus.Gauge
	lessons          *prometheus.CounterVec
	lessonOperations *prometheus.CounterVec
}

// Histogram buckets in seconds. A run takes at most 300 s.
var (
	requestBuckets = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 300}
	runBuckets     = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	// A queued run waits for an hour by default.
	waitBuckets = []float64{.05, .25, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
)

// Gatherer returns what reads the metrics.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// NewMetrics returns the Metrics for one handler.
func NewMetrics() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_http_requests_total",
			Help: "Requests that were answered, by route."}, []string{"route", "method", "status"}),
		requestDurations: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "rote_http_request_duration_seconds", Buckets: requestBuckets,
			Help: "Time from a request's header to the end of its answer, by route."}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rote_http_requests_in_flight",
			Help: "Requests that are being answered."}),
		executions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_executions_total",
			Help: "Executions that this process has ended, by status, error code (empty: none) and front end."}, []string{"status", "code", "via"}),
		runDurations: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "rote_execution_duration_seconds", Buckets: runBuckets,
			Help: "Time from the acceptance of an execution to its end, by status."}, []string{"status"}),
		queueTimes: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rote_execution_wait_seconds", Buckets: runBuckets,
			Help: "Time that executions waited for a browser."}),
		denials: prometheus.NewCounter(prometheus.CounterOpts{Name: "rote_egress_denials_total",
			Help: "Requests of runs that the egress policy refused."}),
		webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_webhook_attempts_total",
			Help: "Attempts to deliver a webhook, by what came of them."}, []string{"outcome"}),
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_jobs_total",
			Help: "Jobs that were handed to this process, by kind and outcome."}, []string{"kind", "outcome"}),
		jobWaits: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rote_job_wait_seconds", Buckets: waitBuckets,
			Help: "Time that asynchronous runs waited in the queue of the database, for those that this process took."}),
		lessonsOpen: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rote_lessons_open",
			Help: "Lessons that have a page."}),
		lessons: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_lessons_total",
			Help: "Lessons whose page was closed, by the reason."}, []string{"end"}),
		lessonOperations: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rote_lesson_operations_total",
			Help: "Operations that were tried in lessons, by type and by whether they worked."}, []string{"type", "ok"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.requestDurations, m.inFlight, m.executions, m.runDurations, m.queueTimes, m.denials, m.webhooks, m.jobs, m.jobWaits,
		m.lessonsOpen, m.lessons, m.lessonOperations)
	for _, outcome := range []routine.WebhookOutcome{routine.WebhookDelivered, routine.WebhookRetried, routine.WebhookGivenUp} {
		m.webhooks.WithLabelValues(string(outcome)) // exported as 0 from the start
	}
	for _, kind := range []routine.JobKind{routine.JobRun, routine.JobWebhook} {
		m.jobs.WithLabelValues(string(kind), string(routine.JobDone))
	}
	for _, end := range []routine.LessonEnd{routine.LessonSaved, routine.LessonEnded, routine.LessonIdle, routine.LessonLost} {
		m.lessons.WithLabelValues(string(end))
	}
	return m
}

var _ routine.Observer = (*Metrics)(nil)

// ExecutionEnded counts an execution and its denied requests.
func (m *Metrics) ExecutionEnded(e *routine.Execution) {
	m.executions.WithLabelValues(string(e.Status), string(e.ErrorCode), string(e.Via)).Inc()
	m.runDurations.WithLabelValues(string(e.Status)).Observe(*e.DurationSeconds)
	if e.StartedAt != nil {
		m.queueTimes.Observe(e.StartedAt.Sub(e.CreatedAt).Seconds())
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

// WebhookSent counts an attempt to deliver a webhook.
func (m *Metrics) WebhookSent(o routine.WebhookOutcome) { m.webhooks.WithLabelValues(string(o)).Inc() }

// JobEnded counts a job.
func (m *Metrics) JobEnded(kind routine.JobKind, o routine.JobOutcome) {
	m.jobs.WithLabelValues(string(kind), string(o)).Inc()
}

// RunDequeued records the time that a run waited in the queue.
func (m *Metrics) RunDequeued(waited time.Duration) { m.jobWaits.Observe(waited.Seconds()) }

// LessonStarted counts a lesson as open.
func (m *Metrics) LessonStarted() { m.lessonsOpen.Inc() }

// LessonEnded counts the end of a lesson.
func (m *Metrics) LessonEnded(end routine.LessonEnd) {
	m.lessonsOpen.Dec()
	m.lessons.WithLabelValues(string(end)).Inc()
}

// LessonOperation counts an operation that was tried in a lesson.
func (m *Metrics) LessonOperation(operationType string, ok bool) {
	m.lessonOperations.WithLabelValues(operationType, strconv.FormatBool(ok)).Inc()
}

// Measure counts the requests of another handler on the same listener under one
// path. A nil Metrics counts nothing.
func (m *Metrics) Measure(path string, h http.Handler) http.Handler {
	if m == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		endRequest := m.startRequest(r)
		defer func() { endRequest(path, ww.Status()) }()
		h.ServeHTTP(ww, r)
	})
}

var knownMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// knownMethod returns a method for a label: other if it is none of HTTP.
func knownMethod(method string) string {
	if slices.Contains(knownMethods, method) {
		return method
	}
	return "other"
}

// startRequest counts a request as in flight until endRequest is called with
// the request's route pattern, which may be empty, and the response's status.
// Status 0 means that the connection was closed before a response.
func (m *Metrics) startRequest(r *http.Request) (endRequest func(pattern string, status int)) {
	if m == nil {
		return func(string, int) {}
	}
	start := time.Now()
	m.inFlight.Inc()
	return func(pattern string, status int) {
		m.inFlight.Dec()
		method := knownMethod(r.Method)
		route := strings.TrimSuffix(pattern, "/")
		if route == "" {
			route = "other"
		}
		m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
		m.requestDurations.WithLabelValues(route, method).Observe(time.Since(start).Seconds())
	}
}

// serviceCollector exports the service's statistics at the time of the scrape.
type serviceCollector struct{ service *service.Service }

func newDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, nil, nil)
}

var (
	runningDesc      = newDesc("rote_executions_running", "Executions that have a browser.")
	runningLimitDesc = newDesc("rote_executions_running_limit", "How many executions may run at once (--concurrency).")
	waitingDesc      = newDesc("rote_executions_waiting", "Executions that wait for a browser.")
	waitingLimitDesc = newDesc("rote_executions_waiting_limit", "How many executions may wait; one more is refused (--queue).")
	storeDesc        = newDesc("rote_database_bytes", "Size of the database's file and log.")
	jobsWaitingDesc  = prometheus.NewDesc("rote_jobs_waiting", "Jobs in the database that wait for any process, by kind.", []string{"kind"}, nil)
	startsDesc       = newDesc("rote_browser_starts_total", "Browser processes that came up.")
	failuresDesc     = newDesc("rote_browser_failures_total", "Browser processes that did not come up, died or had to be killed.")
	replacementsDesc = newDesc("rote_browser_replacements_total", "Browser processes that were replaced because of their age.")
	endpointsDesc    = prometheus.NewDesc("rote_browser_endpoints", "Browsers of --browser-url.", []string{"state"}, nil)
)

func (l serviceCollector) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runningDesc, runningLimitDesc, waitingDesc, waitingLimitDesc, storeDesc, jobsWaitingDesc,
		startsDesc, failuresDesc, replacementsDesc, endpointsDesc} {
		all <- d
	}
}

func (l serviceCollector) Collect(all chan<- prometheus.Metric) {
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
	for kind, n := range map[routine.JobKind]int{routine.JobRun: s.WaitingRuns, routine.JobWebhook: s.WaitingWebhooks} {
		if n >= 0 {
			all <- prometheus.MustNewConstMetric(jobsWaitingDesc, prometheus.GaugeValue, float64(n), string(kind))
		}
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
	if e := s.Browser.Endpoints; e != nil {
		for state, n := range map[string]int{"ready": e.Ready, "connecting": e.Connecting, "busy": e.Busy, "down": e.Down} {
			all <- prometheus.MustNewConstMetric(endpointsDesc, prometheus.GaugeValue, float64(n), state)
		}
	}
}

// readMetrics writes the metrics in the text format of Prometheus.
func (a *api) readMetrics(q *request) (response, error) {
	if err := a.service.MayReadStatistics(q.principal); err != nil {
		return response{}, err
	}
	a.metrics.serve(q.w, q.Request)
	return response{alreadyWritten: true}, nil
}

// readOpenMetrics is readMetrics without a token.
func (a *api) readOpenMetrics(q *request) (response, error) {
	a.metrics.serve(q.w, q.Request)
	return response{alreadyWritten: true}, nil
}

func (m *Metrics) serve(w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
}

// NewMetricsHandler serves m at /metrics without authentication, for a separate
// listener. It checks the Host header against [Config.AllowedHosts], so that no
// web page can read the metrics by DNS rebinding.
func NewMetricsHandler(m *Metrics, allowedHosts []string) http.Handler {
	g := newHostPolicy(allowedHosts, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch err := g.check(r); {
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
