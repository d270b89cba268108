package importer

import (
	"strings"
	"testing"

	"rote/routine"
)

// Fixtures of the file are read where a test names them, up to where they give their value.
func TestFixturesOfScripts(t *testing.T) {
	for name, row := range map[string]struct{ source, want string }{
		"Python": {`import pytest
from playwright.sync_api import Page, expect

@pytest.fixture
def opened(page: Page):
    page.goto("https://x.test/login")
    yield page
    page.click("#leave")

@pytest.fixture
def signed_in(opened):
    opened.fill("#pin", "planted-Secret")
    return opened

def test_a(signed_in):
    signed_in.click("#a")
`, "https://x.test/login #pin={{pin}} #a"},
		"TypeScript": {`import { test as base } from '@playwright/test';
class Login { constructor(private page: Page) {}
	async open() { await this.page.goto('https://x.test/login'); }
	async go() { await this.page.click('#go'); } }
const test = base.extend<{ login: Login }>({
	login: async ({ page }, use) => { const p = new Login(page); await p.open(); await use(p); await page.click('#leave'); },
});
test('a', async ({ page, login }) => { await login.go(); await page.click('#a'); });`, "https://x.test/login #go #a"},
	} {
		r, err := Import(Request{Source: row.source})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkAccount(t, r)
		if got := filled(string(r.Routine)); got != row.want || r.Report.Dropped > 0 || !r.Valid {
			t.Errorf("%s: %s, want %s\n%+v", name, got, row.want, r.Report.Items)
		}
	}
}

// What another file does is in the account, with the name of what is not there.
func TestCodeOfOtherFiles(t *testing.T) {
	for source, want := range map[string]string{
		"import { test } from './fixtures'; // @playwright/test\n" +
			"test('a', async ({ page, cart }) => { await page.click('#a'); await cart.add('Lamp'); });": "cart is not",
		"import { test } from '@playwright/test';\nimport { logIn } from './helpers';\n" +
			"await page.click('#a');\nawait logIn(page, 'ada');": "logIn is not",
		"using Microsoft.Playwright;\n" +
			"class T : PageTest { [Fact] public async Task A() { await Page.ClickAsync(\"#a\"); await LogInAsync(); } }": "LogInAsync is not",
		"from playwright.sync_api import Page\n" +
			"def test_a(page: Page, admin):\n    page.click('#a')\n    admin.open()\n": "admin is not",
		"import com.microsoft.playwright.*;\n" +
			"class T { Page page; @Test void a() { page.click(\"#a\"); Cart cart = new Cart(page); cart.add(\"Lamp\"); } }": "cart is not",
	} {
		r, err := Import(Request{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		checkAccount(t, r)
		last := r.Report.Items[len(r.Report.Items)-1]
		if got := filled(string(r.Routine)); got != "#a" || last.What != "dropped" || !strings.Contains(last.Message, want) {
			t.Errorf("%s\n%s %+v", source, got, r.Report.Items)
		}
	}
}

// Assertions of the test frameworks of C#, Java and Python, and comparisons of numbers, become what waits until they hold.
func TestAssertionsOfFrameworks(t *testing.T) {
	const ts, py = "import { test, expect } from '@playwright/test';\n", "from playwright.sync_api import Page\n"
	java := func(code string) string {
		return "import com.microsoft.playwright.*;\nclass T { @Test void a(Page page) { " + code + " } }"
	}
	csharp := func(code string) string {
		return "using Microsoft.Playwright;\nclass T : PageTest { [Fact] public async Task A() { " + code + " } }"
	}
	for _, row := range []struct{ source, want string }{
		{java(`assertEquals("Home", page.title());`), `t(found)===t(\"Home\")`},
		{java(`Assertions.assertEquals("Hi", page.locator("h1").innerText());`), `t(found)===t(\"Hi\")`},
		{java(`assertTrue(page.url().contains("/home"));`), `found=location.href;\nif(t(found).includes(t(\"/home\")))`},
		{java(`assertFalse(page.url().contains("/login"));`), `found=location.href;\nif(!(t(found).includes(t(\"/login\"))))`},
		{java(`assertTrue(page.locator("#a").isVisible());`), `list.some(visible);\nif(found)`},
		{java(`String text = page.textContent("#m"); assertEquals("Saved", text.trim());`), `t(found)===t(\"Saved\")`},
		{csharp(`Assert.Equal("Home", await Page.TitleAsync());`), `t(found)===t(\"Home\")`},
		{csharp(`Assert.Contains("/home", Page.Url);`), `found=location.href;\nif(t(found).includes(t(\"/home\")))`},
		{csharp(`Assert.That(Page.Url, Does.Not.Contain("/login"), "it stays");`), `found=location.href;\nif(!(t(found).includes(t(\"/login\"))))`},
		{csharp(`Assert.That(await Page.Locator("li").CountAsync(), Is.GreaterThan(2));`),
			`found=list.length;\nif(Number(found)>Number(\"2\"))`},
		{csharp(`Assert.IsTrue(await Page.Locator("#a").IsVisibleAsync());`), `list.some(visible);\nif(found)`},
		{ts + "expect(await page.locator('li').count()).toBeGreaterThan(2);", `Number(found)>Number(\"2\")`},
		{ts + "const n = await page.locator('li').count();\nexpect(n).toBeLessThanOrEqual(2);", `Number(found)<=Number(\"2\")`},
		{ts + "expect((await page.locator('h1').textContent()).trim()).toBe('Hi');", `t(found)===t(\"Hi\")`},
		{ts + "expect(await page.locator('li').allTextContents()).toHaveLength(3);",
			`found=(list.map(e=>e.textContent)).length;`},
		{py + "assert page.locator('li').count() >= 3", `Number(found)>=Number(\"3\")`},
		{py + "rows = page.locator('li').all_inner_texts()\nassert len(rows) < 3",
			`found=JSON.parse(sessionStorage.getItem(\"rows\")).length;\nif(Number(found)<Number(\"3\"))`},
	} {
		wantWhole(t, row.source, row.want)
	}
}

// A click that depends on whether an element is there becomes a script that does the same.
func TestGuardedClicks(t *testing.T) {
	for _, source := range []string{
		"import { test } from '@playwright/test';\nif (await page.locator('#ok').isVisible()) {\n await page.locator('#ok').click();\n}",
		"import { test } from '@playwright/test';\nconst ok = page.locator('#ok');\nif (await ok.isVisible().catch(() => false)) await ok.click();",
		"import { test } from '@playwright/test';\nif (await page.locator('#ok').count() > 0) {\n await page.click('#ok');\n await page.waitForTimeout(5);\n}",
		"from playwright.sync_api import Page\nif page.locator('#ok').is_visible():\n    page.click('#ok')\n",
		"using Microsoft.Playwright;\nif (await page.Locator(\"#ok\").CountAsync() > 0) { await page.Locator(\"#ok\").ClickAsync(); }",
	} {
		wantWhole(t, source, `list.find(visible)?.click()`)
	}
	r, err := Import(Request{Source: "import { test } from '@playwright/test';\nawait page.click('#a');\nif (await page.locator('#x').isVisible()) {\n" +
		" await page.click('#x');\n await page.fill('#y', 'z');\n}"})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(routine.RawJSON(r.Report)); r.Report.Dropped != 3 || strings.Contains(text, "set_by_script") {
		t.Errorf("a condition of more than a click: %s", text)
	}
}

// Scripts that Chrome's Recorder has exported before Puppeteer had locators have functions of their own, which are known.
func TestOlderExportsOfRecorder(t *testing.T) {
	r, err := Import(Request{Source: `const puppeteer = require('puppeteer'); // v13.0.0 or later
(async () => {
	const browser = await puppeteer.launch();
	const page = await browser.newPage();
	{
		const targetPage = page;
		const promises = [];
		promises.push(targetPage.waitForNavigation());
		await targetPage.goto("https://x.test/");
		await Promise.all(promises);
	}
	{
		const targetPage = page;
		await scrollIntoViewIfNeeded([["aria/Find"],["#find"],["my-app","pierce/#find"]], targetPage, 5000);
		const element = await waitForSelectors([["aria/Find"],["#find"]], targetPage, { timeout: 5000, visible: true });
		const inputType = await element.evaluate(el => el.type);
		if (inputType === 'select-one') {
			await changeSelectElement(element, 'lamp')
		} else if (['textarea', 'text'].includes(inputType)) {
			await typeIntoElement(element, 'lamp');
		} else {
			await changeElementValue(element, 'lamp');
		}
	}
	{
		const targetPage = page;
		const element = await waitForSelectors([["aria/Go[role=\"button\"]"],["#go"]], targetPage, { timeout: 5000, visible: true });
		await element.click({ offset: { x: 2, y: 9 } });
	}
	await browser.close();
	async function waitForSelectors(selectors, frame, options) {
		for (const selector of selectors) {
			try { return await waitForSelector(selector, frame, options); } catch (err) { console.error(err); }
		}
		throw new Error('none');
	}
	async function typeIntoElement(element, value) { await element.type(value); }
})();`})
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, r)
	got := filled(string(r.Routine))
	if got != "https://x.test/ #find=lamp #go" || r.Report.Dropped > 0 || !r.Valid || strings.Contains(string(r.Routine), `"return"`) {
		t.Errorf("%s\n%+v", got, r.Report.Items)
	}
}

// A function of the page may get an element that the script has found before.
func TestFunctionsWithElements(t *testing.T) {
	wantWhole(t, "const puppeteer = require('puppeteer');\nconst bar = await page.$('pierce/#bar');\n"+
		"const text = await page.evaluate((e) => e.textContent, bar);",
		`"session_storage_key":"text"},{"type":"return","session_storage_key":"text"`)
}
