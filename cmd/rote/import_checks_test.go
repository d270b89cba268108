package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rote/routine/importer"
)

// checkedPage has an element for each kind of check and of script that the importer makes. What
// scripts do is in the log; the second page shows what the form has sent.
const checkedPage = `<!doctype html><title>Checked page</title><p id=log></p>
<script>const say = s => { document.getElementById('log').textContent += s + ';' }</script>
<h1 class="big head" style="color: rgb(1, 2, 3)">Two  lamps</h1>
<ul><li>Red<li>Blue <b>Sold</b><li>Green</ul><p id=gone style="display:none">gone</p><p id=late></p>
<form action=/sent><input id=name name=name placeholder="Your name" value=ada oninput="say('typed')"><input id=fixed value=x readonly><input id=off disabled>
<label><input type=checkbox id=on checked onchange="say('on ' + this.checked)">On</label>
<label><input type=checkbox id=no onchange="say('no ' + this.checked)">No</label>
<select id=size onchange="say('size ' + this.value)"><option value=s>Small<option value=m>Medium<option value=l>Large</select>
<select id=many multiple onchange="say('many ' + [...this.selectedOptions].map(o => o.value))"><option selected>a<option selected>b</select>
<input type=color id=colour onchange="say(this.value)"><input type=range id=range max=10 onchange="say('range ' + this.value)"></form>
<button title="Close it" data-testid=close-7 onclick="say('closed')">Close</button><a href=/there>There</a><my-box></my-box>
<script>document.querySelector('my-box').attachShadow({mode: 'open'}).innerHTML = '<button onclick="say(\'in the box\')">Inner</button>';
setTimeout(() => { document.getElementById('late').textContent = 'came late' }, 300)</script>`

func sideTest(commands ...string) string {
	var all []string
	for _, c := range append([]string{"open|/"}, commands...) {
		parts := append(strings.Split(c, "|"), "", "")
		all = append(all, fmt.Sprintf(`{"command": %q, "target": %q, "value": %q}`, parts[0], parts[1], parts[2]))
	}
	return `{"url": "SITE", "tests": [{"name": "checks", "commands": [` + strings.Join(all, ", ") + `]}]}`
}

func playwrightTest(statements ...string) string {
	return "import { test, expect } from '@playwright/test';\nawait page.goto('SITE/');\n" + strings.Join(statements, "\n")
}

func recorderTest(steps ...string) string {
	return `{"title": "checks", "steps": [{"type": "navigate", "url": "SITE/"}, ` + strings.Join(steps, ", ") + `]}`
}

// Each kind of script that the importer makes holds in a browser where the recording holds.
func TestChecksOfRecordingsHold(t *testing.T) {
	t.Parallel()
	run := checkedSite(t)
	for name, row := range map[string]struct{ source, want string }{
		"side": {sideTest("check|id=no", "check|id=no", "uncheck|id=on", "select|id=size|index=2", "removeSelection|id=many|label=a",
			"assertText|css=h1|Two lamps", "assertNotText|css=h1|One", "assertValue|id=name|ada", "assertChecked|id=no", "assertNotChecked|id=on",
			"assertTitle|Checked page", "assertElementPresent|css=li", "assertElementNotPresent|id=nowhere", "assertEditable|id=name",
			"assertNotEditable|id=fixed",
			"assertSelectedValue|id=size|l", "assertSelectedLabel|id=size|Large", "assertNotSelectedValue|id=size|s", "waitForElementNotVisible|id=gone|1000",
			"waitForElementNotPresent|id=nowhere|1000", "waitForText|id=late|came late", "waitForElementNotEditable|id=off|1000",
			"storeText|css=h1|heading", "storeValue|id=name|who", "storeAttribute|css=a@href|link", "storeTitle||title", "storeElementCount|css=li|count",
			"storeXpathCount|xpath=//li|xcount", "storeJson|[1, 2]|list", "executeScript|return ${count} + 1|more", "assert|count|3", "assert|xcount|3",
			"assert|more|4", "assert|title|Checked page", "assert|link|/there", "assertText|id=log|no true;on false;size l;many b;", "type|id=name|${heading}!",
			"assertValue|id=name|${heading}!", "submit|css=form", "assertText|id=sent|Two lamps!"), `<p id="sent">Two lamps!</p>`},
		"playwright": {playwrightTest("await page.locator('#no').check();", "await page.locator('#on').uncheck();", "await page.locator('#no').setChecked(true);",
			"await page.locator('#size').selectOption({ index: 1 });", "await expect(page).toHaveURL(/127\\.0\\.0\\.1/i);",
			"await expect(page).toHaveTitle(/^Checked/);",
			"await expect(page.locator('h1')).toHaveText('Two lamps');", "await expect(page.locator('h1')).not.toContainText('One');",
			"await expect(page.locator('li')).toHaveText([/Red/, 'Blue Sold', 'Green']);", "await expect(page.locator('li')).toHaveCount(3);",
			"await expect(page.locator('li').filter({ hasNot: page.getByText('Sold') })).toHaveCount(2);", "await expect(page.locator('#name')).toHaveValue('ada');",
			"await expect(page.locator('li').filter({ hasNotText: /red|green/i })).toHaveText('Blue Sold');", "await expect(page.locator('#on')).not.toBeChecked();",
			"await expect(page.locator('#off')).toBeDisabled();", "await expect(page.locator('#fixed')).not.toBeEditable();",
			"await expect(page.locator('#off')).toBeEmpty();",
			"await expect(page.locator('#gone')).toBeHidden();", "await expect(page.locator('#nowhere')).not.toBeVisible();",
			"await expect(page.locator('#nowhere')).not.toBeAttached();",
			"await expect(page.locator('a')).toHaveAttribute('href', '/there');", "await expect(page.locator('#off')).toHaveAttribute('disabled');",
			"await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');", "await expect(page.getByText('Close', { exact: true })).toHaveRole('button');",
			"await expect(page.locator('h1')).toContainClass('head');", "await expect.poll(() => page.locator('li').count()).toBe(3);",
			"await page.getByPlaceholder(/your/i).click();", "await expect(page.getByPlaceholder(/your/i)).toBeFocused();",
			"await page.getByTitle(/^close/i).click();",
			"await page.getByTestId(/close-\\d/).click();", "await page.waitForFunction(() => document.getElementById('late').textContent !== '');",
			"expect(await page.locator('#late').textContent()).toBe('came late');",
			"await expect(page.locator('#log')).toHaveText('no true;on false;size m;closed;closed;');"),
			`<p id="log">no true;on false;size m;closed;closed;</p>`},
		"recorder": {recorderTest(`{"type": "change", "value": "#ff0000", "selectors": [["#colour"]]}`, `{"type": "change", "value": "7", "selectors": [["#range"]]}`,
			`{"type": "click", "selectors": [["my-box", "button"]]}`, `{"type": "waitForElement", "selectors": [["li"]], "count": 3, "operator": "=="}`,
			`{"type": "waitForElement", "selectors": [["#gone"]], "visible": false}`, `{"type": "waitForExpression", "expression": "document.title === 'Checked page'"}`,
			`{"type": "waitForElement", "selectors": [["#log"]], "properties": {"textContent": "#ff0000;range 7;in the box;"}, "attributes": {"id": "log"}}`),
			`<p id="log">#ff0000;range 7;in the box;</p>`},
	} {
		t.Run(name, func(t *testing.T) {
			e := run(t, row.source)
			result, _ := e["result"].(map[string]any)
			if data, _ := result["data"].(string); data != row.want {
				t.Errorf("gave %q, want %q: %v", data, row.want, e["detail"])
			}
		})
	}
}

// A check that fails ends the run with an error that has the expected and the actual value.
func TestChecksOfRecordingsFail(t *testing.T) {
	t.Parallel()
	run := checkedSite(t)
	for _, row := range []struct{ source, want string }{
		{playwrightTest("await expect(page.locator('h1')).toHaveText('One lamp', { timeout: 200 });"), `expected text "One lamp", found Two lamps`},
		{playwrightTest("await expect(page.locator('h1')).not.toContainText('lamps', { timeout: 200 });"), `expected not text "lamps", found Two lamps`},
		{playwrightTest("await expect(page.locator('#name')).toHaveValue(/bob/, { timeout: 200 });"), `expected value /bob/, found ada`},
		{playwrightTest("await expect(page.locator('#no')).toBeChecked({ timeout: 200 });"), `expected checked, found false`},
		{playwrightTest("await expect(page.locator('li')).toHaveCount(4, { timeout: 200 });"), `expected 4 elements, found 3`},
		{playwrightTest("await expect(page.locator('a')).toHaveAttribute('href', '/here', { timeout: 200 });"), `expected attribute href "/here", found /there`},
		{playwrightTest("await expect(page).toHaveTitle('Other', { timeout: 200 });"), `expected the title "Other", found Checked page`},
		{playwrightTest("await expect(page.locator('h1')).toBeHidden({ timeout: 200 });"), `expected no such element that can be seen, found 1`},
		{playwrightTest("await expect(page.locator('h1')).not.toBeAttached({ timeout: 200 });"), `expected no such element, found 1`},
		{playwrightTest("await expect(page.locator('h1')).toHaveRole('link', { timeout: 200 });"), `expected role link, found false`},
		{sideTest("waitForText|css=h1|One lamp|200", "assertText|css=h1|One lamp"), `expected Text One lamp, found Two lamps`},
		{sideTest("storeTitle||title", "assert|title|Other"), `expected title Other, found Checked page`},
		{sideTest("check|id=nowhere"), `nothing matches #nowhere`},
		{recorderTest(`{"type": "waitForElement", "selectors": [["li"]], "count": 9, "timeout": 200}`), `expected the number of elements >= 9, found 3`},
		{recorderTest(`{"type": "waitForExpression", "expression": "false", "timeout": 200}`), `the expression did not become true`},
	} {
		t.Run(row.want, func(t *testing.T) { // one after the other: the server would wait for other tests, too
			if e := run(t, row.source); !strings.Contains(fmt.Sprint(e["detail"]), row.want) {
				t.Errorf("%v, want %s", e, row.want)
			}
		})
	}
}

// checkedSite serves the page, and returns what imports and runs a recording of it.
func checkedSite(t *testing.T) func(t *testing.T, source string) map[string]any {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/sent" {
			fmt.Fprintf(w, "<p id=sent>%s</p>", r.URL.Query().Get("name"))
			return
		}
		fmt.Fprint(w, checkedPage)
	}))
	t.Cleanup(site.Close)
	s := newRote(t).serve("--allow-host", strings.TrimPrefix(site.URL, "http://"))
	return func(t *testing.T, source string) map[string]any {
		t.Helper()
		imported, err := importer.Import(importer.Request{Source: strings.ReplaceAll(source, "SITE", site.URL)})
		if err != nil || !imported.Valid || imported.Report.Dropped > 0 {
			t.Fatalf("%+v %v", imported, err)
		}
		body, err := json.Marshal(map[string]any{"routine": imported.Routine})
		if err != nil {
			t.Fatal(err)
		}
		_, e := s.call("POST", "/executions", string(body))
		return e
	}
}
