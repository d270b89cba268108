package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine/routinetest/optional"
	"rote/routine/service"
)

const hostileSize = 31 << 20

// hostileBodies are what /PATH of the hostile site answers: a text of the full
// size that repeats the unit.
var hostileBodies = map[string]struct{ contentType, unit string }{
	"brackets": {"text/html", "["},
	"emphasis": {"text/html", "*_[<b>"},
	"objects":  {"application/json", "{},"},
	"records":  {"application/json", `{"b":"123456789","a":[],"c":1.25},`},
	"bytes":    {"application/octet-stream", "0123456789abcdef"},
	"text":     {"text/html", "<p>a line of text and some more"},
}

// hostileRuns are the most expensive operations of routines, by the resource
// that they use. They begin on an empty page of the hostile site. slower is how
// many times as long calls of another organization may take meanwhile. It is
// higher for results, because the value of a script leaves its page as one
// message, which delays the messages of other runs.
var hostileRuns = []struct {
	name   string
	slower float64
	runs   []string
}{
	{"sanitizers", 3, []string{
		sanitized("brackets", `{"type":"truncate","max_chars":4000000},{"type":"html_to_markdown"}`),
		sanitized("emphasis", `{"type":"truncate","max_chars":4000000},{"type":"html_to_markdown"}`),
		sanitized("objects", `{"type":"json_path","path":"$[0]"}`),
		sanitized("records", `{"type":"drop","paths":["$[*].a"]}`),
	}},
	{"results", 6, []string{
		sanitized("bytes", ``),
		`{"type": "download", "endpoint": {"url": "/bytes"}, "filename": "a.bin"}`,
		`{"type": "navigate", "url": "SITE/text"}, {"type": "return_html", "timeout_ms": 60000}`,
		`{"type": "js_evaluate", "js": "(() => 'xy'.repeat(15 << 20))()", "session_storage_key": "k", "timeout_seconds": 10},
			{"type": "return", "session_storage_key": "k"}`,
	}},
	{"scripts", 3, []string{
		`{"type": "js_evaluate", "js": "(() => { for (;;) {} })()", "timeout_seconds": 10}`,
		`{"type": "js_evaluate", "js": "(() => { for (;;) document.body.append(new Date()) })()", "timeout_seconds": 10}`,
		`{"type": "navigate", "url": "SITE/busy"}, {"type": "return_html", "timeout_ms": 10000}`,
		`{"type": "navigate", "url": "SITE/restless"}, {"type": "sleep", "timeout_seconds": 10}`,
	}},
}

// sanitized are operations that fetch one of hostileBodies and return it.
func sanitized(path, sanitizer string) string {
	return fmt.Sprintf(`{"type": "fetch", "endpoint": {"url": "/%s"}, "session_storage_key": "k", "data_sanitizer": [%s]},
		{"type": "return", "session_storage_key": "k"}`, path, sanitizer)
}

// Eight hostile runs of the full size at once leave the process below 700 MiB,
// end within their limit, and another organization's calls take little longer than
// before and afterwards.
func TestHostileRunsLeaveRoom(t *testing.T) {
	optional.FullSize(t)
	site := hostileSite(t)
	for _, row := range hostileRuns {
		t.Run(row.name, func(t *testing.T) { hostileRunsLeaveRoom(t, site, row.runs, row.slower) })
	}
}

func hostileRunsLeaveRoom(t *testing.T, site string, runs []string, slower float64) {
	leavesRoom(t, slower, func(s *server) []func() {
		var calls []func()
		for i := range 8 {
			operations := strings.ReplaceAll(runs[i%len(runs)], "SITE", site)
			id := s.made(fmt.Sprintf(`{"name": "hostile %d", "description": "d", "operations": [{"type": "navigate", "url": "%s/"}, %s]}`, i, site, operations))
			calls = append(calls, func() {
				began := time.Now()
				status, answer := s.call("POST", "/routines/"+id+"/execute", `{"parameters": {}, "timeout_seconds": 60}`)
				if took := time.Since(began); took > 70*time.Second {
					t.Errorf("run %d took %v", i, took)
				}
				t.Logf("%.100s: %d after %v: %.200s", operations, status, time.Since(began), fmt.Sprint(answer["detail"]))
			})
		}
		return calls
	})
}

// Callers without a token who let large routines be checked and listed, twenty at
// a time, leave the process below 700 MiB, and another organization's calls take
// less than three times as long as before and afterwards.
func TestAnonymousFloodsLeaveRoom(t *testing.T) {
	optional.FullSize(t)
	const floodTime = 15 * time.Second
	leavesRoom(t, 3, func(s *server) []func() {
		for i := range 20 {
			s.made(largePublic(fmt.Sprintf("large %d", i), 2<<20))
		}
		anonymous := *s
		anonymous.token = ""
		definition := largePublic("checked", service.MaxAnonymousBody-1<<10)
		var calls []func()
		for i := range 20 {
			method, path, body := "POST", "/routines/validate_routine_json", definition
			if i%5 == 0 {
				method, path, body = "GET", "/routines/?limit=100", ""
			}
			calls = append(calls, func() {
				answered := map[int]int{}
				for end := time.Now().Add(floodTime); time.Now().Before(end); {
					status, _, err := anonymous.try(method, path, body)
					if err != nil {
						t.Error(err)
						return
					}
					answered[status]++
				}
				t.Logf("%s %s: answered %v", method, path, answered)
				if answered[200] == 0 {
					t.Errorf("%s %s was never answered with 200", method, path)
				}
			})
		}
		return calls
	})
}

// largePublic is a public routine of about size bytes that takes long to check.
func largePublic(name string, size int) string {
	const value = `"a value that is long enough %07d", `
	var enum strings.Builder
	for i := 0; enum.Len() < size; i++ {
		fmt.Fprintf(&enum, value, i)
	}
	return fmt.Sprintf(`{"name": %q, "description": "d", "is_public": true, "parameters": [{"name": "p", "type": "enum", "description": "d",
		"enum_values": [%s]}], "operations": [{"type": "navigate", "url": "https://example.com/{{p}}"}]}`, name, strings.TrimSuffix(enum.String(), ", "))
}

// leavesRoom fails unless, while the hostile calls of one organization are
// running, the process stays below 700 MiB and another organization's calls take
// less than slower times as long as before and afterwards. hostile prepares the
// calls.
func leavesRoom(t *testing.T, slower float64, hostile func(*server) []func()) {
	r := newRote(t)
	r.life = 10 * time.Minute
	s := r.serve("--allow-host", "127.0.0.0/8", "--concurrency", "10")
	token, errs, code := r.run("token", "create", "--organization", "other")
	if code != 0 {
		t.Fatal(errs)
	}
	other := *s
	other.token = strings.TrimSpace(token)
	five := other.made(`{"name": "five", "description": "Five steps.", "operations": [{"type": "navigate", "url": "` + r.shop + `/"},
		{"type": "input_text", "selector": "#q", "text": "lamp"}, {"type": "click", "selector": "#search"},
		{"type": "wait_for_url", "url_regex": "."}, {"type": "return_html", "scope": "element", "selector": "body"}]}`)
	call := func() time.Duration {
		began := time.Now()
		if status, answer := other.call("POST", "/routines/"+five+"/execute", `{"parameters": {}}`); status != 201 {
			t.Errorf("the other organization's call: %d %.300v", status, answer)
		}
		return time.Since(began)
	}
	calls := hostile(s)
	call() // starts the browser
	var idle, loaded []time.Duration
	const idleCalls = 15
	for range idleCalls {
		idle = append(idle, call())
	}

	var group sync.WaitGroup
	var running atomic.Int32
	running.Store(int32(len(calls)))
	for _, c := range calls {
		group.Go(func() {
			defer running.Add(-1)
			c()
		})
	}
	for running.Load() > 0 {
		loaded = append(loaded, call())
	}
	group.Wait()
	for range idleCalls {
		idle = append(idle, call())
	}
	peak := peakMemory(t, s.cmd.Process.Pid)
	slices.Sort(idle)
	slices.Sort(loaded)
	median := func(times []time.Duration) time.Duration { return times[len(times)/2] }
	ratio := float64(median(loaded)) / float64(median(idle))
	t.Logf("idle %v, beside %d hostile calls %v (%.1f times; %d calls, the longest took %v), peak %d MiB",
		median(idle), len(calls), median(loaded), ratio, len(loaded), loaded[len(loaded)-1], peak)
	if ratio >= slower {
		t.Errorf("the other organization's calls took %.1f times as long as idle, want less than %.0f", ratio, slower)
	}
	if peak >= 700 {
		t.Errorf("the process took %d MiB", peak)
	}
}

func hostileSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	page := func(path, html string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>t</title><body>"+html)
		})
	}
	page("/", "")
	page("/busy", `<script>onload = () => { for (;;) {} }</script>`)
	page("/restless", `<script>setInterval(() => { for (const end = Date.now() + 100; Date.now() < end;) document.body.append("x") })</script>`)
	for path, b := range hostileBodies {
		body := strings.Repeat(b.unit, hostileSize/len(b.unit))
		if b.contentType == "application/json" {
			body = "[" + strings.TrimSuffix(body, ",") + "]"
		}
		mux.HandleFunc("/"+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", b.contentType)
			fmt.Fprint(w, body)
		})
	}
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// peakMemory is the most memory that a process has had, in MiB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(after)
	if !found || len(fields) == 0 {
		t.Fatal("no VmHWM")
	}
	kib, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib / 1024
}
