package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rote/httpapi"
	"rote/routine"
)

// scrape reads the metrics as Prometheus does, by name.
func (e *env) scrape(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	got := e.must(t, "GET", "/metrics", asAdmin, "")
	if got.status != 200 {
		t.Fatal(got)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// value is a series' number, of a histogram how much was observed; -1 when there
// is no such series. labels are pairs, all that the series has.
func value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range families[name].GetMetric() {
		has := map[string]string{}
		for _, l := range m.GetLabel() {
			has[l.GetName()] = l.GetValue()
		}
		fits := len(has) == len(labels)/2
		for i := 0; i < len(labels); i += 2 {
			fits = fits && has[labels[i]] == labels[i+1]
		}
		switch {
		case !fits:
		case m.Counter != nil:
			return m.GetCounter().GetValue()
		case m.Gauge != nil:
			return m.GetGauge().GetValue()
		default:
			return float64(m.GetHistogram().GetSampleCount())
		}
	}
	return -1
}

// countingBrowser is a browser that counts.
type countingBrowser struct{ routine.Browser }

func (countingBrowser) BrowserStatistics() routine.BrowserStatistics {
	return routine.BrowserStatistics{Starts: 5, Failures: 2, Replacements: 3, Endpoints: &routine.EndpointStatistics{Ready: 2, Busy: 1, Down: 4}}
}

// Every series has the value of what was done.
func TestMetrics(t *testing.T) {
	var observer routine.Observer
	e := newEnv(t, func(c *envConfig) {
		c.service.Browser, c.service.Concurrency, c.service.Queue = countingBrowser{c.service.Browser}, 1, 7
		observer = c.service.Observer
	})
	observer.LessonStarted()
	observer.LessonStarted()
	observer.LessonEnded(routine.LessonIdle)
	observer.LessonOperation("click", true)
	observer.LessonOperation("click", true)
	observer.JobEnded(routine.JobRun, routine.JobTaken)
	observer.RunDequeued(time.Second)
	for _, s := range []scenario{
		{"", "GET", "/routines/$private", "$admin", nil, "", 200, nil, nil},
		{"", "GET", "/routines/$private/", "$admin", nil, "", 200, nil, nil},
		{"", "GET", "/routines/$private", "$guest", nil, "", 403, nil, nil},
		{"", "GET", "/routines/Routine_zebra", "$admin", nil, "", 404, nil, nil},
		{"", "GET", "/zebra", "", nil, "", 404, nil, nil},
		{"", "ZEBRA", "/routines/", "", nil, "", 405, nil, nil},
		{"", "POST", "/routines/$private/execute", "$admin", nil, call("zebra"), 201, nil, nil},
		{"", "POST", "/routines/$private/execute", "$admin", nil, call("denied"), 201, nil, nil},
		{"", "POST", "/routines/$private/execute", "$admin", nil, call("fail/timeout"), 500, nil, nil},
	} {
		s.run(t, e)
	}
	got := e.scrape(t)
	for _, row := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{2, "rote_http_requests_total", []string{"route", "/routines/{routine_id}", "method", "GET", "status", "200"}},
		{1, "rote_http_requests_total", []string{"route", "/routines/{routine_id}", "method", "GET", "status", "403"}},
		{1, "rote_http_requests_total", []string{"route", "/routines/{routine_id}", "method", "GET", "status", "404"}},
		{1, "rote_http_requests_total", []string{"route", "other", "method", "GET", "status", "404"}},
		{1, "rote_http_requests_total", []string{"route", "/routines", "method", "other", "status", "405"}},
		{4, "rote_http_request_duration_seconds", []string{"route", "/routines/{routine_id}", "method", "GET"}},
		{3, "rote_http_request_duration_seconds", []string{"route", "/routines/{routine_id}/execute", "method", "POST"}},
		{1, "rote_http_requests_in_flight", nil}, // the scrape
		{2, "rote_executions_total", []string{"status", "completed", "code", "", "via", "rest"}},
		{1, "rote_executions_total", []string{"status", "failed", "code", "timeout", "via", "rest"}},
		{2, "rote_execution_duration_seconds", []string{"status", "completed"}},
		{1, "rote_execution_duration_seconds", []string{"status", "failed"}},
		{3, "rote_execution_wait_seconds", nil},
		{3, "rote_egress_denials_total", nil},
		{1, "rote_lessons_open", nil},
		{1, "rote_lessons_total", []string{"end", "idle"}},
		{0, "rote_lessons_total", []string{"end", "saved"}},
		{2, "rote_lesson_operations_total", []string{"type", "click", "ok", "true"}},
		{0, "rote_webhook_attempts_total", []string{"outcome", "delivered"}},
		{0, "rote_jobs_total", []string{"kind", "run", "outcome", "done"}},
		{1, "rote_jobs_total", []string{"kind", "run", "outcome", "taken"}},
		{1, "rote_job_wait_seconds", nil},
		{0, "rote_jobs_waiting", []string{"kind", "run"}},
		{0, "rote_jobs_waiting", []string{"kind", "webhook"}},
		{0, "rote_executions_running", nil},
		{1, "rote_executions_running_limit", nil},
		{0, "rote_executions_waiting", nil},
		{7, "rote_executions_waiting_limit", nil},
		{5, "rote_browser_starts_total", nil},
		{2, "rote_browser_failures_total", nil},
		{3, "rote_browser_replacements_total", nil},
		{2, "rote_browser_endpoints", []string{"state", "ready"}},
		{0, "rote_browser_endpoints", []string{"state", "connecting"}},
		{1, "rote_browser_endpoints", []string{"state", "busy"}},
		{4, "rote_browser_endpoints", []string{"state", "down"}},
	} {
		if v := value(got, row.name, row.labels...); v != row.want {
			t.Errorf("%s%q is %v, want %v", row.name, row.labels, v, row.want)
		}
	}
	for _, name := range []string{"rote_database_bytes", "go_goroutines", "process_resident_memory_bytes"} {
		if v := value(got, name); v <= 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
	if text := e.must(t, "GET", "/metrics", asAdmin, "").body; strings.Contains(strings.ToLower(text), "zebra") || strings.Contains(text, "Routine_") {
		t.Errorf("what a caller sends makes series:\n%s", text)
	}
}

func TestMetricsFollowTheConventions(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.service.Browser = countingBrowser{c.service.Browser} })
	scenario{"", "POST", "/routines/$private/execute", "$admin", nil, call("x"), 201, nil, nil}.run(t, e)
	faults, err := promlint.New(strings.NewReader(e.must(t, "GET", "/metrics", asAdmin, "").body)).Lint()
	if err != nil || len(faults) > 0 {
		t.Error(err, faults)
	}
}

// How busy the service is can be seen while it is.
func TestMetricsOfBusyService(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.service.Concurrency, c.service.Queue = 1, 7 })
	async := map[string]string{"Prefer": "respond-async"}
	for range 3 {
		scenario{"", "POST", "/routines/$private/execute", "$admin", async, call("block"), 202, nil, nil}.run(t, e)
	}
	<-e.browser.blocked
	busy := e.scrape(t)
	if running, waiting := value(busy, "rote_executions_running"), value(busy, "rote_executions_waiting"); running != 1 || waiting != 2 {
		t.Errorf("%v run and %v wait", running, waiting)
	}
	close(e.browser.release)
	for range 3 {
		<-e.store.finished
	}
}

func TestMetricsNeedAdminScope(t *testing.T) {
	e := newEnv(t)
	chief := e.tokenOf(t, routine.Principal{UserID: "chief", OrganizationID: "acme", Scopes: routine.ScopeAdmin})
	runAll(t, e, []scenario{
		{"nobody on loopback", "GET", "/metrics", "", nil, "", 401, nil, nil},
		{"nobody, through a proxy that adds no header", "GET", "/metrics", "", map[string]string{"Host": "127.0.0.1"}, "", 401, nil, nil},
		{"a token that is none", "GET", "/metrics", "none", nil, "", 401, nil, nil},
		{"through a proxy", "GET", "/metrics", "", map[string]string{"X-Forwarded-For": "203.0.113.9"}, "", 401, nil, nil},
		{"a token without the scope", "GET", "/metrics", "$guest", nil, "", 403, []string{"scope admin"}, nil},
		{"a token with the scope", "GET", "/metrics", chief, nil, "", 200, []string{"rote_executions_running 0"}, nil},
	})
	none := newEnv(t, func(c *envConfig) { c.http.Metrics = nil })
	got, err := none.Client().Get(none.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != 404 {
		t.Errorf("without metrics %d", got.StatusCode)
	}
}

// The listener of --metrics-addr needs no token and serves nothing else.
func TestMetricsHandler(t *testing.T) {
	m := httpapi.NewMetrics()
	h := httpapi.NewMetricsHandler(m, []string{"metrics.internal"})
	for _, row := range []struct {
		method, path, host, origin string
		status                     int
	}{
		{"GET", "/metrics", "127.0.0.1:9464", "", 200},
		{"HEAD", "/metrics", "localhost:9464", "", 200},
		{"GET", "/metrics", "metrics.internal:9464", "", 200},
		{"GET", "/metrics", "rebound.example:9464", "", 403},
		{"GET", "/metrics", "localhost:9464", "http://localhost:3000", 403},
		{"POST", "/metrics", "localhost:9464", "", 405},
		{"GET", "/", "localhost:9464", "", 404},
		{"GET", "/routines/", "localhost:9464", "", 404},
	} {
		r := httptest.NewRequest(row.method, row.path, nil)
		r.Host = row.host
		if row.origin != "" {
			r.Header.Set("Origin", row.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if shown := strings.Contains(w.Body.String(), "go_goroutines"); w.Code != row.status || shown != (row.status == 200) {
			t.Errorf("%+v: %d\n%.300s", row, w.Code, w.Body)
		}
	}
}

// Handlers beside the front end are counted under their path, and can still
// stream their response.
func TestMeasure(t *testing.T) {
	m := httpapi.NewMetrics()
	e := newEnv(t, func(c *envConfig) { c.http.Metrics = m })
	beside := m.Measure("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		if v := value(e.scrape(t), "rote_http_requests_in_flight"); v != 2 {
			t.Errorf("%v in flight", v)
		}
	}))
	answer := httptest.NewRecorder()
	beside.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "POST", "/mcp?x=1", nil))
	if v := value(e.scrape(t), "rote_http_requests_total", "route", "/mcp", "method", "POST", "status", "202"); v != 1 || !answer.Flushed {
		t.Errorf("counted %v", v)
	}
}
