package console_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const shopText = `{
  "name": "search",
  "description": "Searches the shop.",
  "operations": [
    {"type": "navigate", "url": "https://shop.example/"},
    {"type": "js_evaluate", "js": "(() => {\n  return 1;\n})()", "session_storage_key": "n"},
    {"type": "return", "session_storage_key": "n"}
  ]
}`

// listed is the text of the list of problems.
const listed = `[...editor.shadowRoot.querySelectorAll(".problems li")].map(li => li.textContent).join("\n")`

// problemsAreOld is "true" while the problems are not those of the text as it is now.
const problemsAreOld = `editor.shadowRoot.querySelector(".problems").ariaBusy`

func TestEditor(t *testing.T) {
	client := startTestBrowser(t)
	for name, test := range map[string]func(*testing.T, *editorSite, *tab){
		"saves and runs by keys":                saveByKeys,
		"Tab leaves, Ctrl ] indents":            moveByTab,
		"marks problems at their places":        markProblems,
		"drops stale answers":                   dropStaleAnswers,
		"says that it could not check":          sayUnchecked,
		"F8 and the list go to the problem":     goToProblems,
		"a script is edited in lines":           editScript,
		"a script with changes is not lost":     keepScript,
		"a draft is restored and discarded":     restoreDraft,
		"a draft of another version is offered": offerDraft,
		"a draft that was only run is kept":     keepTriedDraft,
		"a draft hides no text of an import":    offerDraftBesideChange,
		"begins at a pointer":                   beginAtPointer,
		"a difference":                          showDifference,
	} {
		t.Run(name, func(t *testing.T) {
			site := newEditorSite(t, shopText)
			test(t, site, openTab(t, client, site.url))
		})
	}
}

func saveByKeys(t *testing.T, site *editorSite, p *tab) {
	if p.text() != shopText {
		t.Errorf("the editor has %q", p.text())
	}
	p.put(`{"name": "‸"}`)
	p.typeText("ü")
	for _, key := range []string{"s", "Enter"} {
		p.press(key, 2)
		p.sees(`document.title === "Saved"`)
		p.visit(site.url)
		p.eval(`sessionStorage.clear()`, nil)
		p.put(`{"name": "second"}`)
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	if len(site.posted) != 2 || site.posted[0]["definition"] != `{"name": "ü"}` || site.posted[0]["then"] != "" ||
		site.posted[1]["definition"] != `{"name": "second"}` || site.posted[1]["then"] != "run" {
		t.Errorf("posted %q", site.posted)
	}
}

func moveByTab(t *testing.T, _ *editorSite, p *tab) {
	p.put("‸" + shopText)
	p.press("]", 2)
	if want := "  " + shopText; p.text() != want {
		t.Errorf("indented it is %q", p.text())
	}
	p.sees(`editor.shadowRoot.activeElement?.getAttribute("aria-label") === "Definition of the routine"`)
	p.press("Tab", 0)
	p.sees(`editor.shadowRoot.activeElement?.getAttribute("aria-label") !== "Definition of the routine"`)
	if want := "  " + shopText; p.text() != want {
		t.Errorf("after Tab it is %q", p.text())
	}
}

// marks are the parts of the text that are marked as errors, in the order of their ends.
const marks = `(() => {
	const found = []
	codemirror.forEachDiagnostic(view.state, (d, from, to) => d.severity === "error" && found.push(view.state.sliceDoc(from, to)))
	return found.join("\n")
})()`

func markProblems(_ *testing.T, _ *editorSite, p *tab) {
	for text, want := range map[string]string{
		`{"name": "n", "description": "😀", "operations": [{"type": "clik"}]}`:                            "\"clik\"\n{\"type\": \"clik\"}",
		"{\"name\": \"n\",\t\"description\": \"d\",\r\n\t\"operations\": [{\"type\":\t\"sleep\"}]}":      "{\"type\":\t\"sleep\"}",
		"{\"name\": \"😀\u0301 e\u0301\", \"description\": 7,\n \"operations\": [{\"type\": \"sleep\"}]}": "7\n{\"type\": \"sleep\"}",
		`{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "/", "ulr": 1}]}`:  `"ulr"`,
		"{\"name\": \"n\",\n\"description\": \"d\"}":                                                     `{"name": "n",`,
	} {
		p.put(text)
		p.sees(marks + " === " + quote(want))
	}
}

func dropStaleAnswers(t *testing.T, site *editorSite, p *tab) {
	begun, dropped := make(chan struct{}), make(chan struct{})
	site.set(func() {
		site.check = func(_ http.ResponseWriter, r *http.Request) bool {
			site.set(func() { site.check = nil })
			io.Copy(io.Discard, r.Body) // Only then the server notices that the client has gone.
			close(begun)
			<-r.Context().Done()
			close(dropped)
			return true
		}
	})
	p.put(`{"first": ‸}`)
	<-begun
	p.sees(problemsAreOld + ` === "true"`)
	p.typeText("1")
	<-dropped
	p.sees(listed + `.includes("name") && ` + problemsAreOld + ` === "false"`)
	if p.text() != `{"first": 1}` {
		t.Errorf("the text is %q", p.text())
	}
}

func sayUnchecked(_ *testing.T, site *editorSite, p *tab) {
	site.set(func() {
		site.check = func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return true
		}
	})
	p.put(`{}`)
	p.sees(`editor.shadowRoot.querySelector(".problems p").textContent === "Not checked: the server answers 503. The text is kept here."`)
	p.forgive()
	site.set(func() { site.check = nil })
	p.eval(`[...editor.shadowRoot.querySelectorAll("button")].find(b => b.textContent === "Check again").click()`, nil)
	p.sees(listed + `.includes("Error 1:1")`)
}

func goToProblems(t *testing.T, _ *editorSite, p *tab) {
	p.put("‸" + strings.Replace(shopText, `"navigate"`, `"navigat"`, 1))
	p.sees(listed + `.startsWith('Error 5:14: ') && ` + listed + `.includes('did you mean "navigate"?')`)
	selected := `view.state.sliceDoc(view.state.selection.main.from, view.state.selection.main.to) === '"navigat"'`
	p.press("F8", 0)
	p.sees(selected)
	p.sees(`view.dom.querySelector(".cm-announced").textContent.includes("Error 5:14")`)
	p.eval(`view.dispatch({selection: {anchor: 0}}), view.contentDOM.blur(), editor.shadowRoot.querySelector(".problems li button").click()`, nil)
	p.sees(selected + ` && view.hasFocus`)
	// The mark moves with the text, and the list goes where it is now.
	p.eval(`view.dispatch({changes: {from: 0, insert: "\n\n"}}), editor.shadowRoot.querySelector(".problems li button").click()`, nil)
	p.sees(selected)
	p.put(shopText)
	p.sees(`editor.shadowRoot.querySelector(".problems p").textContent === "No problems"`)
	if p.text() != shopText {
		t.Error("the text has changed")
	}
}

func editScript(t *testing.T, _ *editorSite, p *tab) {
	p.put(strings.Replace(shopText, `(() =>`, `(‸() =>`, 1))
	p.press("Enter", 1)
	dialog := `editor.shadowRoot.querySelector("dialog[open]")`
	p.sees(`!!` + dialog + ` && editor.shadowRoot.activeElement.getAttribute("aria-label") === "Text of operations 2 js"`)
	p.sees(`[...` + dialog + `.querySelectorAll(".cm-line")].map(l => l.textContent).join("\n") === "(() => {\n  return 1;\n})()"`)
	p.typeText("// \"a\"")
	p.press("Enter", 0)
	p.press("Enter", 2)
	p.sees(`!` + dialog + ` && view.hasFocus`)
	if want := strings.Replace(shopText, `(() =>`, `// \"a\"\n(() =>`, 1); p.text() != want {
		t.Errorf("the text is\n%s\nwant\n%s", p.text(), want)
	}
	p.press("z", 2)
	if p.text() != shopText {
		t.Errorf("undone it is %s", p.text())
	}
	p.eval(`view.dispatch({selection: {anchor: editor.value.indexOf("session_storage_key")}}), editor.shadowRoot.querySelector(".tools button").click()`, nil)
	p.sees(`!!` + dialog)
	p.press("Escape", 0)
	p.sees(`!` + dialog)
	p.eval(`editor.shadowRoot.querySelector(".cm-script").dispatchEvent(new MouseEvent("mousedown", {bubbles: true}))`, nil)
	p.sees(`!!` + dialog)
}

func keepScript(t *testing.T, _ *editorSite, p *tab) {
	p.put(strings.Replace(shopText, `(() =>`, `(‸() =>`, 1))
	p.press("Enter", 1)
	dialog := `editor.shadowRoot.querySelector("dialog[open]")`
	p.sees(`!!` + dialog)
	p.typeText("x")
	p.press("Escape", 0)
	p.sees(dialog + `?.querySelector("[role=status]").textContent.includes("Esc again")`)
	p.press("Escape", 0)
	p.sees(`!` + dialog)
	if p.text() != shopText {
		t.Errorf("the text is %s", p.text())
	}
}

const wouldWarn = `!dispatchEvent(new Event("beforeunload", {cancelable: true}))`

func restoreDraft(t *testing.T, site *editorSite, p *tab) {
	p.sees(`!(` + wouldWarn + `)`)
	p.put("‸" + shopText)
	p.typeText(" ")
	p.sees(wouldWarn)
	p.sees(`sessionStorage.length === 1`)
	p.visit(site.url)
	notice := `editor.shadowRoot.querySelector(".notice")`
	p.sees(notice + `.textContent.startsWith("Your unsaved text of ") && !` + notice + `.hidden`)
	if p.text() != " "+shopText {
		t.Errorf("restored %q", p.text())
	}
	p.eval(notice+`.querySelector("button").click()`, nil)
	p.sees(notice + `.hidden && sessionStorage.length === 0 && !(` + wouldWarn + `)`)
	if p.text() != shopText {
		t.Errorf("discarded it is %q", p.text())
	}
	p.visit(site.url)
	p.sees(notice + `.hidden`)
}

func offerDraft(t *testing.T, site *editorSite, p *tab) {
	notice := `editor.shadowRoot.querySelector(".notice")`
	p.put("‸" + shopText)
	p.typeText(" ")
	p.sees(`sessionStorage.length === 1`)
	site.set(func() { site.Version = "5" })
	p.visit(site.url)
	p.sees(notice + `.textContent.startsWith("Your unsaved text for version 4 of ")`)
	if p.text() != shopText {
		t.Errorf("put without being asked: %q", p.text())
	}
	p.eval(notice+`.querySelector("button").click()`, nil)
	p.sees(notice + `.hidden && editor.value.startsWith(" ")`)
	// It is sent: on the page of the same version it may not have been saved, on a newer one it was.
	p.press("s", 2)
	p.sees(`document.title === "Saved"`)
	p.visit(site.url)
	p.sees(notice + `.textContent.startsWith("A text that you sent")`)
	site.set(func() { site.Version = "6" })
	p.visit(site.url)
	p.sees(notice + `.hidden && sessionStorage.length === 0`)
}

// A page with a text that is not stored shows that text, and offers the draft.
func offerDraftBesideChange(t *testing.T, site *editorSite, p *tab) {
	p.put("‸" + shopText)
	p.typeText(" ")
	p.sees(`sessionStorage.length === 1`)
	site.set(func() { site.Changed, site.Text = true, `{"name": "imported"}` })
	p.visit(site.url)
	notice := `editor.shadowRoot.querySelector(".notice")`
	p.sees(notice + `.textContent.startsWith("Your unsaved text for version 4 of ")`)
	if p.text() != site.Text {
		t.Errorf("the draft is in place of the import: %q", p.text())
	}
	p.eval(notice+`.querySelector("button").click()`, nil)
	p.sees(notice + `.hidden && editor.value.startsWith(" ")`)
}

// A text that was only run is here again when its author comes back.
func keepTriedDraft(t *testing.T, site *editorSite, p *tab) {
	p.put("‸" + shopText)
	p.typeText(" ")
	p.eval(`document.querySelector("[data-try]").click()`, nil)
	p.sees(`document.title === "Saved"`)
	p.visit(site.url)
	p.sees(`editor.shadowRoot.querySelector(".notice").textContent.startsWith("Your unsaved text of ")`)
	if p.text() != " "+shopText {
		t.Errorf("restored %q", p.text())
	}
}

func beginAtPointer(_ *testing.T, site *editorSite, p *tab) {
	site.set(func() { site.At = "/operations/1/js" })
	p.visit(site.url)
	p.sees(`view.state.sliceDoc(view.state.selection.main.from).startsWith('"(() =>')`)
}

func showDifference(_ *testing.T, site *editorSite, p *tab) {
	p.sees(`document.querySelector("rote-diff").shadowRoot.querySelector(".tools p").textContent === "No difference"`)
	long := strings.Repeat("\n", 40)
	site.set(func() {
		site.Text = shopText + long
		site.Newer = strings.Replace(shopText, "shop.example", "store.example", 1) + long
	})
	p.visit(site.url)
	p.eval(`(globalThis.diff = document.querySelector("rote-diff").shadowRoot, true)`, nil)
	p.sees(`diff.querySelector(".tools p").textContent === "1 place differs"`)
	p.sees(`diff.querySelector(".cm-deletedChunk").textContent.includes("shop.example")`)
	p.sees(`diff.querySelector(".cm-changedLine").textContent.includes("store.example")`)
	p.eval(`[...diff.querySelectorAll("button")].find(b => b.textContent === "Show all lines" && !b.hidden).click()`, nil)
	p.sees(`!diff.querySelector(".cm-collapsedLines")`)
}

// Without JavaScript the form's own text area is the editor.
func TestEditorWithoutJavaScript(t *testing.T) {
	site := newEditorSite(t, shopText)
	p := openTab(t, startTestBrowser(t), site.url)
	p.send("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	p.send("Page.navigate", map[string]any{"url": site.url}, nil)
	p.sees(`document.URL === ` + quote(site.url) + ` && document.readyState === "complete" && !document.querySelector("rote-editor").shadowRoot`)
	p.sees(`document.querySelector("textarea").getBoundingClientRect().height > 100 && document.querySelector("pre").getBoundingClientRect().height > 20`)
	p.eval(`document.querySelector("textarea").value = "typed", document.querySelector("[data-save]").click()`, nil)
	p.sees(`document.title === "Saved"`)
	site.mu.Lock()
	defer site.mu.Unlock()
	if len(site.posted) != 1 || site.posted[0]["definition"] != "typed" {
		t.Errorf("posted %q", site.posted)
	}
}
