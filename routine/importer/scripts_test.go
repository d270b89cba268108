package importer

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// touching matches the lines of scripts that do something with a page.
var touching = regexp.MustCompile(`(?i)(?:^|[^\w.])(?:await )?(?:(?:target)?page1?\.|expect\(page|card\.|more\.click|assertthat\()`)

// The account of the scripts has each statement that does something with a page, and at least 85 %
// of them are in the routines.
func TestAccountOfScripts(t *testing.T) {
	steps, kept := 0, 0
	for file, source := range recordings(t) {
		if kind := filepath.Base(filepath.Dir(file)); kind != "playwright" && kind != "puppeteer" && kind != "shop" {
			continue
		}
		r, err := Import(Request{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		before := ""
		for i, line := range strings.Split(source, "\n") {
			line = strings.TrimSpace(line)
			inStatement := strings.HasSuffix(before, ",") || strings.HasSuffix(before, "[") || strings.HasSuffix(before, "(")
			if before = line; inStatement || !touching.MatchString(line) {
				continue
			}
			if !slices.ContainsFunc(r.Report.Items, func(item draft.Item) bool { return item.Source.Line == i+1 }) {
				t.Errorf("%s:%d is in no account: %s", file, i+1, line)
			}
		}
		steps, kept = steps+r.Report.Steps, kept+r.Report.Carried+r.Report.Changed
		t.Logf("%s: %s", file, r.Report.Summary())
	}
	if steps < 100 || float64(kept) < 0.85*float64(steps) {
		t.Errorf("%d of %d steps are in the routines", kept, steps)
	}
}

// Scripts that cannot be read are refused with what to do.
func TestUnreadableScripts(t *testing.T) {
	const two = "import { test } from '@playwright/test';\ntest('a', async ({page}) => { await page.goto('/'); });\ntest('b', async ({page}) => {});"
	for _, row := range []struct{ source, test, want string }{
		{two, "", `name one of the tests: "a", "b"`},
		{two, "c", `there is no test "c": there are "a", "b"`},
		{"const puppeteer = require('puppeteer');\nconsole.log(1)", "", "line 1: no statement of the script does something in a page"},
		{"import { test } from '@playwright/test';\n" + strings.Repeat("await page.click('#a');\n", draft.MaxSteps+1), "",
			"line 502: the script has more than 500 steps"},
		{"import { test } from '@playwright/test';\n" + strings.Repeat("test('a', async () => {});\n", 60), "", "more than 50 tests"},
	} {
		if _, err := Import(Request{Source: row.source, Test: row.test}); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.60q %s: %v, want %s", row.source, row.test, err, row.want)
		}
	}
	names, err := Tests(Request{Source: two})
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q %v", names, err)
	}
}

// Any script of the largest size is read or refused within a second.
func TestLargestScripts(t *testing.T) {
	optional.OneGoroutine(t)
	for _, part := range []string{"page.click(", "page.getByText('a').", "[", "{", "(", "`${", "/*", "'\\u{", "if (a) else ", "a => ", "await ", "new ",
		"x = ", "async () => {",
		"page.locator('a').filter({ has: ", "test('a', () => {", "- ", "a, ", "a || ", "function f() {",
		"\u00e4", "/", "lambda x: ", "def f(page):\n ", "f\"{a}", "page.on(a, () => { page.once(b, () => {", "/[", "@a\n", "export ",
		"try {", "class A {", "class A:\n ", "@a\ndef f(page):\n f(page)\n", "assert a == ", "page.on(a => f(a), ",
		"page.locator('" + strings.Repeat(":has-text(x) ", 99) + "').click();"} {
		for i, head := range []string{"import '@playwright/test';\n", "from playwright.sync_api import Page\n", "using Microsoft.Playwright;\n"} {
			if i > 0 && len(part) > 6 {
				continue // the languages differ in what is short
			}
			parts := (MaxSource - len(head)) / len(part)
			if len(part) < 7 { // the most that is read of it
				parts = chain.MaxTokens / 4
			}
			source := head + strings.Repeat(part, parts)
			var err error
			if took := stopwatch.Time(func() { _, err = Import(Request{Source: source, Kind: "playwright"}) }); took > time.Second {
				t.Errorf("%q after %q took %v", part, head, took)
			}
			if code := routine.CodeOf(err); err != nil && code != routine.CodeInvalid {
				t.Errorf("%q: %v", part, err)
			}
		}
	}
}

// The values of secrets are in no answer, however a script writes them.
func TestSecretsOfScripts(t *testing.T) {
	const secret = "planted-Secret"
	for _, statement := range []string{
		"await page.fill('#password', %s);", "await page.getByLabel('Kennwort').fill(%s);", "const password = %s;\nawait page.fill('#x', password);",
		"await login(page, 'ada', %s);", "await page.getByLabel('Password').click();\nawait page.keyboard.type(%s);", "await page.authenticate({ password: %s });",
		"await request.post('https://x.test/', { headers: { Authorization: %s } });", "for (const a of b) { await page.fill('#password', %s); }",
		"await page.setExtraHTTPHeaders({ 'x-token': %s });",
	} {
		source := "import { test } from '@playwright/test';\nawait page.goto('https://x.test/');\n" + fmt.Sprintf(statement, "'"+secret+"'")
		r, err := Import(Request{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(routine.RawJSON(r)); strings.Contains(text, secret) || r.Report.Steps < 2 {
			t.Errorf("%s: %s", statement, text)
		}
	}
}
