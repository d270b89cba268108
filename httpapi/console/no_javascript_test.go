package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

// click clicks the first link, button or summary with a text.
func (p *tab) click(text string) {
	p.t.Helper()
	p.sees(`document.readyState === "complete" && [...document.querySelectorAll("main :is(a, button, summary)")].some(e => {
		const found = e.textContent.trim().startsWith(` + quote(text) + `) && e.checkVisibility()
		if (found) e.click()
		return found
	})`)
}

// says waits for a page with a text.
func (p *tab) says(text string) {
	p.t.Helper()
	p.sees(`document.readyState === "complete" && document.querySelector("main").innerText.includes(` + quote(text) + `)`)
}

// fill gives a field a value.
func (p *tab) fill(field, value string) {
	p.t.Helper()
	p.eval(`document.querySelector("main [name='`+field+`']").value = `+quote(value), nil)
}

// What is done in the console can be done in a browser that runs no JavaScript. It is only
// simpler there: an editor is a text field, and the page of a running run reloads itself.
func TestConsoleWithoutJavaScript(t *testing.T) {
	e := newEnv(t)
	release := make(chan struct{})
	e.browser.Page.Navigate = func(ctx context.Context, url string) (routine.Navigation, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return routine.Navigation{}, ctx.Err()
		}
		return routine.Navigation{URL: url, Status: http.StatusOK}, nil
	}
	r := e.create(searchText)
	p := newTab(t, startTestBrowser(t))
	p.send("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	p.open(e.URL + "/console/login")
	p.fill("token", adminToken)
	p.click("Sign in")

	p.says("search_products")
	p.fill("q", "nothing")
	p.click("Filter")
	p.says("No routine matches")
	p.click("Clear the filters")
	p.click("search_products")
	p.says("click #search")

	p.click("Run")
	p.click("As JSON")
	p.sees(`document.querySelector("[name=json]").checkVisibility()`)
	p.runsWithoutJavaScript(release)
	p.editsWithoutJavaScript(e.URL + "/console/routines/" + r.ID)
	p.open(e.URL + "/console/tokens")
	p.click("New token")
	p.fill("user", "grace")
	p.eval(`document.querySelector("[value='routines:read']").click()`, nil)
	p.click("Create the token")
	p.says("rote_")
	p.offersNoDeadButtons()
	p.click("Back to the tokens")
	p.click("Revoke the token of grace")
	p.eval(`document.querySelector("details.confirm[open] button").click()`, nil)
	p.says("revoked")
	if tokens, err := e.service.Tokens(t.Context()); err != nil || len(tokens) != 1 || tokens[0].UserID != "grace" || tokens[0].RevokedAt == nil {
		t.Errorf("%+v %v", tokens, err)
	}
}

// runsWithoutJavaScript runs the routine of the page with a mistake, to its end, and once more
// until it is cancelled.
func (p *tab) runsWithoutJavaScript(release chan<- struct{}) {
	p.t.Helper()
	submit := `document.querySelector("main form[action$='/run'] button.primary").click()`
	p.eval(submit, nil)
	p.says("Not started")
	p.forgive() // the status 400
	p.fill("p.query", "lamp")
	p.eval(submit, nil)
	p.says("0 of 4 operations")
	release <- struct{}{}
	p.says("completed") // the page has reloaded itself
	p.offersNoDeadButtons()
	p.click("Run again")
	p.sees(`document.readyState === "complete" && document.querySelector("[name='p.query']")?.value === "lamp"`)
	p.eval(submit, nil)
	p.says("0 of 4 operations")
	p.click("Cancel run")
	p.says("cancelled")
}

// editsWithoutJavaScript makes versions 2 and 3 of a routine, compares them and goes back.
func (p *tab) editsWithoutJavaScript(path string) {
	p.t.Helper()
	p.open(path + "/edit")
	var text string
	p.eval(`document.querySelector("textarea[name=definition]").value`, &text)
	for _, change := range []struct{ to, says string }{{`Finds "products".`, "Not saved"}, {"Finds products.", "Version 2 is saved"}} {
		p.fill("definition", strings.Replace(text, "Searches the shop.", change.to, 1))
		p.click("Save as version 2")
		p.says(change.says)
	}
	p.forgive() // the status 422 of the text with a mistake
	p.click("version 2: what changed")
	p.says("Searches the shop.")
	p.says("Finds products.")
	p.sees(`[...document.querySelectorAll("rote-diff pre")].every(e => e.checkVisibility())`)
	p.click("‹ Version 1")
	p.click("Restore version 1")
	p.says("search_products v3")
	p.click("Archive")
	p.says("The routine is archived")
	p.click("Make it active again")
	p.says("The routine is active")
}

// offersNoDeadButtons fails the test if the page has buttons that only a script would answer.
func (p *tab) offersNoDeadButtons() {
	p.t.Helper()
	var dead []string
	p.eval(`[...document.querySelectorAll("button")].filter(e => e.type === "button" && e.checkVisibility() && !e.popoverTargetElement)
		.map(e => e.outerHTML)`, &dead)
	if len(dead) != 0 {
		p.t.Errorf("buttons that do nothing: %q", dead)
	}
}
