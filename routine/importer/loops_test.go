package importer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// filled returns what a routine fills in and opens, as in "https://x.test/ #a=1 #b".
func filled(definition string) string {
	var all []string
	for _, m := range fills.FindAllStringSubmatch(definition, -1) {
		one := m[1] + m[3] + m[4]
		if m[2] != "" {
			one += "=" + m[2]
		}
		all = append(all, one)
	}
	return strings.Join(all, " ")
}

// Loops over values that the script says are written out, and each round of one that declares tests is a test.
func TestLoopsOfScripts(t *testing.T) {
	const ts, py = "import { test, expect } from '@playwright/test';\n", "from playwright.sync_api import Page, expect\n"
	for name, row := range map[string]struct{ source, test, want string }{
		"a list":  {ts + "const all = ['a', 'b'];\nfor (const one of all) {\n await page.fill('#x', one);\n}", "", "#x=a #x=b"},
		"numbers": {ts + "for (let i = 1; i <= 2; i++) {\n await page.fill('#x' + (i + 1), `${i}`);\n}", "", "#x2=1 #x3=2"},
		"objects": {ts + "for (const { id, text } of [{ id: '#a', text: '1' }, { id: '#b', text: '2' }]) await page.fill(id, text);", "", "#a=1 #b=2"},
		"members": {ts + "const who = { name: { first: 'ada' } };\nawait page.fill('#a', who.name.first);", "", "#a=ada"},
		"Python": {py + "for i, (name) in enumerate(['a', 'b']):\n    page.fill('#x', name)\nfor n in range(1, 3):\n    page.fill(f'#n{n}', 'z')\n", "",
			"#x=a #x=b #n1=z #n2=z"},
		"a tuple": {py + "for field, value in (('#a', '1'), ('#b', '2')):\n    page.fill(field, value)\n", "", "#a=1 #b=2"},
		"Java": {"import com.microsoft.playwright.*;\nclass T { public static void main(String[] a) {\n" +
			"for (String s : List.of(\"a\", \"b\")) { page.fill(\"#x\", s); } } }", "", "#x=a #x=b"},
		"C#": {"using Microsoft.Playwright;\nforeach (var s in new[] { \"a\", \"b\" }) { await page.FillAsync(\"#x\", s); }", "", "#x=a #x=b"},
		"tests": {ts + "for (const who of ['ada', 'bob']) {\n" +
			" test(`as ${who}`, async ({ page }) => { await page.fill('#who', who); });\n}", "as bob", "#who=bob"},
		"forEach": {ts + "[{ who: 'ada' }, { who: 'bob' }].forEach(({ who }) => {\n" +
			" test(who + ' enters', async ({ page }) => { await page.fill('#who', who); });\n});", "ada enters", "#who=ada"},
		"in suites": {ts + "for (const who of ['ada', 'bob']) {\n" +
			" test.describe(who, () => { test('enters', async ({ page }) => { await page.fill('#who', who); }); });\n}", "", "#who=ada"},
	} {
		r, err := Import(Request{Source: row.source, Test: row.test})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkAccount(t, r)
		if got := filled(string(r.Routine)); got != row.want || r.Report.Dropped > 0 || !r.Valid {
			t.Errorf("%s: %s, want %s\n%+v", name, got, row.want, r.Report.Items)
		}
	}
}

// Loops whose rounds depend on the page are left out, and nothing of them becomes a parameter.
func TestLoopsThatDependOnThePage(t *testing.T) {
	const head = "import { test } from '@playwright/test';\nawait page.click('#a');\n"
	for _, source := range []string{
		"for (const row of await page.locator('li').all()) {\n await row.click();\n console.log(`clicked ${row}`);\n}",
		"for (const x of ['a', 'b']) {\n await page.fill('#x', x);\n if (await page.isVisible('#ok')) break;\n}",
		"for (let i = 0; i < 1000; i++) {\n await page.click('#x' + i);\n}",
		"for (const x of names) {\n await page.fill('#x', x);\n}",
	} {
		r, err := Import(Request{Source: head + source})
		if err != nil {
			t.Fatal(err)
		}
		checkAccount(t, r)
		steps := strings.Count(source, "click(") + strings.Count(source, "fill(")
		if got := filled(string(r.Routine)); got != "#a" || r.Report.Dropped < steps || !strings.Contains(string(r.Routine), `"parameters":[]`) {
			t.Errorf("%s: %s\n%+v\n%s", source, got, r.Report.Items, r.Routine)
		}
	}
}

// The tests of each framework of C# and Java are found, and their set-up code is none of them.
func TestMarksOfTests(t *testing.T) {
	for mark, want := range map[string]bool{"[Fact]": true, "[Theory]": true, "[TestMethod]": true, "[Test]": true, "[TestInitialize]": false} {
		source := "using Microsoft.Playwright;\npublic class T : PageTest {\n" + mark + "\npublic async Task A() { await Page.ClickAsync(\"#a\"); }\n" +
			"[Fact]\npublic async Task B() { await Page.ClickAsync(\"#b\"); } }"
		r, err := Import(Request{Source: source, Test: "B"})
		if err != nil {
			t.Fatal(err)
		}
		if got := filled(string(r.Routine)); (got == "#b") != want || !strings.HasSuffix(got, "#b") {
			t.Errorf("%s: %s", mark, got)
		}
	}
}

// Fields of passwords are known in the languages that recordings are made in.
func TestPasswordsOfLanguages(t *testing.T) {
	for _, label := range []string{"Heslo", "Hasło", "Пароль (чувствителен к регистру)", "请输入登录密码", "パスワード", "비밀번호", "Wachtwoord", "Lösenord", "Parola",
		"Mot de passe", "Contraseña", "Senha", "Jelszó", "Κωδικός", "Şifre", "كلمة المرور", "Mật khẩu"} {
		source := "import { test } from '@playwright/test';\nawait page.getByLabel('" + label + "').fill('planted-Secret');"
		r, err := Import(Request{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(routine.RawJSON(r)); strings.Contains(text, "planted-Secret") || !r.Valid {
			t.Errorf("%s: %s", label, text)
		}
	}
}

// Loops within loops, and fixtures that name many others, are read in bounded time.
func TestLargestLoops(t *testing.T) {
	optional.OneGoroutine(t)
	const ts = "import { test } from '@playwright/test';\n"
	var fixtures strings.Builder
	for i := range 60 {
		fmt.Fprintf(&fixtures, "@pytest.fixture\ndef f%d(f%d, f%d, f%d, f%d, f%d, f%d): return 1\n", i, i+1, i+2, i+3, i+4, i+5, i+6)
	}
	for name, source := range map[string]string{
		"nested": ts + strings.Repeat("for (const x of [1,2,3,4,5,6,7,8,9,10]) ", 30) + "await page.click('#a');",
		"long": ts + strings.Repeat("for (const x of [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]) {\n"+
			strings.Repeat("y = x;\n", 2300)+"}\n", 5) + "await page.click('#a');",
		"fixtures": "from playwright.sync_api import Page\n" + fixtures.String() + "def test_a(f0, page: Page):\n    page.click('#a')\n",
	} {
		var r *Imported
		var err error
		if took := stopwatch.Time(func() { r, err = Import(Request{Source: source}) }); took > time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if err != nil || !r.Valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
