package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// newWorkers starts a server that runs nothing itself, for workers.
func newWorkers(t *testing.T, args ...string) (*rote, *server) {
	t.Helper()
	r := newPostgresRote(t)
	r.life = 20 * testTime // in a test of many runs
	secret, errs, code := r.run("token", "create")
	if code != 0 {
		t.Fatal(errs)
	}
	front := r.serve(append([]string{"--async", "0"}, args...)...)
	front.token = strings.TrimSpace(secret)
	return r, front
}

// get returns the status and the text of a path.
func (s *server) get(path string) (int, string) {
	s.t.Helper()
	answer, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// A worker does the asynchronous runs of others. When it is stopped, it ends what it runs
// after the drain time, and leaves queued runs to the next one.
func TestWorker(t *testing.T) {
	t.Parallel() // it waits for limits
	r, front := newWorkers(t)
	path := "/routines/" + front.made(endless)
	status, queued := front.async(path, `{"parameters": {"site": "`+front.shop+`"}}`)
	if status != 202 || queued["status"] != "pending" {
		t.Fatalf("%d %v", status, queued)
	}
	cancelled := "/executions/" + queued["execution_id"].(string)
	if status, answer := front.call("POST", cancelled+"/cancel", ""); status != 200 || answer["error_code"] != "cancelled" || answer["started_at"] != nil {
		t.Errorf("cancel of a queued run: %d %v", status, answer)
	}

	first := r.worker("--concurrency", "1", "--drain-time", "1s")
	running := front.startEndless(path)
	quick := "/routines/" + front.made(visit)
	_, queued = front.async(quick, `{"parameters": {"site": "`+front.shop+`", "tag": "t"}}`)
	waiting := "/executions/" + queued["execution_id"].(string)
	first.awaitStatus("/readyz", "ready") // the run may be there before its browser is
	for path, want := range map[string]string{"/healthz": `"ok"`, "/readyz": `"ready"`, "/metrics": `rote_jobs_waiting{kind="run"} 1`,
		"/routines": "a worker has /healthz"} {
		if status, text := first.get(path); !strings.Contains(text, want) || (status == 200) != (path != "/routines") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	first.stop(syscall.SIGTERM)
	if e := front.awaitStatus(running, "failed"); e["error_code"] != "interrupted" {
		t.Errorf("%v", e)
	}
	if _, e := front.call("GET", waiting, ""); e["status"] != "pending" {
		t.Errorf("the queued run after its worker stopped: %v", e)
	}
	second := r.worker("--concurrency", "1")
	front.awaitStatus(waiting, "completed")
	waitFor(t, "the job to be counted", func() bool {
		_, text := second.get("/metrics")
		return strings.Contains(text, `rote_jobs_total{kind="run",outcome="done"} 1`) && strings.Contains(text, "rote_job_wait_seconds_count 1")
	})
	wantPrivate(t, fmt.Sprint(first.log, second.log))
}

// sink counts requests by their tag.
type sink struct {
	mu     sync.Mutex
	counts map[string]int
}

func (s *sink) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if tag := q.URL.Query().Get("tag"); tag != "" {
		s.mu.Lock()
		s.counts[tag]++
		s.mu.Unlock()
	}
	fmt.Fprint(w, `{"ok": true}`)
}

func (s *sink) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.counts)
}

const order = `{"name": "order", "description": "Makes one request.", "parameters": [
	{"name": "site", "type": "url", "description": "Where"}, {"name": "tag", "type": "string", "description": "Which call"}],
	"operations": [{"type": "fetch", "endpoint": {"url": "{{site}}/order?tag={{tag}}", "method": "POST"}}]}`

// Workers are killed again and again, each time one of them, while they do queued runs.
// Each run happens at most once, and ends; only those that a killed worker had are lost.
func TestKilledWorkers(t *testing.T) {
	t.Parallel() // it waits for the dead
	const places = 2
	runs, workers, kills := 60, 2, 3
	full := os.Getenv("ROTE_TEST_CRASHES") != ""
	if full {
		runs, workers, kills = 200*crashRounds(t), 3, 6*crashRounds(t)
	}
	s := &sink{counts: map[string]int{}}
	site := httptest.NewServer(s)
	defer site.Close()
	r, front := newWorkers(t, "--queue", fmt.Sprint(2*runs))
	allow := strings.TrimPrefix(site.URL, "http://")
	start := func() *server { return r.worker("--concurrency", fmt.Sprint(places), "--allow-host", allow) }
	path := "/routines/" + front.made(order)
	for i := range runs {
		if status, answer := front.async(path, fmt.Sprintf(`{"parameters": {"site": %q, "tag": "t%d"}}`, site.URL, i)); status != 202 {
			t.Fatalf("%d %v", status, answer)
		}
	}
	var all []*server
	for range workers {
		all = append(all, start())
	}
	killed := 0
	every := time.NewTicker(2 * time.Second)
	defer every.Stop()
	for ; killed < kills && s.total() < runs-runs/10; killed++ {
		if full {
			<-every.C
		} else {
			target := (killed + 1) * runs / 5
			waitFor(t, "runs", func() bool { return s.total() >= target })
		}
		victim := killed % len(all)
		all[victim].stop(syscall.SIGKILL)
		all[victim] = start()
	}
	for s.total() < runs-killed*places { // as long as there is progress
		before := s.total()
		waitFor(t, "more runs", func() bool { return s.total() > before })
	}
	ended := map[string]int{}
	for _, status := range []string{"pending", "running", "completed", "failed"} {
		count := func() int {
			_, list := front.call("GET", "/executions?limit=1&status="+status, "")
			return int(list["total"].(float64))
		}
		if status == "pending" || status == "running" {
			waitFor(t, status+" runs to end", func() bool { return count() == 0 })
		}
		ended[status] = count()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, n := range s.counts {
		if n != 1 {
			t.Errorf("%s was run %d times", tag, n)
		}
	}
	t.Logf("%d kills, %d requests, %v", killed, len(s.counts), ended)
	if killed == 0 || ended["completed"]+ended["failed"] != runs || ended["failed"] > killed*places || len(s.counts) < ended["completed"] {
		t.Errorf("%d kills of workers with %d places, %d requests: %v", killed, places, len(s.counts), ended)
	}
	for _, w := range all {
		w.stop(os.Interrupt)
	}
	front.stop(os.Interrupt)
	profiles(t, r.home) // of those that were killed: old enough for the next to sweep
	r.serve().stop(os.Interrupt)
}
