package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// searchBody asks the demo's search_products for lamps of the practice shop.
func (s *server) searchBody(extra string) string {
	return `{"parameters": {"query": "LAMP", "max_price": 30, "site": "` + s.shop + `"}` + extra + `}`
}

// stored stores an example and returns its path.
func (s *server) stored(name string) string {
	s.t.Helper()
	text, err := example(name)
	if err != nil {
		s.t.Fatal(err)
	}
	status, answer := s.call("POST", "/routines/", string(text))
	if status != 201 {
		s.t.Fatalf("%d %v", status, answer)
	}
	return "/routines/" + answer["id"].(string)
}

// A run that is asked for with a callback tells its receiver of its end, signed
// with the secret that the program shows.
func TestWebhook(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	type delivery struct {
		header http.Header
		body   string
	}
	got := make(chan delivery, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		got <- delivery{q.Header, string(body)}
	}))
	defer receiver.Close()
	s := r.serve("--allow-host", strings.TrimPrefix(receiver.URL, "http://"), "--allow-host", strings.TrimPrefix(r.shop, "http://"))
	path := s.stored("search_products")
	for _, url := range []string{"http://127.0.0.1:1/", "http://169.254.169.254/"} {
		if status, answer := s.async(path, s.searchBody(`, "callback_url": "`+url+`"`)); status != 400 || !strings.Contains(answer["detail"].(string), "egress policy") {
			t.Errorf("%s: %d %v", url, status, answer)
		}
	}
	if status, answer := s.call("POST", path+"/execute", s.searchBody(`, "callback_url": "`+receiver.URL+`"`)); status != 400 || !strings.Contains(answer["detail"].(string), "respond-async") {
		t.Errorf("without Prefer: %d %v", status, answer)
	}
	status, answer := s.async(path, s.searchBody(`, "callback_url": "`+receiver.URL+`/hook"`))
	if status != 202 {
		t.Fatalf("%d %v", status, answer)
	}
	d := <-got
	if !strings.HasPrefix(d.body, `{"type":"execution.completed"`) || !strings.Contains(d.body, answer["execution_id"].(string)) || strings.Contains(d.body, "result") {
		t.Errorf("delivered: %s", d.body)
	}
	if !strings.HasPrefix(d.header.Get("Webhook-Signature"), "v1,") || !strings.HasPrefix(d.header.Get("Webhook-Id"), "msg_") || d.header.Get("Webhook-Timestamp") == "" {
		t.Errorf("headers: %v", d.header)
	}
	first, errs, code := r.run("webhook", "secret")
	again, _, _ := r.run("webhook", "secret")
	other, _, _ := r.run("webhook", "secret", "--organization", "other")
	if code != 0 || !strings.HasPrefix(first, "whsec_") || first != again || other == first {
		t.Errorf("exit %d: %s%s%s%s", code, first, again, other, errs)
	}
}

// async asks for a run without waiting for it.
func (s *server) async(path, body string) (int, map[string]any) {
	s.t.Helper()
	status, answer, err := s.try("POST", path+"/execute", body, "Prefer", "respond-async")
	if err != nil {
		s.t.Fatal(err)
	}
	return status, answer
}

// Two servers are one, on either database: a run is cancelled and watched through the one
// that does not have it, and agents of one learn of a tool that was made through the other.
func TestServersShareExecutions(t *testing.T) {
	t.Parallel()
	for name, newRote := range map[string]func(*testing.T) *rote{"SQLite": newRote, "Postgres": newPostgresRote} {
		t.Run(name, func(t *testing.T) {
			r := newRote(t)
			has, other := r.serve(), r.serve()
			if has.token == "" { // Postgres
				has.token = r.newToken()
			}
			other.token = has.token
			changes := other.changes()
			status, answer := has.async("/routines/"+has.made(endless), `{"parameters": {"site": "`+r.shop+`"}}`)
			if status != 202 {
				t.Fatalf("%d %v", status, answer)
			}
			path := "/executions/" + answer["execution_id"].(string)
			events := other.events(path)
			events.wait(t, func(text string) string { return found(text, `"status":"running"`) })
			begin := time.Now()
			if status, answer := other.call("POST", path+"/cancel", ""); status != 200 || answer["error_code"] != "cancelled" {
				t.Errorf("%d %v", status, answer)
			}
			// It is to take 2 s at most; this machine may have much else to do.
			took := time.Since(begin)
			t.Logf("cancelled after %v", took)
			if took > testTime/2 {
				t.Errorf("cancelled after %v", took)
			}
			events.wait(t, func(text string) string { return found(text, `"error_code":"cancelled"`) })

			begin = time.Now()
			has.stored("page_text")
			changes.wait(t, func(text string) string { return found(text, "notifications/tools/list_changed") })
			t.Logf("a tool was announced after %v", time.Since(begin))
		})
	}
}

func found(text, part string) string {
	if strings.Contains(text, part) {
		return part
	}
	return ""
}

// events reads a stream of events as it comes.
func (s *server) events(path string) *output {
	s.t.Helper()
	q, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+path+"/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.stream(q)
}

// changes reads what an agent is told about changes of the tools, from now on.
func (s *server) changes() *output {
	s.t.Helper()
	q, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/mcp", strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
		"params": {"notifications": {"toolsListChanged": true}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": {}}}}`))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
		q.Header.Set(name, value)
	}
	return s.stream(q)
}

// stream reads an endless response as it comes.
func (s *server) stream(q *http.Request) *output {
	s.t.Helper()
	q.Header.Set("X-Service-Token", s.token)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	o := &output{more: make(chan struct{}, 1)}
	go func() {
		defer r.Body.Close()
		_, _ = io.Copy(o, r.Body) // until the stream ends or the test does
	}()
	return o
}

func TestBackup(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve()
	path := s.stored("page_text")
	to := filepath.Join(r.home, "copy.db")
	if out, errs, code := r.run("backup", to); code != 0 || out != "" || !strings.Contains(errs, "sound copy") {
		t.Fatalf("exit %d %s%s", code, out, errs)
	}
	if _, errs, code := r.run("backup", to); code != 1 || !strings.Contains(errs, "there already") {
		t.Errorf("a second time: exit %d %s", code, errs)
	}
	token := s.token
	s.stop(os.Interrupt)
	restored := r.serve("--db", to)
	restored.token = token
	if status, answer := restored.call("GET", path, ""); status != 200 || answer["name"] != "page_text" {
		t.Errorf("restored: %d %v", status, answer)
	}
}
