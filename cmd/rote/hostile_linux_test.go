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
	"testing"
	"time"

	"rote/routine/routinetest/optional"
)

// hostilePages are answers of the full size that cost the most to work on, each
// with a step that does.
var hostilePages = []struct{ path, contentType, unit, sanitizer string }{
	{"/brackets", "text/html", "[", `{"type":"truncate","max_chars":4000000},{"type":"html_to_markdown"}`},
	{"/emphasis", "text/html", "*_[<b>", `{"type":"truncate","max_chars":4000000},{"type":"html_to_markdown"}`},
	{"/objects", "application/json", "{},", `{"type":"json_path","path":"$[0]"}`},
	{"/records", "application/json", `{"b":"123456789","a":[],"c":1.25},`, `{"type":"drop","paths":["$[*].a"]}`},
}

const hostileSize = 31 << 20

// Eight runs on hostile pages of the full size at once leave the process below
// 700 MiB, end within their limit, and do not fail another organization's calls.
// How much longer those take is only logged: eight renderers share the machine.
func TestHostileRunsLeaveRoom(t *testing.T) {
	optional.FullSize(t)
	site := hostileSite(t)
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
	median := func(n int) time.Duration {
		var times []time.Duration
		for range n {
			times = append(times, call())
		}
		slices.Sort(times)
		return times[n/2]
	}
	call() // starts the browser
	idle := median(9)

	var hostile sync.WaitGroup
	for i := range 8 {
		page := hostilePages[i%len(hostilePages)]
		id := s.made(fmt.Sprintf(`{"name": "hostile %d", "description": "d", "operations": [{"type": "navigate", "url": "%s/"},
			{"type": "fetch", "endpoint": {"url": "%s"}, "session_storage_key": "k", "data_sanitizer": [%s]}, {"type": "return", "session_storage_key": "k"}]}`, i, site, page.path, page.sanitizer))
		hostile.Go(func() {
			began := time.Now()
			status, answer := s.call("POST", "/routines/"+id+"/execute", `{"parameters": {}, "timeout_seconds": 60}`)
			if took := time.Since(began); took > 70*time.Second {
				t.Errorf("%s took %v", page.path, took)
			}
			t.Logf("%s: %d after %v: %.200s", page.path, status, time.Since(began), fmt.Sprint(answer["detail"]))
		})
	}
	loaded := median(9)
	hostile.Wait()
	peak := peakMemory(t, s.cmd.Process.Pid)
	t.Logf("idle %v, beside eight hostile runs %v (%.1f times), peak %d MiB", idle, loaded, float64(loaded)/float64(idle), peak)
	if peak >= 700 {
		t.Errorf("the process took %d MiB", peak)
	}
}

func hostileSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html><title>t</title>") })
	for _, page := range hostilePages {
		body := strings.Repeat(page.unit, hostileSize/len(page.unit))
		if page.contentType == "application/json" {
			body = "[" + strings.TrimSuffix(body, ",") + "]"
		}
		mux.HandleFunc(page.path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", page.contentType)
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
