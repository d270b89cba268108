package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"rote/routine"
)

// logIn are operations that type the secret shop and send it, and what follows them.
func logIn(more string) string {
	return `[{"type":"navigate","url":"{{site}}/"},{"type":"input_text","selector":"#u","text":"{{secret:shop.username}}"},
		{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"}` + more + `]`
}

const (
	sendForm = `,{"type":"click","selector":"#go"},{"type":"wait_for_url","url_regex":"/in$"}`
	returned = `{"type":"return","session_storage_key":"k"}`
	withKey  = `"endpoint":{"url":"{{site}}/%s","headers":{"X-Key":"{{secret:shop.password}}"}}`
)

// fetching is a fetch or a download with the secret in a header, and what else it has.
func fetching(kind, path, more string) string {
	return `{"type":"` + kind + `",` + fmt.Sprintf(withKey, path) + more + `}`
}

// secretRoutines are routines that use the secret shop, by name. words are in what a run of each
// says.
var secretRoutines = map[string]struct{ operations, words string }{
	"logs_in":     {logIn(sendForm + `,{"type":"return_html"}`), "Welcome *** with ***"},
	"reads_data":  {logIn(sendForm + `,{"type":"js_evaluate","js":"(() => window.state)()","session_storage_key":"k"},` + returned), "***"},
	"fails_after": {logIn(sendForm + `,{"type":"click","selector":"#gone","timeout_ms":1000},{"type":"return_html"}`), "element_not_found"},
	"exposes": {logIn(`,{"type":"js_evaluate","js":"(() => document.querySelector('#p').value)()","session_storage_key":"k"},` + returned),
		"secret_exposed"},
	"sends_key": {`[` + fetching("fetch", "api", `,"session_storage_key":"k","data_sanitizer":{"type":"json_path","path":"$.list"}`) + `,` + returned + `]`,
		"x***y"},
	"gets_text":   {`[{"type":"navigate","url":"{{site}}/"},` + fetching("download", "text", `,"filename":"key.txt"`) + `]`, "completed"},
	"gets_binary": {`[{"type":"navigate","url":"{{site}}/"},` + fetching("download", "binary", `,"filename":"key.bin"`) + `]`, "secret_exposed"},
	"asks_elsewhere": {`[{"type":"navigate","url":"{{site}}/"},{"type":"fetch","endpoint":{"url":"http://localhost:1/","headers":{"X-Key":"{{secret:shop.password}}"}},` +
		`"session_storage_key":"k"},` + returned + `]`, "secret_denied"},
}

// secretRoutine is the definition of one of them.
func secretRoutine(name string) string {
	return fmt.Sprintf(`{"name":%q,"description":"Uses the secret of the shop.","parameters":[{"name":"site","type":"url"}],"operations":%s}`,
		name, secretRoutines[name].operations)
}

// useSecretsOverREST stores the secret shop and uses it in all ways that REST has.
func useSecretsOverREST(s *server, site *echoSite) {
	t := s.t
	t.Helper()
	call := func(method, path, body, want string) map[string]any {
		t.Helper()
		_, answer := s.call(method, path, body)
		if text := routine.JSONText(answer); !strings.Contains(text, want) {
			t.Errorf("%s %s: %s, want %s", method, path, text, want)
		}
		return answer
	}
	fields := routine.JSONText(map[string]string{"username": soughtUsername, "password": soughtPassword})
	host := strings.TrimPrefix(site.URL, "http://")
	call("PUT", "/secrets/shop", `{"hosts":["`+host+`"],"field_rule":"any","requests":true,"fields":`+fields+`}`, `"version":1`)
	call("PUT", "/secrets/shop", `{"hosts":["`+host+`"],"fieldz":`+fields+`}`, "unknown")
	call("PUT", "/secrets/shop", `{"hosts":["co.uk"],"fields":`+fields+`}`, "co.uk")
	call("PUT", "/secrets/shop", `{"hosts":["*.shop.example"]}`, "value_required")
	for path, want := range map[string]string{"/secrets/": "shop", "/secrets/shop": host, "/secrets/shop/uses": "saved"} {
		call("GET", path, "", want)
	}
	sites := fmt.Sprintf(`"parameters":{"site":%q}`, site.URL)
	for name, r := range secretRoutines {
		id := s.made(secretRoutine(name))
		call("POST", "/routines/"+id+"/execute", `{`+sites+`,"outline":true}`, r.words)
		_, answer := s.async("/routines/"+id, fmt.Sprintf(`{%s,"callback_url":"%s/hook"}`, sites, site.URL))
		path := "/executions/" + answer["execution_id"].(string)
		s.events(path).wait(t, func(text string) string { return found(text, `"completed_at":"`) })
		answer = call("GET", path, "", r.words)
		if status := answer["status"]; status == "failed" {
			call("GET", path, "", "evidence")
		}
		call("GET", "/routines/"+id+"/executions", "", `"total":2`)
	}
	call("POST", "/executions", `{"routine":`+secretRoutine("fails_after")+`,`+sites+`}`, "element_not_found")
	call("GET", "/executions/", "", `"total"`)
	call("GET", "/secrets/shop/uses?limit=50", "", "secret_denied")
	started := call("POST", "/lessons", fmt.Sprintf(`{"url":"%s/"}`, site.URL), "lesson")
	lesson := "/lessons/" + started["lesson"].(string)
	for _, row := range lessonCalls {
		call("POST", lesson+"/operations", row.arguments, row.words)
		q, err := http.NewRequestWithContext(t.Context(), "GET", s.url+lesson+"/snapshot", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		s.stream(q).wait(t, func(text string) string { return found(text, "Shop") })
	}
	call("GET", lesson+"/requests", "", "requests")
	call("POST", lesson+"/save", `{"name":"from a lesson","description":"Logs in.","prove":true}`, "")
	call("DELETE", lesson, "", "")
	if metrics := s.metrics(); !strings.Contains(metrics, "rote_executions_total") {
		t.Error(metrics)
	}
}

// lessonCalls are operations on the site's page that are tried in a lesson. words are in the
// answers.
var lessonCalls = []struct{ arguments, words string }{
	{`{"operations":[{"type":"input_text","selector":"#u","text":"{{secret:shop.username}}"}]}`, "input_text"},
	{`{"operations":[{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"}]}`, "input_text"},
	{`{"operations":[{"type":"return_html"}],"keep":false}`, "secret_exposed"},
}

var executionID = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// useSecretsOverMCP uses the secret shop in all ways that the tools have. call makes a call and
// returns the answer.
func useSecretsOverMCP(t *testing.T, site string, call func(tool, arguments string) string) {
	t.Helper()
	want := func(tool, arguments, words string) string {
		t.Helper()
		text := call(tool, arguments)
		if !strings.Contains(text, words) {
			t.Errorf("%s %s: %s, want %s", tool, arguments, text, words)
		}
		return text
	}
	want("list_secrets", `{}`, `shop`)
	want("list_executions", `{"limit":50}`, `failed`)
	for name, r := range secretRoutines {
		said := want(name, `{"site":"`+site+`"}`, r.words)
		want("describe_routine", fmt.Sprintf(`{"id":%q,"definition":true}`, name), "{{secret:shop.password}}")
		want("get_execution", fmt.Sprintf(`{"execution_id":%q,"screenshot":true}`, executionID.FindString(said)), r.words)
	}
	want("run_routine", fmt.Sprintf(`{"routine":%s,"parameters":{"site":%q}}`, secretRoutine("exposes"), site), "secret_exposed")
	lesson := lessonID.FindString(want("start_lesson", `{"url":"`+site+`/"}`, "Lesson_"))
	if lesson == "" {
		t.Fatal("the answer has no id of the lesson")
	}
	of := fmt.Sprintf(`{"lesson":%q`, lesson)
	for _, row := range lessonCalls {
		want("try_operation", of+","+row.arguments[1:], row.words)
		want("take_snapshot", of+`}`, "Shop")
	}
	want("list_network_requests", of+`}`, "")
	want("end_lesson", of+`}`, "")
}

// speak starts rote mcp. call makes a call, and end ends the program and returns all that it
// wrote.
func (r *rote) speak(args ...string) (call func(tool, arguments string) string, end func() []byte) {
	r.t.Helper()
	c := r.command(append([]string{"mcp"}, args...)...)
	var said, log bytes.Buffer
	in, err := c.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	c.Stderr = &log
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	lines := bufio.NewReader(io.TeeReader(out, &said))
	n := 0
	ask := func(method, params string) string {
		n++
		var message bytes.Buffer
		if err := json.Compact(&message, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params)); err != nil {
			r.t.Fatal(err)
		}
		_, _ = in.Write(append(message.Bytes(), '\n'))
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				r.t.Fatalf("%s: %v\n%s", method, err, &log)
			}
			var m struct{ ID int }
			if json.Unmarshal(line, &m) == nil && m.ID == n {
				return string(line)
			}
		}
	}
	ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return func(tool, arguments string) string {
			return ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":"p"}}`, tool, arguments))
		}, func() []byte {
			_ = in.Close()
			_, _ = io.Copy(io.Discard, lines)
			if err := c.Wait(); err != nil {
				r.t.Error(err)
			}
			return append(said.Bytes(), log.Bytes()...)
		}
}
