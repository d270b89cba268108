package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rote/routine/lesson/textform"
)

// seenPage is a page whose elements only their texts tell apart. Each click and each text is
// in the log.
const seenPage = `<p id=log></p><script>window.say = s => { document.getElementById('log').textContent += s + ';' }</script>
<table><tr><td>Desk lamp<td><button onclick="say('desk')">Buy</button><tr><td>Floor lamp<td><button onclick="say('floor')">Buy</button></table>
<button style="display:none" onclick="say('trap')">Order</button><button role=tab onclick="say('tab')">Order</button><div id=late></div>
<label>Sort by <select onchange="say(this.value)"><option>Price<option>Name</select></label><label>Pieces <input oninput="say('pieces ' + this.value)"></label>
<p><span onclick="say('span')">Click  me</span></p><button onclick="say('icon')"><img alt=Close width=20 height=20></button><x-a></x-a>
<iframe srcdoc="<button onclick=parent.say('framed')>In the frame</button>"></iframe><div><button>Twice</button><button>Twice</button></div>
<script>document.querySelector('x-a').attachShadow({mode: 'open'}).innerHTML = '<ul><li><b>Red</b> <button onclick="say(\'red\')">Pick</button>' +
  '<li><b>Blue</b> <button onclick="say(\'blue\')">Pick</button></ul>';
setTimeout(() => { document.getElementById('late').innerHTML = '<button onclick="say(\'late\')">Order</button>' }, 300)</script>`

// Text forms act on the element that they name, in shadow roots and frames too, by the ways
// of an ordinary run, and refuse to choose among several.
func TestTextForms(t *testing.T) {
	t.Parallel()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, seenPage)
	}))
	t.Cleanup(pages.Close)
	s := newRote(t).serve("--allow-host", strings.TrimPrefix(pages.URL, "http://"))
	const click, typed = `{"type":"click","selector":""}`, `{"type":"input_text","selector":"","text":"%s"}`
	forms := []struct {
		target textform.Target
		action string
		log    string
	}{
		{textform.Target{Role: "button", Name: "Buy", Near: "{{item}} lamp"}, click, "floor"},
		{textform.Target{Role: "button", Name: "Order"}, click, "late"},
		{textform.Target{Role: "tab", Name: "Order"}, click, "tab"},
		{textform.Target{Role: "combobox", Name: "Sort by"}, fmt.Sprintf(typed, "Name"), "Name"},
		{textform.Target{Label: "Pieces"}, fmt.Sprintf(typed, "3"), "pieces 3"},
		{textform.Target{Text: "Click me"}, click, "span"},
		{textform.Target{Role: "button", Name: "Close"}, click, "icon"},
		{textform.Target{Role: "button", Name: "Pick", Near: "Blue"}, click, "blue"},
		{textform.Target{Role: "button", Name: "In the frame"}, click, "framed"},
		{textform.Target{XPath: `//tr[contains(., "{{item}}")]//button`}, click, "floor"},
		{textform.Target{Role: "button", Name: "/^ord/i", Match: textform.Regex}, click, "late"},
		{textform.Target{Text: "CLICK me", Match: textform.Contains}, click, "span"},
		{textform.Target{Text: "Pick", Nth: new(1)}, click, "blue"},
		{textform.Target{CSS: "li", HasText: "red"}, click, ""},
		{textform.Target{CSS: "button", Within: &textform.Target{CSS: "li", HasText: "red"}}, click, "red"},
		{textform.Target{Role: "button", Name: "Pick", Within: &textform.Target{CSS: "li", Has: &textform.Target{Text: "Blue"}}}, click, "blue"},
		{textform.Target{Role: "button", Name: "Buy", Nth: new(-1)}, click, "floor"},
		{textform.Target{Role: "button", Name: "Buy", Nth: new(-2)}, click, "desk"},
		{textform.Target{XPath: ".//button", Within: &textform.Target{Role: "row", Name: "desk", Match: textform.Contains}}, click, "desk"},
		{textform.Target{CSS: "td button", Within: &textform.Target{CSS: "tr", HasRegex: "/^floor/i"}}, click, "floor"},
		{textform.Target{Label: "pie", Match: textform.Contains}, fmt.Sprintf(typed, "4"), "pieces 34"},
		{textform.Target{Text: "Nowhere", Or: &textform.Target{Role: "button", Name: "Close"}}, click, "icon"},
		{textform.Target{Text: "In the", Match: textform.Contains, Within: &textform.Target{CSS: "iframe"}}, click, "framed"},
	}
	operations, log := []string{fmt.Sprintf(`{"type":"navigate","url":%q}`, pages.URL)}, ""
	for n, f := range forms {
		form, err := textform.Operations(f.target, json.RawMessage(f.action), fmt.Sprint("b", n))
		if err != nil {
			t.Fatal(err)
		}
		operations = append(operations, string(form[0]), string(form[1]))
		if f.log != "" {
			log += f.log + ";"
		}
	}
	const read = `,{"type":"return_html","scope":"element","selector":"#log"}`
	run := func(operations []string, end string) map[string]any {
		_, e := s.call("POST", "/executions", `{"routine":{"name":"n","description":"d","parameters":[{"name":"item"}],"operations":[`+
			strings.Join(operations, ",")+end+`]},"parameters":{"item":"Floor"}}`)
		return e
	}
	e := run(operations, read)
	result, _ := e["result"].(map[string]any)
	if want := `<p id="log">` + log + `</p>`; result["data"] != want {
		t.Errorf("got %v, want %s: %v", result["data"], want, e)
	}
	// An optional one marks nothing, so that its action is skipped.
	skipped, err := textform.Operations(textform.Target{Role: "button", Name: "Twice"},
		json.RawMessage(`{"type":"click","timeout_ms":300,"x-optional":true}`), "s")
	if err != nil {
		t.Fatal(err)
	}
	e = run([]string{operations[0], operations[1], operations[2], string(skipped[0]), string(skipped[1])}, read)
	if result, _ := e["result"].(map[string]any); result["data"] != `<p id="log">floor;</p>` {
		t.Errorf("got %v: %v", result["data"], e)
	}
	form, err := textform.Operations(textform.Target{Role: "button", Name: "Twice"}, json.RawMessage(click), "b")
	if err != nil {
		t.Fatal(err)
	}
	e = run([]string{operations[0], strings.Replace(string(form[0]), "9000", "99", 1), string(form[1])}, read)
	if message := fmt.Sprint(e); !strings.Contains(message, "2 visible elements are button 'Twice': one is wanted") {
		t.Error(message)
	}
}
