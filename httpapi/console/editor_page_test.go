package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/routine"
	"rote/routine/definition"
	"rote/schemas"
)

// policy is the content policy under which the console's scripts must work.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types rote"

// editorTime bounds one test with a browser; what a test waits for comes much sooner.
const editorTime = 90 * time.Second

var editorTemplate = template.Must(template.New("").Parse(`<!doctype html><html lang=en><title>Editor</title><link rel=icon href="data:,">
<script type=module src=/assets/editor.js></script><script type=module src=/assets/diff.js></script>
<form method=post action=/save><label for=definition>Definition of the routine</label>
<rote-editor data-check=/check data-schema=/schemas/routine.json data-draft-key={{.Key}} data-version={{.Version}}
data-at="{{.At}}"{{if .Changed}} data-changed{{end}}>
<textarea id=definition name=definition rows=20 cols=80 autocomplete=off>
{{.Text}}</textarea></rote-editor>
<button data-save>Save</button> <button data-run name=then value=run>Save and run</button> <button data-try>Run without saving</button></form>
<rote-diff aria-label="Version 1 and version 2"><pre data-old>{{.Text}}</pre><pre data-new>{{.Newer}}</pre></rote-diff>`))

// editorSite serves a page with the editor, as the console does.
type editorSite struct {
	url string

	mu           sync.Mutex
	Text, Newer  string
	Key, Version string
	At           string
	Changed      bool
	posted       []map[string]string
	check        func(w http.ResponseWriter, r *http.Request) bool // answers a check itself, and reports so
}

func newEditorSite(t *testing.T, text string) *editorSite {
	t.Helper()
	s := &editorSite{Text: text, Newer: text, Key: "Routine_1", Version: "4"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := editorTemplate.Execute(w, s); err != nil {
			t.Error(err)
		}
	})
	mux.Handle("GET /assets/", http.FileServerFS(os.DirFS(".")))
	mux.HandleFunc("GET /schemas/routine.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(schemas.Routine())
	})
	mux.HandleFunc("POST /check", s.answerCheck)
	mux.HandleFunc("POST /save", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.posted = append(s.posted, map[string]string{"definition": r.FormValue("definition"), "then": r.FormValue("then")})
		w.Header().Set("Content-Security-Policy", policy)
		fmt.Fprint(w, "<!doctype html><title>Saved</title><link rel=icon href='data:,'>")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL + "/"
	return s
}

// set changes what the site serves from now on.
func (s *editorSite) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// answerCheck answers with the problems that the service finds.
func (s *editorSite) answerCheck(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	check := s.check
	s.mu.Unlock()
	if check != nil && check(w, r) {
		return
	}
	text, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "not JSON", http.StatusUnsupportedMediaType)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"problems": checkedProblems(text)})
}

type checkedProblem struct {
	routine.Problem
	Severity string `json:"severity"`
}

// checkedProblems is what the checker says of a definition.
func checkedProblems(text []byte) []checkedProblem {
	problems := []checkedProblem{}
	_, warnings, err := definition.Parse(text)
	if refused := (*routine.Error)(nil); errors.As(err, &refused) {
		for _, p := range refused.Problems {
			problems = append(problems, checkedProblem{p, "error"})
		}
	}
	for _, p := range warnings {
		problems = append(problems, checkedProblem{p, "warning"})
	}
	return problems
}

// tab is a tab of a browser, with what its page has complained of.
type tab struct {
	t       *testing.T
	client  *cdp.Client
	session proto.TargetSessionID

	mu     sync.Mutex
	faults []string
}

// startTestBrowser starts the browser for a test and its subtests.
func startTestBrowser(t *testing.T) *cdp.Client {
	t.Helper()
	executable, err := chromium.Find("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), editorTime)
	defer cancel()
	p, err := (&chromium.Launcher{Warn: func(lacks string, _ error) { t.Log(lacks) }}).Start(ctx, executable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p.Client()
}

// openTab opens a page with an editor in a new tab; see newTab.
func openTab(t *testing.T, client *cdp.Client, url string) *tab {
	t.Helper()
	p := newTab(t, client)
	p.visit(url)
	return p
}

// newTab opens a new tab. The test fails if one of its pages breaks its content policy, throws,
// or writes an error to the console.
func newTab(t *testing.T, client *cdp.Client) *tab {
	t.Helper()
	p := &tab{t: t, client: client}
	var target proto.TargetCreateTargetResult
	p.send("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached proto.TargetAttachToTargetResult
	p.send("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	client.Listen(p.session, p.listen)
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.send(domain+".enable", map[string]any{}, nil)
	}
	p.send("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	t.Cleanup(func() {
		client.Unlisten(p.session)
		client.Send("", "Target.closeTarget", map[string]any{"targetId": target.TargetID}).Forget()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, fault := range p.faults {
			t.Error("the page complains: ", fault)
		}
	})
	return p
}

// listen notes what a page complains of, and accepts its dialogs.
func (p *tab) listen(method string, params json.RawMessage) {
	switch method {
	case "Page.javascriptDialogOpening":
		p.client.Send(p.session, "Page.handleJavaScriptDialog", map[string]any{"accept": true}).Forget()
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		text := string(params)
		isError := method == "Runtime.exceptionThrown" || strings.Contains(text, `"type":"error"`) || strings.Contains(text, `"level":"error"`)
		if !isError {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.faults = append(p.faults, text)
	}
}

// forgive forgets complaints about the answers that a test has chosen.
func (p *tab) forgive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

func (p *tab) send(method string, params, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), editorTime)
	defer cancel()
	answer, err := p.client.Send(p.session, method, params).Wait(ctx)
	if err == nil && result != nil {
		err = json.Unmarshal(answer, result)
	}
	if err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

// visit opens a page and waits until its editor is there.
func (p *tab) visit(url string) {
	p.t.Helper()
	p.send("Page.navigate", map[string]any{"url": url}, nil)
	p.sees(`document.URL === ` + quote(url) + ` && document.readyState === "complete" && !!document.querySelector("rote-editor")?.view`)
	p.eval(`import("/assets/vendor/codemirror.js").then(module => {
		Object.assign(globalThis, {codemirror: module, editor: document.querySelector("rote-editor")})
		globalThis.view = editor.view
		view.focus()
	})`, nil)
}

// eval evaluates an expression in the page, waits for its promise, and decodes its value.
func (p *tab) eval(expression string, result any) {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	p.send("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.t.Fatalf("%.300s throws %s", expression, answer.ExceptionDetails)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer.Result.Value, result); err != nil {
		p.t.Fatalf("%.300s is %s: %v", expression, answer.Result.Value, err)
	}
}

// sees waits until an expression is true in the page.
func (p *tab) sees(expression string) {
	p.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(editorTime / 3)
	for {
		var answer struct {
			Result struct{ Value json.RawMessage }
		}
		p.send("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
		if string(answer.Result.Value) == "true" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			var page string
			p.eval(`document.URL + "\n" + (globalThis.editor?.shadowRoot?.textContent ?? document.body.textContent)`, &page)
			p.t.Fatalf("not within %v: %s\n%s", editorTime/3, expression, page)
		}
	}
}

// keyCodes are the keys that tests press, with their codes for the browser.
var keyCodes = map[string]struct {
	code string
	vk   int
	text string
}{
	"Enter": {"Enter", 13, "\r"}, "Tab": {"Tab", 9, ""}, "Escape": {"Escape", 27, ""}, "F8": {"F8", 119, ""}, "ArrowDown": {"ArrowDown", 40, ""},
	"s": {"KeyS", 83, ""}, "]": {"BracketRight", 221, ""}, " ": {"Space", 32, " "}, "z": {"KeyZ", 90, ""},
	"ArrowLeft": {"ArrowLeft", 37, ""}, "End": {"End", 35, ""}, "/": {"Slash", 191, ""}, "?": {"Slash", 191, ""},
	"e": {"KeyE", 69, ""}, "g": {"KeyG", 71, ""}, "j": {"KeyJ", 74, ""}, "n": {"KeyN", 78, ""},
	"r": {"KeyR", 82, ""}, "t": {"KeyT", 84, ""},
}

// press presses a key; modifiers are those of the protocol: 1 Alt, 2 Ctrl, 8 Shift.
func (p *tab) press(key string, modifiers int) {
	p.t.Helper()
	k := keyCodes[key]
	if k.code == "" {
		p.t.Fatalf("no code of the key %q", key)
	}
	event := map[string]any{"type": "keyDown", "key": key, "code": k.code, "windowsVirtualKeyCode": k.vk, "modifiers": modifiers}
	if k.text != "" && modifiers == 0 {
		event["text"] = k.text
	}
	p.send("Input.dispatchKeyEvent", event, nil)
	event["type"] = "keyUp"
	delete(event, "text")
	p.send("Input.dispatchKeyEvent", event, nil)
}

// typeText types a text, character by character.
func (p *tab) typeText(text string) {
	p.t.Helper()
	for _, c := range text {
		p.send("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": string(c), "text": string(c)}, nil)
		p.send("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": string(c)}, nil)
	}
}

// put replaces the text of the editor and puts the cursor where the text has "‸".
func (p *tab) put(marked string) {
	p.t.Helper()
	p.eval(`{const marked = `+quote(marked)+`; const at = marked.indexOf("‸"), text = marked.replace("‸", "");
		view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}, selection: {anchor: Math.max(at, 0)}}); view.focus()}`, nil)
}

func (p *tab) text() string {
	p.t.Helper()
	var text string
	p.eval(`editor.value`, &text)
	return text
}

func quote(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(b)
}
