package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// Limits of a trace: the entries of each list, and the length of an entry in bytes. A
// data: URL alone can have megabytes.
const (
	maxTraced       = 20
	maxTracedAsked  = 60
	maxTracedLength = 16 << 10
)

// trace keeps the latest events of a page that may explain a failure. They are decoded
// only when read is called, so that successful runs do not pay for it.
type trace struct {
	mu      sync.Mutex
	console []consoleEvent    // latest last
	asked   []json.RawMessage // Network.requestWillBeSent
	failed  []routine.FailedRequest
}

// consoleEvent is an event of the page's console, not yet decoded.
type consoleEvent struct {
	method string
	params json.RawMessage
}

// note records an event. It runs on the reading goroutine.
func (t *trace) note(method string, params json.RawMessage) {
	if len(params) > maxTracedLength {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch method {
	case "Network.requestWillBeSent":
		t.asked = latest(t.asked, params, maxTracedAsked)
	case "Network.loadingFailed":
		if e, ok := cdp.Decode[proto.NetworkLoadingFailed](params); ok && !e.Canceled {
			t.fail(string(e.RequestID), routine.FailedRequest{Error: strings.TrimPrefix(e.ErrorText, "net::")})
		}
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		t.console = latest(t.console, consoleEvent{method, params}, maxTraced)
	}
}

// refused records a response whose status says that the request failed.
func (t *trace) refused(id, url string, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fail(id, routine.FailedRequest{URL: url, Status: status})
}

// forget deletes all recorded events.
func (t *trace) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.console, t.asked, t.failed = nil, nil, nil
}

// fail records a failed request, with its method and URL if they are still known. t.mu is
// held.
func (t *trace) fail(id string, f routine.FailedRequest) {
	for _, params := range t.asked {
		if !bytes.Contains(params, []byte(`"requestId":"`+id+`"`)) {
			continue
		}
		if e, ok := cdp.Decode[proto.NetworkRequestWillBeSent](params); ok && e.Request != nil {
			f.Method, f.URL = e.Request.Method, e.Request.URL
		}
	}
	if f.URL != "" {
		t.failed = latest(t.failed, f, maxTraced)
	}
}

// latest appends to a list and keeps its last n entries.
func latest[T any](list []T, item T, n int) []T {
	if len(list) < n {
		return append(list, item)
	}
	copy(list, list[1:])
	list[n-1] = item
	return list
}

// read returns the lines of the console and the failed requests, latest last. Exceptions
// of the script are given with their place in it.
func (t *trace) read(script scriptSource) (console []string, failed []routine.FailedRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	console = []string{}
	for _, m := range t.console {
		if line, ok := consoleLine(m, script); ok {
			console = append(console, line)
		}
	}
	return console, append([]routine.FailedRequest{}, t.failed...)
}

// errorsSince returns the errors of the console since a time, oldest first.
func (t *trace) errorsSince(since time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, m := range t.console {
		e, ok := cdp.Decode[struct {
			Type proto.RuntimeConsoleAPICalledType `json:"type"`
			// Timestamp is in milliseconds since 1970.
			Timestamp float64 `json:"timestamp"`
		}](m.params)
		if !ok || e.Timestamp < float64(since.UnixMicro())/1000 || m.method == "Runtime.consoleAPICalled" && e.Type != proto.RuntimeConsoleAPICalledTypeError {
			continue
		}
		if line, ok := consoleLine(m, scriptSource{}); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

func consoleLine(m consoleEvent, script scriptSource) (string, bool) {
	if m.method == "Runtime.exceptionThrown" {
		e, ok := cdp.Decode[struct {
			Details *cdp.ExceptionDetails `json:"exceptionDetails"`
		}](m.params)
		if !ok || e.Details == nil {
			return "", false
		}
		text := "exception: " + strings.TrimSpace(e.Details.Text+" "+exceptionText(*e.Details))
		if by := script.place(*e.Details); by.place.Line > 0 {
			return text + by.String(), true
		}
		return fmt.Sprintf("%s (line %d)", text, e.Details.Line+1), true
	}
	e, ok := cdp.Decode[proto.RuntimeConsoleAPICalled](m.params)
	return lineOf(&e), ok
}
