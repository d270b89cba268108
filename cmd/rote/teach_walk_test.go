package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"rote/mcp"
)

// volatile are the parts of a transcript that differ each time.
var volatile = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9.]+ m?s\b|\d+ bytes|http://127\.0\.0\.1:\d+`)

// outcome matches the lines of a transcript that say what was done.
var outcome = regexp.MustCompile(`^(rote> |Done: |Operations: |Saved: |Proof |  ok |Next: )`)

// The commands of the documentation's transcript do on the practice shop what it shows, and end
// with a routine that runs.
func TestReadmeTeach(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	part := docsPage(t, "teach")
	shown := blocks(part, "text")
	if len(shown) != 1 || !strings.Contains(part, "\n    ./rote teach http://127.0.0.1:8765/\n") {
		t.Fatalf("%d transcripts", len(shown))
	}
	var commands string
	for _, command := range regexp.MustCompile(`(?m)^rote> (.*)$`).FindAllStringSubmatch(shown[0], -1) {
		commands += command[1] + "\n"
	}
	c := r.command("teach", r.shop+"/")
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(commands), &out, &errs
	if err := c.Run(); err != nil || strings.Count(commands, "\n") < 5 {
		t.Fatalf("%v\n%s\n%s\n%s", err, commands, &out, &errs)
	}
	printed := volatile.ReplaceAllString(out.String(), "…")
	for line := range strings.Lines(shown[0]) {
		line = strings.TrimSuffix(strings.TrimSuffix(volatile.ReplaceAllString(line, "…"), "\n"), " …")
		if outcome.MatchString(line) && !strings.Contains(printed, line) {
			t.Errorf("rote teach does not print %q", line)
		}
	}
	if t.Failed() {
		t.Log(&out)
	}
	if data, errs, code := r.run("run", "find_products", "-p", "query=desk"); code != 0 || !strings.Contains(data, `"name": "Brass Desk Lamp"`) {
		t.Errorf("%d\n%s\n%s", code, data, errs)
	}
}

// products are the operations after the first one that search the shop.
const products = `{"operations": [{"type": "input_text", "selector": "#q", "text": "{{query}}"}, {"type": "click", "selector": "#search"},
	{"type": "wait_for_url", "url_regex": "q="}, {"type": "return_html", "scope": "element", "selector": "#results[data-state=done]"}],
	"values": {"query": "lamp"}}`

// An agent makes a routine over MCP, and calls it.
func TestTeachOverMCP(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	var log bytes.Buffer
	c := r.command("mcp")
	agent, err := mcp.StartWithEnv(t.Context(), &log, "test", c.Env, c.Path, c.Args[1:]...)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	call := func(tool string, arguments any) string {
		t.Helper()
		text, err := agent.Text(t.Context(), tool, arguments)
		if err != nil {
			t.Fatalf("%v\n%s", err, &log)
		}
		return text
	}
	started := call("start_lesson", map[string]any{"url": r.shop + "/"})
	id := regexp.MustCompile(`Lesson_[0-9a-f-]{36}`).FindString(started)
	if !strings.Contains(started, `search "Product name" | `) || id == "" {
		t.Fatal(started)
	}
	var tried map[string]any
	if err := json.Unmarshal([]byte(products), &tried); err != nil {
		t.Fatal(err)
	}
	tried["lesson"] = id
	if text := call("try_operation", tried); !strings.Contains(text, "Kept as operation 5") {
		t.Error(text)
	}
	if text := call("list_network_requests", map[string]any{"lesson": id, "find": "Brass Desk Lamp"}); !strings.Contains(text, "/api/search?q={str}") {
		t.Error(text)
	}
	if text := call("take_snapshot", map[string]any{"lesson": id, "find": "Brass"}); !strings.Contains(text, "Brass Desk Lamp") {
		t.Error(text)
	}
	if text := call("undo_operations", map[string]any{"lesson": id, "to": 5}); !strings.Contains(text, "Product name") {
		t.Error(text)
	}
	if text := call("save_lesson", map[string]any{"lesson": id, "name": "find lamps", "description": "Finds lamps."}); !strings.Contains(text, `"saved":true`) {
		t.Error(text)
	}
	if text := call("find_lamps", map[string]any{"query": "notebook"}); !strings.Contains(text, "Linen Notebook") {
		t.Error(text)
	}
	if text := call("end_lesson", map[string]any{"lesson": id}); !strings.Contains(text, id) {
		t.Error(text)
	}
	if err := agent.Close(); err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
}

// A program makes a routine over REST, and executes it. A lesson that is open when the
// server stops is closed.
func TestTeachOverREST(t *testing.T) {
	t.Parallel()
	s := newRote(t).serve("--toolsets", "run,teach")
	must := func(status int, method, path, body string) map[string]any {
		t.Helper()
		got, answer := s.call(method, path, body)
		if got != status {
			t.Fatalf("%s %s: %d %v", method, path, got, answer)
		}
		return answer
	}
	path := "/lessons/" + must(201, "POST", "/lessons/", `{"url": "`+s.shop+`/"}`)["lesson"].(string)
	if tried := must(200, "POST", path+"/operations", products); tried["ok"] != true {
		t.Fatal(tried)
	}
	if requests := must(200, "GET", path+"/requests?find=Brass", ""); len(requests["requests"].([]any)) == 0 {
		t.Error(requests)
	}
	saved := must(200, "POST", path+"/save", `{"name": "find lamps", "description": "Finds lamps."}`)
	if saved["saved"] != true {
		t.Fatal(saved)
	}
	if again := must(200, "POST", path+"/undo", `{"to": 1}`); len(again["operations"].([]any)) != 1 {
		t.Error(again)
	}
	id := saved["routine"].(map[string]any)["id"].(string)
	if e := must(201, "POST", "/routines/"+id+"/execute", `{"parameters": {"query": "notebook"}}`); e["status"] != "completed" {
		t.Error(e)
	}
	if list := must(200, "GET", "/lessons/", ""); list["total"] != 1.0 {
		t.Error(list)
	}
	must(404, "GET", "/lessons/Lesson_unknown", "")
}

// An interrupt while rote teach waits for a command closes the page and ends the program.
func TestTeachEndsOnInterrupt(t *testing.T) {
	t.Parallel()
	r := newRote(t) // which holds that nothing is left behind
	c := r.command("teach", r.shop+"/")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out := &output{more: make(chan struct{}, 1)}
	c.Stdout, c.Stderr, c.WaitDelay = out, out, time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out.wait(t, func(text string) string { return regexp.MustCompile(`button "Search" \|`).FindString(text) })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || !strings.Contains(out.String(), "The lesson ended. Operations that were not saved: 1.") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Servers without lessons have neither their paths nor their tools.
func TestServersWithoutLessons(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--lessons", "0"}, {"--read-only"}} {
		s := newRote(t).serve(append(flags, "--toolsets", "run,teach")...)
		if status, answer := s.call("GET", "/lessons/", ""); status != 404 {
			t.Errorf("%v: %d %v", flags, status, answer)
		}
		if answer := s.tool("take_snapshot", `{"lesson":"L"}`); !strings.Contains(answer, "not found") {
			t.Errorf("%v: %s", flags, answer)
		}
	}
}
