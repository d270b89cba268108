package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine/routinetest/seeded"
)

const (
	visit = `{"name": "visit", "description": "Visits a page.", "parameters": [
		{"name": "site", "type": "url", "description": "Where"}, {"name": "tag", "type": "string", "description": "Which call"}],
		"operations": [{"type": "navigate", "url": "{{site}}/?tag={{tag}}"}, {"type": "return_html"}]}`
	note = `{"name": %q, "description": "Says nothing.", "operations": [{"type": "return_html"}]}`
)

// load makes calls of every kind of change against servers that share a
// database, and keeps what was acknowledged. A call whose answer did not come
// may have been done or not: it is made again under its key.
type load struct {
	t       *testing.T
	random  *rand.Rand
	shop    string
	servers []atomic.Pointer[server]
	visited string // the routine that is run
	patched string // the routine that is changed

	calls, acks atomic.Int64
	acked       chan struct{} // told of acknowledgements
	// mustAnswer makes it an error if a server does not answer that is not draining.
	mustAnswer bool
	draining   sync.Map     // servers, from before they are told to stop
	drained    atomic.Int64 // calls that these did not do

	mu       sync.Mutex
	created  map[string]string // routine id by key; empty: not known yet
	started  map[string]string // execution id by key; empty: not known yet
	ended    map[string]string // final status by execution id
	versions map[int]string    // description by acknowledged version
}

func newLoad(r *rote, servers ...*server) *load {
	l := &load{acked: make(chan struct{}, 1), t: r.t, random: seeded.Rand(r.t), shop: r.shop, servers: make([]atomic.Pointer[server], len(servers)),
		created: map[string]string{}, started: map[string]string{}, ended: map[string]string{}, versions: map[int]string{}}
	for i, s := range servers {
		l.servers[i].Store(s)
	}
	l.visited = servers[0].made(visit)
	l.patched = servers[0].made(fmt.Sprintf(note, "patched"))
	return l
}

// made creates a routine and returns its id.
func (s *server) made(text string) string {
	s.t.Helper()
	status, answer := s.call("POST", "/routines/", text)
	if status != 201 {
		s.t.Fatalf("%d %v", status, answer)
	}
	return answer["id"].(string)
}

// run makes calls by some workers until ctx ends, and returns when all of them
// were answered.
func (l *load) run(ctx context.Context, workers int) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for ctx.Err() == nil {
				switch n := l.random.IntN(10); {
				case n < 4:
					l.create(l.key())
				case n < 7:
					l.patch()
				case n < 8:
					l.execute(l.key(), false)
				case n < 9:
					l.execute(l.key(), true)
				default:
					l.cancel()
				}
			}
		})
	}
	all.Wait()
}

func (l *load) key() string { return fmt.Sprintf("k%d", l.calls.Add(1)) }

// try calls any of the servers. False: no answer came, or the server is stopping.
func (l *load) try(method, path, body string, headers ...string) (int, map[string]any, bool) {
	s := l.servers[l.random.IntN(len(l.servers))].Load()
	status, answer, err := s.try(method, path, body, headers...)
	if _, draining := l.draining.Load(s); err != nil || draining && answer["code"] == "shutting_down" {
		if draining {
			l.drained.Add(1)
		} else if l.mustAnswer {
			l.t.Errorf("%s %s: %v", method, path, err)
		}
		return 0, nil, false
	}
	if text := fmt.Sprint(answer); strings.Contains(text, "locked") || status == 503 && answer["code"] != "busy" {
		l.t.Errorf("%s %s: %d %s", method, path, status, text)
	}
	return status, answer, true
}

// note keeps an acknowledgement, and finds those that contradict each other.
func (l *load) note(kind string, acknowledged map[string]string, key, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := acknowledged[key]; before != "" && before != value {
		l.t.Errorf("%s %s was %s and is %s", kind, key, before, value)
	}
	acknowledged[key] = value
	if value != "" {
		l.tellAck()
	}
}

func (l *load) tellAck() {
	l.acks.Add(1)
	select {
	case l.acked <- struct{}{}:
	default:
	}
}

func (l *load) create(key string) {
	status, answer, ok := l.try("POST", "/routines/", fmt.Sprintf(note, key), "Idempotency-Key", key)
	switch {
	case !ok:
		l.note("routine of", l.created, key, "")
	case status != 201:
		l.t.Errorf("create: %d %v", status, answer)
	default:
		l.note("routine of", l.created, key, answer["id"].(string))
	}
}

func (l *load) patch() {
	status, answer, ok := l.try("GET", "/routines/"+l.patched, "")
	if !ok || status != 200 {
		return
	}
	version, tag := int(answer["version"].(float64)), l.key()
	status, answer, ok = l.try("PATCH", "/routines/"+l.patched, `{"description": "`+tag+`"}`, "If-Match", strconv.Quote(strconv.Itoa(version)))
	switch {
	case !ok || status == http.StatusPreconditionFailed:
	case status != 200 || int(answer["version"].(float64)) != version+1:
		l.t.Errorf("patch of version %d: %d %v", version, status, answer)
	default:
		l.mu.Lock()
		if before := l.versions[version+1]; before != "" {
			l.t.Errorf("version %d was acknowledged to %s and to %s", version+1, before, tag)
		}
		l.versions[version+1] = tag
		l.mu.Unlock()
		l.tellAck()
	}
}

func (l *load) execute(key string, async bool) {
	headers := []string{"Idempotency-Key", key}
	if async {
		headers = append(headers, "Prefer", "respond-async")
	}
	status, answer, ok := l.try("POST", "/routines/"+l.visited+"/execute", fmt.Sprintf(`{"parameters": {"site": %q, "tag": %q}}`, l.shop, key), headers...)
	if failed, is := answer["execution"].(map[string]any); is {
		answer = failed
	}
	id, _ := answer["execution_id"].(string)
	switch {
	case !ok:
		l.note("execution of", l.started, key, "")
	case status == 503, status == 409: // not now
	case id == "":
		l.t.Errorf("execute: %d %v", status, answer)
	default:
		l.note("execution of", l.started, key, id)
		if status != 202 {
			l.note("end of", l.ended, id, answer["status"].(string))
		}
	}
}

// cancel cancels any execution.
func (l *load) cancel() {
	l.mu.Lock()
	id := ""
	for _, id = range l.started {
		break
	}
	l.mu.Unlock()
	if id == "" {
		return
	}
	status, answer, ok := l.try("POST", "/executions/"+id+"/cancel", "")
	switch {
	case !ok:
	case status != 200:
		l.t.Errorf("cancel: %d %v", status, answer)
	case answer["status"] == "completed" || answer["status"] == "failed":
		l.note("end of", l.ended, id, answer["status"].(string))
	}
}

// unknown are the keys of calls whose answers did not come.
func (l *load) unknown(acknowledged map[string]string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []string
	for key, id := range acknowledged {
		if id == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// known are the keys of calls that were acknowledged.
func (l *load) known(acknowledged map[string]string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(acknowledged))
}

// settle waits until no execution is open, and makes the calls again whose answers did not come.
// A server may have no room for one now, or still do the first call.
func (l *load) settle() {
	l.t.Helper()
	deadline := time.Now().Add(2 * testTime)
	for {
		open := l.total("/executions?status=pending") + l.total("/executions?status=running")
		created, started := l.unknown(l.created), l.unknown(l.started)
		if open == 0 && len(created)+len(started) == 0 {
			return
		}
		if time.Now().After(deadline) {
			_, pending := l.servers[0].Load().call("GET", "/executions?status=pending", "")
			_, running := l.servers[0].Load().call("GET", "/executions?status=running", "")
			l.t.Fatalf("%d executions are still open: %v %v; the calls %v and %v were not answered", open, pending, running, created, started)
		}
		if open > 0 {
			continue
		}
		for _, key := range created {
			l.create(key)
		}
		for _, key := range started {
			l.execute(key, true)
		}
	}
}

func (l *load) total(path string) int {
	l.t.Helper()
	status, answer := l.servers[0].Load().call("GET", path, "")
	if status != 200 {
		l.t.Fatalf("%s: %d %v", path, status, answer)
	}
	return int(answer["total"].(float64))
}

// check holds what is there against what was acknowledged.
func (l *load) check() {
	l.t.Helper()
	s := l.servers[0].Load()
	for key, id := range l.created {
		if status, answer := s.call("GET", "/routines/"+id, ""); status != 200 || answer["name"] != key {
			l.t.Errorf("routine of %s: %d %v", key, status, answer)
		}
	}
	if n := l.total("/routines/"); n != len(l.created)+2 {
		l.t.Errorf("%d routines, %d were acknowledged", n, len(l.created)+2)
	}
	for key, id := range l.started {
		status, answer := s.call("GET", "/executions/"+id, "")
		parameters, _ := answer["parameters"].(map[string]any)
		if want := l.ended[id]; status != 200 || parameters["tag"] != key || want != "" && answer["status"] != want {
			l.t.Errorf("execution of %s, %s: %d %v", key, want, status, answer)
		}
	}
	if l.total("/executions?status=completed") == 0 {
		l.t.Error("no run completed: the servers have no browser")
	}
	_, answer := s.call("GET", "/routines/"+l.patched, "")
	if n := l.total("/routines/" + l.patched + "/versions"); float64(n) != answer["version"].(float64) {
		l.t.Errorf("%d versions, the last is %v", n, answer["version"])
	}
	for n, description := range l.versions {
		_, version := s.call("GET", fmt.Sprintf("/routines/%s/versions/%d", l.patched, n), "")
		if kept, _ := version["routine"].(map[string]any); kept["description"] != description {
			l.t.Errorf("version %d is %v, acknowledged was %s", n, version, description)
		}
	}
}
