package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcepb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector takes the spans that programs send, as a collector of OpenTelemetry does.
type collector struct {
	url  string
	mu   sync.Mutex
	raw  strings.Builder
	list []*tracepb.Span
	// services has name and version of the services that have sent spans.
	services []string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

// ServeHTTP takes a batch of spans.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	var batch tracepb.TracesData
	if err == nil {
		err = proto.Unmarshal(text, &batch)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(text)
	for _, resource := range batch.ResourceSpans {
		c.services = append(c.services, attributeOf(resource.Resource.Attributes, "service.name")+" "+attributeOf(resource.Resource.Attributes, "service.version"))
		for _, scope := range resource.ScopeSpans {
			c.list = append(c.list, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func attributeOf(attributes []*resourcepb.KeyValue, key string) string {
	for _, a := range attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// traced has a rote send its spans to the collector.
func (c *collector) traced(r *rote) {
	r.env = append(r.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_METRICS_EXPORTER=none", "OTEL_BSP_SCHEDULE_DELAY=20")
}

// tree waits until the trace has spans with these names, and returns each of its spans with the
// names of those above it: "parent > child".
func (c *collector) tree(t *testing.T, traceID string, names ...string) (lines []string) {
	t.Helper()
	var spans []*tracepb.Span
	waitFor(t, "the spans", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		spans = nil
		for _, s := range c.list {
			if fmt.Sprintf("%x", s.TraceId) == traceID {
				spans = append(spans, s)
			}
		}
		return !slices.ContainsFunc(names, func(name string) bool {
			return !slices.ContainsFunc(spans, func(s *tracepb.Span) bool { return s.Name == name })
		})
	})
	byID := map[string]*tracepb.Span{}
	for _, s := range spans {
		byID[fmt.Sprintf("%x", s.SpanId)] = s
	}
	for _, s := range spans {
		line := s.Name
		parent := fmt.Sprintf("%x", s.ParentSpanId)
		for byID[parent] != nil {
			line = byID[parent].Name + " > " + line
			parent = fmt.Sprintf("%x", byID[parent].ParentSpanId)
		}
		line = parent + " > " + line
		if host := attributeOf(s.Attributes, "server.address"); host != "" {
			line += " " + host + " " + attributeOf(s.Attributes, "rote.egress.decision")
		}
		if failed := attributeOf(s.Attributes, "error.type"); failed != "" {
			line += " [" + failed + "]"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return slices.Compact(lines) // a browser may open several connections to one host
}

const (
	traceOfCaller = "0af7651916cd43dd8448eb211c80319c"
	spanOfCaller  = "b7ad6b7169203331"
	traceparent   = "00-" + traceOfCaller + "-" + spanOfCaller + "-01"
)

// ownToken sets the token of a server, which has none yet.
func (s *server) ownToken() {
	s.t.Helper()
	secret, errs, code := s.run("token", "create")
	if code != 0 {
		s.t.Fatal(errs)
	}
	s.token = strings.TrimSpace(secret)
}

// callTraced calls a tool of MCP with the traceparent of the caller in its _meta.
func (s *server) callTraced(tool, arguments string) {
	s.t.Helper()
	c := &httpClient{s: s, header: map[string]string{}}
	answer := c.do(s.t.Context(), "POST", s.url+"/mcp", initializing)
	_ = answer.Body.Close()
	c.header["Mcp-Session-Id"] = answer.Header.Get("Mcp-Session-Id")
	c.post(s.t.Context(), s.url+"/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call",
		"params":{"name":%q,"arguments":%s,"_meta":{"traceparent":%q}}}`,
		tool, arguments, traceparent))
}

// A trace of a call of MCP has the call, the wait, the run, each operation, each connection and
// what was asked of the database, below the span of the caller.
func TestTraceOfACall(t *testing.T) {
	t.Parallel() // it waits for browsers
	const tag = "private-value"
	for name, place := range map[string]func(*testing.T) *rote{"sqlite": newRote, "postgres": newPostgresRote} {
		t.Run(name, func(t *testing.T) {
			c, r := newCollector(t), place(t)
			c.traced(r)
			s := r.serve("--allowed-host", "*")
			s.ownToken()
			s.made(visit)
			s.callTraced("visit", fmt.Sprintf(`{"site": %q, "tag": %q}`, s.shop, tag))
			const call = spanOfCaller + " > tools/call visit"
			want := []string{
				call,
				call + " > run visit",
				call + " > run visit > operation navigate",
				call + " > run visit > operation navigate > egress 127.0.0.1 allowed",
				call + " > run visit > operation return_html",
				call + " > run visit > queue",
				call + " > run visit > store FinishExecution",
				call + " > store CreateExecution",
			}
			got := c.tree(t, traceOfCaller, "tools/call visit", "operation return_html", "egress")
			got = slices.DeleteFunc(got, func(line string) bool { return !slices.Contains(want, line) && strings.Contains(line, "> store ") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if log := s.log.String(); !strings.Contains(log, `"trace_id":"`+traceOfCaller+`"`) {
				t.Errorf("no line of the log has the id of the trace:\n%s", log)
			}

			const other = "1af7651916cd43dd8448eb211c80319c"
			id := s.made(strings.Replace(visit, `"visit"`, `"refused"`, 1))
			_, _, err := s.try("POST", "/routines/"+id+"/execute", fmt.Sprintf(`{"parameters": {"site": "http://127.0.0.1:40001", "tag": %q}}`, tag),
				"traceparent", "00-"+other+"-"+spanOfCaller+"-01")
			if err != nil {
				t.Fatal(err)
			}
			const post = "POST /routines/{routine_id}/execute"
			got = c.tree(t, other, post, "run refused", "egress")
			for _, line := range []string{spanOfCaller + " > " + post + " [egress_denied]",
				spanOfCaller + " > " + post + " > run refused > operation navigate > egress 127.0.0.1 denied [egress_denied]"} {
				if !slices.Contains(got, line) {
					t.Errorf("there is no %q in\n%s", line, strings.Join(got, "\n"))
				}
			}
			c.wantPrivate(t, tag, s.token, postgresPassword)
		})
	}
}

// wantPrivate fails the test if the spans have one of the texts, or are of another service.
func (c *collector) wantPrivate(t *testing.T, texts ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range texts {
		if strings.Contains(c.raw.String(), text) {
			t.Errorf("%q is in the spans", text)
		}
	}
	for _, service := range c.services {
		if service != "rote "+version() {
			t.Errorf("the spans are of %q", service)
		}
	}
}

// The run of an asynchronous call is below its caller, although another process does it.
func TestTraceReachesWorkers(t *testing.T) {
	t.Parallel() // it waits for browsers
	c := newCollector(t)
	r := newPostgresRote(t)
	c.traced(r)
	front := r.serve("--async", "0")
	front.ownToken()
	r.worker("--concurrency", "1")
	path := "/routines/" + front.made(visit) + "/execute"
	status, answer, err := front.try("POST", path, fmt.Sprintf(`{"parameters": {"site": %q, "tag": "private-value"}}`, r.shop),
		"Prefer", "respond-async", "traceparent", traceparent)
	if err != nil || status != 202 {
		t.Fatal(status, answer, err)
	}
	front.awaitStatus("/executions/"+answer["execution_id"].(string), "completed")
	const post = spanOfCaller + " > POST /routines/{routine_id}/execute"
	got := c.tree(t, traceOfCaller, "POST /routines/{routine_id}/execute", "run visit", "operation return_html", "queue")
	for _, line := range []string{post + " > store CreateExecution", post + " > run visit > queue", post + " > run visit > operation navigate",
		post + " > run visit > store FinishExecution"} {
		if !slices.Contains(got, line) {
			t.Errorf("there is no %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
	c.wantPrivate(t, "private-value", front.token)
}
