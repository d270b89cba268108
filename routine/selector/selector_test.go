package selector

import (
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// Chromium's querySelector accepts all of these.
func TestSelectorsThatParse(t *testing.T) {
	for _, s := range []string{
		"a",
		"*",
		"#x",
		".x",
		" a ",
		"a b",
		"a>b",
		"a > b + c ~ d",
		"a,b",
		"a ,\n b",
		"a.b#c[d]:hover",
		"*.a",
		"*#a",
		"é",
		".été",
		"#é",
		"😀",
		"u+a",
		"U+add",
		"u + a",
		"a-- b",
		"--x",
		".--x",
		"#--x",
		"-a",
		"_a",
		".a-1",
		`.a\:b`,
		`.w-1\/2`,
		`#\31 23`,
		`.\31 a`,
		`#a\.b`,
		`.\@x`,
		`.\[x\]`,
		`\61 b`,
		"a/**/",
		"/* x */ a /* y */ b",
		"a, /* */ b",
		"[x]",
		"[x=y]",
		"[ x = y ]",
		`[x="y z"]`,
		`[x='y' i]`,
		`[x="y"i]`,
		`[x=y I]`,
		"[x~=y]",
		"[x|=y]",
		"[x^=y]",
		"[x$=y]",
		"[x*=y]",
		"[x='']",
		`[data-x='{"a":1}']`,
		`[a="b\"c"]`,
		`a[href="#"]`,
		"[x=-a]",
		"[x=--y]",
		`[x\:y]`,
		"[class*=col-]",
		"*|*",
		"|a",
		"*|a",
		"[*|x]",
		"[|x]",
		":not(*|*)",
		":hover",
		":HOVER",
		"::before",
		":nth-child(2n+1)",
		":nth-child( 2n + 1 )",
		":nth-child(-n+3)",
		":nth-child(2n+1 of .x, .y)",
		":nth-last-of-type(3)",
		":not(a, b)",
		":Not(.x):hover",
		":not(:not(a))",
		":not(a b)",
		":is(a,b)",
		":is()",
		":where(a, .b) c",
		":has(> a)",
		":has(+ b, ~ c)",
		":HAS( > a )",
		"a:has(> b:not(.c))",
		":is(> a)",
		":is(a,,b)",
		":is(!)",
		":where(1)",
		":lang(en)",
		":dir(ltr)",
		":host",
		":host(.x)",
		"::slotted(a)",
		"::part(x)",
		":state(x)",
		":root",
		":scope > a",
		":popover-open",
		":modal",
		":user-valid",
		":-webkit-autofill",
		":focus-visible",
		":defined",
		":any-link",
		"::-webkit-scrollbar",
		"&",
		"& a",
		"a&",
		"body *",
		"* > *",
		"td:nth-child(2) > a[href*='x']:not([disabled])",
		"input:is([type=text],[type='email' i]):enabled",
		strings.Repeat(":not(", 1000) + "a" + strings.Repeat(")", 1000),
	} {
		t.Run(routine.Truncate(s, 60), func(t *testing.T) {
			if f := Check(s); f != nil {
				t.Errorf("%d %s", f.Offset, f.Message)
			}
		})
	}
}

// mark is the position of the fault in a selector.
const mark = "▸"

// Each message or hint contains the text in says.
func TestSelectorsThatDoNotParse(t *testing.T) {
	for _, row := range []struct{ selector, says string }{
		{"▸ ", "empty"},
		{"▸/* x */", "empty"},
		{"▸> a", "begins with >"},
		{"▸~ a", "begins"},
		{"a ▸>", "nothing stands behind >"},
		{"a ▸+ ", "nothing stands behind +"},
		{"a > ▸> b", "unexpected >"},
		{"a >▸> b", "searched by themselves"},
		{"a >▸>> b", "searched by themselves"},
		{"a▸,", "nothing stands behind ,"},
		{"▸, a", "nothing stands before the comma"},
		{"a,▸, b", "before the comma"},
		{":not(a,▸)", ""},
		{"a▸[b", "[ is not closed"},
		{"a▸[b=", "not closed"},
		{"a▸[b='c'", "not closed"},
		{"a[b=▸'c]", "quote ' is not closed"},
		{`a[b=▸"c` + "\n" + `"]`, "end of its line"},
		{"a▸]", "closes nothing"},
		{"a▸)", "closes nothing"},
		{":▸not(a", "bracket of not( is not closed"},
		{":▸is(a", "not closed"},
		{":is(a▸]", "closes nothing"},
		{"a ▸(b)", ""},
		{"a▸{}", ""},
		{"▸//div", "XPath"},
		{"▸/html/body", "XPath"},
		{"▸(//a)[1]", "XPath"},
		{"▸.//a", "XPath"},
		{"a[▸@href]", "XPath"},
		{"a[▸text()='x']", "XPath"},
		{"xpath▸=//a", "XPath"},
		{"text▸=Buy", "CSS cannot select by text"},
		{`text▸="Buy now"`, "by text"},
		{"role▸=button", "by text"},
		{"css▸=a.b", "write the selector alone: a.b"},
		{"id▸=x", "write #x"},
		{"name▸=q", "[name='q']"},
		{"a▸:contains('x')", "by text"},
		{"a▸:has-text('x')", "by text"},
		{"a▸:text('x')", "by text"},
		{"a▸:eq(0)", ":nth-child()"},
		{"a▸:first", ":first-child"},
		{"a▸:visible", "leave it out"},
		{"a▸:hidden", "[hidden]"},
		{"option▸:selected", ":checked"},
		{"▸:button", ":is("},
		{":not(a▸:contains(x))", "by text"},
		{"▸#", "no name follows #"},
		{"▸#1a", `[id="1a"]`},
		{"▸#-1", "id cannot begin"},
		{"a▸.", "no class name"},
		{"▸. a", "no class name"},
		{"▸..a", "no class name"},
		{"▸.1a", "[class~="},
		{"div▸.1a", "[class~="},
		{".top-0▸.5", "[class~="},
		{".w-1▸/2", `\/`},
		{".p-[▸10px]", ""},
		{"a▸:", "no pseudo-class"},
		{"a▸: hover", "no pseudo-class"},
		{"a▸::", "no pseudo-class"},
		{":not ▸(a)", ""},
		{"[▸1]", ""},
		{"▸[", "not closed"},
		{"[▸]", "no attribute's name"},
		{"[▸=x]", "no attribute's name"},
		{"[x=▸1]", "put the value in quotes: ='1'"},
		{"[x=▸/a/b]", "='/a/b'"},
		{"[x=a▸.b]", "='a.b'"},
		{"[x=a ▸b]", "='a b'"},
		{"[x=▸]", ""},
		{"[x▸!=y]", ""},
		{"[x▸:y]", ""},
		{"[x=y ▸k]", ""},
		{"[x]▸a", ""},
		{"*▸a", ""},
		{"a▸*", ""},
		{"a▸!", ""},
		{"▸!a", ""},
		{"▸1a", "begin with a digit"},
		{"▸50%", ""},
		{"▸@media", ""},
		{"a▸;", ""},
		{`▸"a"`, "without the quotes"},
		{"▸<!-- a", ""},
		{"a▸=b", ""},
		{"document▸.querySelector('a')", "without the code"},
		{"▸$('a')", "without the code"},
	} {
		plain := strings.ReplaceAll(row.selector, mark, "")
		t.Run(plain, func(t *testing.T) {
			f := Check(plain)
			if f == nil {
				t.Fatal("is accepted")
			}
			if strings.Count(row.selector, mark) == 1 {
				if want := strings.Index(row.selector, mark); f.Offset != want {
					t.Errorf("fault at %d, want %d (%s)", f.Offset, want, f.Message)
				}
			}
			if !strings.Contains(f.Message+" | "+f.Hint, row.says) || !strings.HasPrefix(f.Message, "is no CSS selector: ") {
				t.Errorf("%s | %s", f.Message, f.Hint)
			}
		})
	}
}

func TestSpeedOfHostileSelectors(t *testing.T) {
	optional.Speed(t)
	const mib = 1 << 20
	for _, s := range []string{"a ", "a,", ":not(", ":is(", "[x=", "(", "u+", "/*", `\`, "a:has(> ", "#", ".", ">", "[a='b']"} {
		text := strings.Repeat(s, mib/len(s))
		if took := stopwatch.Time(func() { Check(text) }); took > 20*time.Second {
			t.Errorf("1 MiB of %q took %v", s, took)
		}
	}
}
