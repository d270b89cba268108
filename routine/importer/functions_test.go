package importer

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"rote/routine"
)

// fills matches what a routine fills in, and where.
var fills = regexp.MustCompile(`"selector":"(#\w+)","text":"([^"]*)"|"selector":"(#\w+)"|"url":"([^"]*)"`)

// Functions, page objects and set-up code are read where a test calls them.
func TestFunctionsOfScripts(t *testing.T) {
	const ts, py = "import { test, expect } from '@playwright/test';\n", "from playwright.sync_api import Page, expect\n"
	for name, row := range map[string]struct{ source, want string }{
		"a helper": {ts + `async function add(page: Page, product: string, count = '1') {
			await page.fill('#product', product); await page.fill('#count', count); }
			const buy = async (page, { product }) => { await add(page, product); await page.click('#buy'); };
			test('a', async ({ page }) => { await buy(page, { product: 'Lamp' }); await add(page, 'Desk', '2'); });`,
			"#product=Lamp #count=1 #buy #product=Desk #count=2"},
		"a page object": {ts + `class Login { readonly name: Locator;
			constructor(private readonly page: Page) { this.name = page.locator('#name'); }
			get button() { return this.page.locator('#go'); }
			row(id: string) { return this.page.locator('#row' + id); }
			async open(): Promise<void> { await this.page.goto('https://x.test/'); }
			async login(name: string, password: string) { await this.name.fill(name); await this.page.fill('#pin', password); await this.button.click(); } }
			let login: Login;
			test.beforeEach(async ({ page }) => { login = new Login(page); await login.open(); });
			test('a', async ({ page }) => { await login.login('ada', 'planted-Secret'); await login.row('7').click(); await expect(login.button).toBeVisible(); });`,
			"https://x.test/ #name=ada #pin={{password}} #go #row7 #go"},
		"an object of Python": {py + `class Login:
    def __init__(self, page: Page):
        self.page = page
        self.user_name = page.locator("#name")

    def login(self, name: str, remember="no"):
        self.user_name.fill(name)
        self.page.locator("#keep").fill(remember)

def test_a(page: Page):
    Login(page).login(name="ada")
`, "#name=ada #keep=no"},
		"a fixture": {py + `@pytest.fixture(autouse=True)
def before(page: Page):
    page.goto("https://x.test/")

def test_a(page: Page):
    page.click("#a")
    assert page.title() == "A"
    assert "b" in page.inner_text("#b")
`, "https://x.test/ #a #b"},
		"main": {py + `async def main():
    await step(page, "x")

async def step(page, what):
    await page.fill("#what", what)

if __name__ == "__main__":
    asyncio.run(main())
`, "#what=x"},
		"Java": {`import com.microsoft.playwright.*;
			class LoginPage { private final Page page; private final Locator name;
				public LoginPage(Page page) { this.page = page; name = page.locator("#name"); }
				public void login(String user) { name.fill(user); page.click("#go"); } }
			public class T { LoginPage login;
				@BeforeEach void open(Page page) { page.navigate("https://x.test/"); login = new LoginPage(page); }
				private void more(Page page) { page.click("#more"); }
				@Test void a(Page page) { login.login("ada"); more(page); } }`,
			"https://x.test/ #name=ada #go #more"},
		"C#": {`using Microsoft.Playwright;
			public class LoginPage { private readonly IPage _page; private readonly ILocator _name;
				public LoginPage(IPage page) { _page = page; _name = page.Locator("#name"); }
				public async Task LoginAsync(string user) { await _name.FillAsync(user); await _page.ClickAsync("#go"); } }
			public class T : PageTest {
				[SetUp] public async Task Open() { await Page.GotoAsync("https://x.test/"); }
				[Test] public async Task A() { var login = new LoginPage(Page); await login.LoginAsync("ada"); } }`,
			"https://x.test/ #name=ada #go"},
		"what another program calls": {"const puppeteer = require('puppeteer');\nmodule.exports = { scrape };\n" +
			"async function scrape(page, query) { await page.goto('https://x.test/'); await page.type('#q', query); }", "https://x.test/ #q={{query}}"},
		"itself": {ts + `async function again(page) { await page.click('#again'); }
			test('a', async ({ page }) => { await again(page); await again(page); });`, "#again #again"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Import(Request{Source: row.source})
			if err != nil {
				t.Fatal(err)
			}
			checkAccount(t, r)
			var got []string
			for _, m := range fills.FindAllStringSubmatch(string(r.Routine), -1) {
				one := m[1] + m[3] + m[4]
				if m[2] != "" {
					one += "=" + m[2]
				}
				got = append(got, one)
			}
			if text := strings.Join(got, " "); text != row.want || r.Report.Dropped > 0 || !r.Valid {
				t.Errorf("%s\nwant %s\n%+v", text, row.want, r.Report.Items)
			}
			if text := string(routine.RawJSON(r)); strings.Contains(text, "planted-Secret") {
				t.Errorf("the answer has a secret: %s", text)
			}
		})
	}
}

// Functions that call themselves, or others without end, are read to an end.
func TestEndlessFunctions(t *testing.T) {
	var b strings.Builder
	b.WriteString("import { test } from '@playwright/test';\nawait page.click('#a');\nawait f0(page);\n")
	for i := range 40 {
		fmt.Fprintf(&b, "async function f%d(page) { await f%d(page); await f%d(page); await f%d(page); await page.click('#b'); }\n", i, i, i+1, (i+2)%40)
	}
	r, err := Import(Request{Source: b.String()})
	if err == nil {
		checkAccount(t, r)
	} else if routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), "more than 500 steps") {
		t.Error(err)
	}
}
