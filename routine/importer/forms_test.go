package importer

import (
	"strings"
	"testing"
)

// Each of the forms in which scripts write something becomes what it says; nothing of it is dropped.
func TestFormsOfScripts(t *testing.T) {
	const playwright, puppeteer = "import { test, expect } from '@playwright/test';\n", "const puppeteer = require('puppeteer');\n"
	for _, row := range []struct{ source, want string }{
		{playwright + "await page.getByPlaceholder(/find/i).fill('lamp');",
			`"x-target":{"css":"[placeholder]","attribute":"placeholder","attribute_regex":"/find/i"}`},
		{playwright + "await page.getByAltText(/logo/).click();", `"attribute":"alt","attribute_regex":"/logo/"`},
		{playwright + "await page.getByTestId(/cart-\\d+/).click();", `"attribute":"data-testid","attribute_regex":"/cart-\\d+/"`},
		{playwright + "await page.getByRole('listitem').filter({ hasNotText: 'Sold' }).getByRole('button', { name: 'Buy' }).click();",
			`"within":{"css":":is([role=listitem],:is(li):not([role]))","has_not_text":"Sold"}`},
		{playwright + "await page.locator('li').filter({ hasText: 'Lamp', hasNot: page.getByText('Sold') }).first().click();",
			`{"css":"li","has_text":"Lamp","has_not":{"text":"Sold","match":"contains"},"nth":0}`},
		{"from playwright.sync_api import Page\npage.locator('li').filter(has_not_text=re.compile('sold', re.I)).click()", `"has_not_regex":"/sold/i"`},
		{playwright + "await expect(page).toHaveURL(/cart[a-c]\\d/i);", `"url_regex":"[cC][aA][rR][tT][a-cA-C]\\d"`},
		{playwright + "await page.waitForURL(`${process.env.SITE}/home`);", `"url_regex":"/home$"`},
		{playwright + "await page.waitForURL(url => url.pathname.includes('/cart'));", `"url_regex":"/cart"`},
		{playwright + "await page.waitForURL((url) => url.href.endsWith('?a=1'));", `"url_regex":"\\?a=1$"`},
		{puppeteer + "await page.click('#a');\nawait sleep(1500);", `{"type":"sleep","timeout_seconds":1.5}`},
		{"from playwright.sync_api import Page\npage.click('#a')\ntime.sleep(2)", `{"type":"sleep","timeout_seconds":2}`},
		{"using Microsoft.Playwright;\nawait page.ClickAsync(\"#a\"); await Task.Delay(500);", `{"type":"sleep","timeout_seconds":0.5}`},
		{"import com.microsoft.playwright.*;\nclass T { @Test void a(Page page) { page.click(\"#a\"); Thread.sleep(500); } }",
			`{"type":"sleep","timeout_seconds":0.5}`},
		{playwright + "await expect.poll(async () => page.locator('li').count(), { timeout: 10 }).toBe(3);", `found=list.length;\nif(t(found)===t(\"3\"))`},
		{playwright + "await expect(async () => {\n await expect(page.locator('li')).toHaveCount(3);\n}).toPass();", `expected 3 elements, found`},
		{playwright + "await expect(page.locator('#a')).toHaveAttribute('disabled');", `if(list.length>0&&found!=null)`},
		{playwright + "await expect(page.locator('#a')).toHaveCSS('color', 'red');", `getPropertyValue(\"color\")`},
		{playwright + "await expect(page.locator('#a')).toHaveRole('button');", `e.matches(\"[role=button],`},
		{playwright + "await expect(page.locator('#a')).not.toHaveText('Sold');", `expected not text \\\"Sold\\\", found `},
		{puppeteer + "await page.waitForFunction(() => document.querySelectorAll('li').length > 10);", `(() => document.querySelectorAll('li').length > 10\n)()`},
		{puppeteer + "const more = await page.locator('text/More').waitHandle();\nconst title = await more?.evaluate(el => el.textContent);",
			`"session_storage_key":"title"`},
		{puppeteer + "await page.locator('#deep >>> button').click();", `"x-target":{"css":"button","within":{"css":"#deep"}}`},
		{puppeteer + "await page.locator('my-app >>> #buy').click();", `"selector":"#buy"`},
		{puppeteer + "await page.locator('a::-p-text(Buy)').click();", `"x-target":{"css":"a","has_text":"Buy"}`},
		{puppeteer + "await page.keyboard.down('Shift');\nawait page.keyboard.press('Tab');\nawait page.keyboard.up('Shift');", `"key":"Shift+Tab"`},
		{puppeteer + "await page.focus('#who');\nawait page.keyboard.type('ada');", `"selector":"#who","text":"ada"`},
		{puppeteer + "await page.focus('#pw');\nawait page.keyboard.type('planted-Secret');", `"selector":"#pw","text":"{{pw}}"`},
	} {
		wantWhole(t, row.source, row.want)
	}
}

// A recording that checks a text in the end returns its element, unless it returns something else.
func TestResultOfRecordings(t *testing.T) {
	const head = "import { test, expect } from '@playwright/test';\nawait page.goto('https://x.test/');\n"
	const check = "await expect(page.locator('#sum')).toHaveText('3');\n"
	for source, want := range map[string]bool{
		head + check:                                                           true,
		head + check + "await page.close();\n":                                 true,
		head + check + "await page.click('#next');\n":                          false,
		head + "const name = await page.textContent('#name');\n" + check:       false,
		head + "await expect(page.locator('#sum')).not.toHaveText('3');\n":     false,
		head + "await expect(page.getByTestId('sum')).toContainText(/\\d/);\n": true,
		`{"steps": [{"type": "navigate", "url": "https://x.test/"}, {"type": "waitForElement", "selectors": [["#a"]], "properties": {"innerText": "3"}}]}`: true,
	} {
		r, err := Import(Request{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		checkAccount(t, r)
		if got := strings.Contains(string(r.Routine), `"type":"return_html"`); got != want || !r.Valid {
			t.Errorf("%s: %s", source, r.Routine)
		}
	}
}

// Steps of recordings in windows, in shadow roots and under the mouse.
func TestFormsOfRecordings(t *testing.T) {
	const head = `{"steps": [{"type": "navigate", "url": "https://x.test/"}, `
	side := func(commands string) string {
		return `{"url": "https://x.test", "tests": [{"name": "a", "commands": [{"command": "open", "target": "/", "value": ""}, ` + commands + `]}]}`
	}
	for _, row := range []struct{ source, want string }{
		{head + `{"type": "click", "selectors": [["#a"]], "target": "main"}, {"type": "click", "selectors": [["#b"]], "target": "https://x.test/w"},
			{"type": "close", "target": "https://x.test/w"}, {"type": "click", "selectors": [["#c"]], "target": "main"}]}`,
			`{"type":"click","selector":"#a","x-popup":"follow"},{"type":"click","selector":"#b","x-popup":"close"},{"type":"click","selector":"#c"}`},
		{head + `{"type": "click", "selectors": [["#b"]], "target": "https://x.test/w"}]}`,
			`{"type":"navigate","url":"https://x.test/w"},{"type":"click","selector":"#b"}`},
		{head + `{"type": "click", "selectors": [["my-app", "li:nth-of-type(2) my-item", "a"]]}]}`,
			`"x-target":{"css":"a","within":{"css":"li:nth-of-type(2) my-item","within":{"css":"my-app"}}}`},
		{head + `{"type": "click", "selectors": [["my-app", "#buy"]]}]}`, `"selector":"#buy"`},
		{side(`{"command": "mouseOver", "target": "css=.menu", "value": ""}, {"command": "mouseOut", "target": "css=.menu", "value": ""},
			{"command": "click", "target": "id=item", "value": ""}`), `{"type":"click","selector":"#item","x-hover":[".menu"]}`},
		{side(`{"command": "assertText", "target": "id=a", "value": "two\\nlines"}`), `t(\"two\\nlines\")`},
		{side(`{"command": "click", "target": "linkText=Open", "value": "", "opensWindow": true, "windowHandleName": "w"},
			{"command": "selectWindow", "target": "handle=${w}", "value": ""}, {"command": "click", "target": "linkText=In", "value": ""},
			{"command": "selectWindow", "target": "handle=${root}", "value": ""}`), `"x-bridge":"b2","x-popup":"close"}`},
	} {
		wantWhole(t, row.source, row.want)
	}
}

// wantWhole fails the test unless a recording becomes a valid routine that has a text, and no step
// of it is dropped.
func wantWhole(t *testing.T, source, want string) {
	t.Helper()
	r, err := Import(Request{Source: source})
	if err != nil {
		t.Errorf("%s: %v", source, err)
		return
	}
	checkAccount(t, r)
	if text := string(r.Routine); !strings.Contains(text, want) || !r.Valid || r.Report.Dropped > 0 {
		t.Errorf("%s\nis %s\nwant %s\n%+v %v", source, text, want, r.Report.Items, r.Errors)
	}
}
