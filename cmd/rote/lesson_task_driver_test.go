package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	sites "rote/cmd/rote/practice/teach"
)

// taskServer is a rote mcp with the practice sites, and all that it has answered.
type taskServer struct {
	*rote
	sites *sites.Sites
	port  string
	mcp   *client.Client
	log   *output

	mu      sync.Mutex
	answers bytes.Buffer
}

// newTaskServer starts the sites of a seed and a server with more flags that may reach them.
func newTaskServer(t *testing.T, seed uint64, flags ...string) *taskServer {
	t.Helper()
	s := &taskServer{rote: newRote(t), sites: sites.New(seed), log: &output{more: make(chan struct{}, 1)}}
	s.life = 5 * time.Minute
	server := httptest.NewServer(s.sites)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	_, s.port, _ = net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	args := append([]string{"mcp", "--lessons", "12", "--allow-host", "*.localhost:" + s.port}, flags...)
	for _, host := range []string{sites.Purchases, sites.SignIn, sites.Invoices} {
		args = append(args, "--secret", secretOf(host)+"@"+host+".localhost="+s.file(host+".secret", s.sites.Password(host)))
	}
	command := func(context.Context, string, []string, []string) (*exec.Cmd, error) { return s.command(args...), nil }
	c, err := client.NewStdioMCPClientWithOptions("rote", nil, nil, transport.WithCommandFunc(command), transport.WithCommandStderrWriter(s.log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		if t.Failed() {
			t.Logf("log:\n%s", s.log)
		}
	})
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "driver", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err, s.log)
	}
	s.mcp = c
	return s
}

// secretOf is the operator's name for the password of a host.
func secretOf(host string) string { return strings.ToUpper(host) + "_PASSWORD" }

// leaks are the passwords that an answer, the log or the database has, and the visitors'
// tokens that an answer has.
func (s *taskServer) leaks() (found []string) {
	s.mu.Lock()
	places := map[string][]byte{"an answer": bytes.Clone(s.answers.Bytes()), "the log": []byte(s.log.String())}
	s.mu.Unlock()
	files, _ := filepath.Glob(filepath.Join(s.home, ".local/share/rote/*"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			places[filepath.Base(f)] = text
		}
	}
	for place, text := range places {
		for _, host := range []string{sites.Purchases, sites.SignIn, sites.Invoices} {
			if bytes.Contains(text, []byte(s.sites.Password(host))) {
				found = append(found, "the password of "+host+" is in "+place)
			}
		}
		for _, token := range s.sites.Tokens() {
			// The database has what placeholders were filled with.
			if place == "an answer" && bytes.Contains(text, []byte(token)) {
				found = append(found, "a token of a visitor, "+token+", is in "+place)
			}
		}
	}
	if places["rote.db"] == nil {
		found = append(found, "there is no database")
	}
	return found
}

// driver does one task with the tools. Each call's text is all that it knows; it takes
// from one what a reader would copy: the selector at the end of a line, a number, a line of
// JSON.
type driver struct {
	*taskServer
	t      *testing.T
	lesson string
	// What its work cost, without the runs of the routine afterwards.
	calls, bytes, largest int
	started               time.Time
	note                  func(s *driver, task string)
	// graded counts the tried operations by the grade of their selector.
	graded  map[string]int
	seconds float64
	routine savedRoutine
}

type savedRoutine struct {
	ID      string
	Name    string
	Version int
	Status  string
}

// answer is what a tool answers.
type answer struct {
	text       string
	structured json.RawMessage
	failed     bool
}

func (s *driver) call(tool string, arguments map[string]any) answer {
	s.t.Helper()
	q := mcp.CallToolRequest{}
	q.Params.Name, q.Params.Arguments = tool, arguments
	r, err := s.mcp.CallTool(s.t.Context(), q)
	if err != nil {
		s.t.Fatalf("%s: %v", tool, err)
	}
	whole, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{failed: r.IsError, structured: r.RawStructuredContent}
	for _, c := range r.Content {
		if t, ok := c.(mcp.TextContent); ok {
			a.text += t.Text + "\n"
		}
	}
	s.mu.Lock()
	s.answers.WriteString(a.text)
	s.answers.Write(whole)
	s.mu.Unlock()
	for _, m := range gradeInAnswer.FindAllStringSubmatch(a.text, -1) {
		if s.graded == nil {
			s.graded = map[string]int{}
		}
		s.graded[m[1]]++
	}
	s.calls++
	s.bytes += len(whole)
	s.largest = max(s.largest, len(whole))
	if testing.Verbose() {
		given, _ := json.Marshal(arguments)
		s.t.Logf("→ %s %s\n← %s", tool, given, a.text)
	}
	return a
}

// must is a call that has to succeed.
func (s *driver) must(tool string, arguments map[string]any) string {
	s.t.Helper()
	a := s.call(tool, arguments)
	if a.failed {
		s.t.Fatalf("%s %v failed:\n%s", tool, arguments, a.text)
	}
	return a.text
}

// in is must of a tool that has a lesson.
func (s *driver) in(tool string, arguments map[string]any) string {
	s.t.Helper()
	arguments["lesson"] = s.lesson
	return s.must(tool, arguments)
}

var lessonID = regexp.MustCompile(`Lesson_[0-9a-f-]+`)

// start begins a lesson and returns what is on the page.
func (s *driver) start(arguments map[string]any) string {
	s.t.Helper()
	text := s.must("start_lesson", arguments)
	if s.lesson = lessonID.FindString(text); s.lesson == "" {
		s.t.Fatalf("no id of a lesson in\n%s", text)
	}
	return text
}

// try does operations with values, which come in pairs of a name and a value.
func (s *driver) try(values map[string]any, operations ...any) string {
	s.t.Helper()
	return s.in("try_operation", map[string]any{"operations": operations, "values": values})
}

func (s *driver) url(host, path string) string {
	return "http://" + host + ".localhost:" + s.port + path
}

// finish reports what the task cost, and fails if it was too much.
func (s *driver) finish(task string) {
	s.t.Helper()
	s.seconds = time.Since(s.started).Seconds()
	s.note(s, task)
	if s.calls > maxTaskCalls || s.bytes > maxTaskBytes {
		s.t.Errorf("%d calls with answers of %d bytes, more than %d and %d", s.calls, s.bytes, maxTaskCalls, maxTaskBytes)
	}
}

// save saves the lesson; the routine has to be proved unless the arguments say otherwise.
func (s *driver) save(arguments map[string]any) {
	s.t.Helper()
	arguments["lesson"] = s.lesson
	a := s.call("save_lesson", arguments)
	var saved struct {
		Saved   any
		Routine savedRoutine
		Proof   struct{ Passed bool }
	}
	if err := json.Unmarshal(a.structured, &saved); a.failed || err != nil || saved.Saved != true || !saved.Proof.Passed || saved.Routine.Status != "active" {
		s.t.Fatalf("save_lesson %v: %v\n%s\n%s", arguments, err, a.text, a.structured)
	}
	s.routine = saved.Routine
}

// run runs the saved routine, which has to complete, and returns its data.
func (s *driver) run(parameters map[string]any) json.RawMessage {
	s.t.Helper()
	a := s.tryRun(parameters)
	var ran struct {
		Status string
		Data   json.RawMessage
	}
	if err := json.Unmarshal(a.structured, &ran); a.failed || err != nil {
		s.t.Fatalf("run with %v: %v\n%s\n%s", parameters, err, a.text, a.structured)
	}
	return ran.Data
}

// tryRun runs the saved routine without counting the call as work of the task.
func (s *driver) tryRun(parameters map[string]any) answer {
	s.t.Helper()
	calls, bytes, largest := s.calls, s.bytes, s.largest
	defer func() { s.calls, s.bytes, s.largest = calls, bytes, largest }()
	return s.call("run_routine", map[string]any{"id": s.routine.ID, "parameters": parameters, "wait_seconds": 45})
}

var gradeInAnswer = regexp.MustCompile(`1 match \(([A-D])\)`)

// grades says how many of the tried operations had a selector of which grade.
func (s *driver) grades() string {
	var all []string
	for _, grade := range []string{"A", "B", "C", "D"} {
		if n := s.graded[grade]; n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, grade))
		}
	}
	return strings.Join(all, ", ")
}

// lineWith returns the first line of a text with these words.
func (s *driver) lineWith(text, words string) string {
	s.t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			return strings.TrimRight(line, "\n")
		}
	}
	s.t.Fatalf("no line has %s:\n%s", words, text)
	return ""
}

// selectorOn returns the selector at the end of the line with these words.
func (s *driver) selectorOn(text, words string) string {
	s.t.Helper()
	line := s.lineWith(text, words)
	_, selector, found := strings.Cut(line, " | ")
	for { // options stand between bars as well
		_, after, more := strings.Cut(selector, " | ")
		if !more {
			break
		}
		selector = after
	}
	if !found || selector == "" {
		s.t.Fatalf("no selector on the line %s", line)
	}
	return selector
}

// operationsIn returns the lines of a text that are operations.
func (s *driver) operationsIn(text string) (all []any) {
	s.t.Helper()
	for line := range strings.Lines(text) {
		at := strings.Index(line, "{")
		if at < 0 {
			continue
		}
		var operation map[string]any
		if json.Unmarshal([]byte(line[at:]), &operation) == nil && operation["type"] != nil {
			all = append(all, operation)
		}
	}
	if len(all) == 0 {
		s.t.Fatalf("no operations in\n%s", text)
	}
	return all
}

// requestWith returns the number of the last request in a list whose line has these words.
func (s *driver) requestWith(text, words string) int {
	s.t.Helper()
	number := 0
	for line := range strings.Lines(text) {
		var n int
		if _, err := fmt.Sscanf(line, "%d ", &n); err == nil && strings.Contains(line, words) {
			number = n
		}
	}
	if number == 0 {
		s.t.Fatalf("no request with %s in\n%s", words, text)
	}
	return number
}
