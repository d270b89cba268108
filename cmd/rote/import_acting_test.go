package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// actingPage has elements that send something, and hardly say so.
const actingPage = `<!doctype html><title>Shop</title>
<button id=delete-item onclick="send()"><svg width=20 height=20><rect width=20 height=20 /></svg></button>
<button id=b title="Remove" onclick="send()">x</button>
<button id=decomposed onclick="send()">lo&#x308;schen</button>
<button id=asks onclick="if (confirm('Really?')) send()">Archive</button>
<form method=post action=/sent><input id=text name=a><button id=ok>OK</button></form>
<form method=post action=/sent><input type=password><input type=password aria-label=Again><button id=register>Create account</button></form>
<form method=post action=/sent><input type=checkbox id=box aria-label=Done onchange="this.form.submit()"></form>
<form method=post action=/sent><select id=list aria-label=Move onchange="this.form.submit()"><option>a<option>b</select></form>
<form action=/sent><input id=leave aria-label=Address><button>Unsubscribe</button></form>
<script>function send() { fetch('/sent', {method: 'POST'}) }</script>`

// Resolve sends nothing by a click, a key, a choice or a line break.
func TestResolveSendsNothing(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sent" {
			sent.Add(1)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, actingPage)
	}))
	t.Cleanup(shop.Close)
	d := &driver{taskServer: newTaskServer(t, 1, "--toolsets", "authoring,teach", "--allow-host", strings.TrimPrefix(shop.URL, "http://")), t: t}
	key := func(name string) string {
		return fmt.Sprintf(`{"type":"keyDown","key":%q},{"type":"keyUp","key":%[1]q}`, name)
	}
	change := func(id, value string) string {
		return fmt.Sprintf(`{"type":"change","value":%q,"selectors":[["#%s"]]}`, value, id)
	}
	click := func(id string) string { return fmt.Sprintf(`{"type":"click","selectors":[["#%s"]]}`, id) }
	for _, steps := range []string{
		click("delete-item"), click("b"), click("decomposed"), click("ok"), click("register"), click("box"),
		change("list", "b"), change("text", "a\nb\n"),
		change("text", "a") + "," + key("NumpadEnter"), change("leave", "a") + "," + key("Enter"),
	} {
		a := d.call("import_routine", members{"resolve": true, "source": `{"title":"Try it","steps":[{"type":"navigate","url":"` + shop.URL + `"},` + steps + `]}`})
		if a.failed || !strings.Contains(a.text, "was not done by itself") {
			t.Errorf("%s:\n%s", steps, a.text)
		}
		d.call("end_lesson", members{"lesson": lessonID.FindString(a.text)})
	}
	asks := fmt.Sprintf("import { test } from '@playwright/test';\ntest('a', async ({ page }) => {\n  await page.goto('%s');\n"+
		"  page.once('dialog', d => d.accept());\n  await page.locator('#asks').click();\n});\n", shop.URL)
	if a := d.call("import_routine", members{"resolve": true, "source": asks}); a.failed || !strings.Contains(a.text, "accepts the dialog") {
		t.Errorf("a dialog:\n%s", a.text)
	}
	if n := sent.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
