package javascript

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rote/routine/routinetest/scripts"
	"rote/routine/routinetest/seeded"
	"rote/routine/routinetest/stopwatch"
)

// places is what a test says of problems: "line:column code start of message".
func places(problems []Problem) (out []string) {
	for _, p := range problems {
		what, _, _ := strings.Cut(p.Message, " in js_evaluate")
		out = append(out, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Code, what))
	}
	return out
}

func TestProblemPositions(t *testing.T) {
	tests := map[string]struct {
		script string
		want   []string
	}{
		"all at once, in order": {
			"(() => {\n  fetch('/a');\n  window.eval('b');\n  el.addEventListener('c', d);\n})()",
			[]string{
				"2:3 script_blocked fetch is blocked",
				"3:10 script_blocked eval is blocked",
				"4:6 script_blocked addEventListener is blocked",
			},
		},
		"also when the shape is wrong": {
			"fetch('/a'); close()",
			[]string{
				"1:1 script_blocked fetch is blocked",
				"1:14 script_blocked window.close is blocked",
				"1:14 script_not_iife the script has 2 statements; it must be one function expression that is called at once",
			},
		},
		"columns count characters": {
			"(() => { 'äöü😀'; fetch('/a') })()",
			[]string{"1:18 script_blocked fetch is blocked"},
		},
		"lines end as in an editor": {
			"(() => {\r\n1;\r2;\u20283; fetch('/a') })()",
			[]string{"4:4 script_blocked fetch is blocked"},
		},
		"the same name again": {
			"(() => { fetch; const o = { fetch: 1, x: fetch }; o.fetch; fetch })()",
			[]string{"1:10 script_blocked fetch is blocked", "1:42 script_blocked fetch is blocked", "1:60 script_blocked fetch is blocked"},
		},
		"behind words and patterns that look like it": {
			"(() => { /* fetch */ const s = 'fetch'; if (/fetch/.test(s)) x.fetch; const { a = fetch, fetch: b } = x; })()",
			[]string{"1:83 script_blocked fetch is blocked"},
		},
		"in the text of a template": {
			"(() => `fetch ${ fetch } ${ `${ window.fetch }` }`)()",
			[]string{"1:18 script_blocked fetch is blocked", "1:40 script_blocked fetch is blocked"},
		},
		"a computed name": {
			"(() => window['fe' + 'tch'])()",
			[]string{"1:15 script_blocked fetch is blocked"},
		},
		"a destructured name": {
			"(() => { const { a, fetch: { b } } = window })()",
			[]string{"1:21 script_blocked fetch is blocked"},
		},
		"an argument": {
			"(() => { setTimeout('x', 1); setTimeout(() => fetch, 2) })()",
			[]string{"1:21 script_blocked a timer with a string is blocked", "1:47 script_blocked fetch is blocked"},
		},
		"an argument of the function itself": {
			"(function (w) { w.eval; })(window, fetch)",
			[]string{"1:19 script_blocked eval is blocked", "1:36 script_blocked fetch is blocked"},
		},
		"what is written": {
			"(() => { a.href = 'javascript:x'; location.href = y })()",
			[]string{"1:19 script_blocked a javascript: URL is blocked", "1:44 script_blocked setting location.href is blocked"},
		},
		"in a class": {
			"(() => { class A extends B { #f = fetch; static { eval } fetch() { return fetch } [close]() {} } })()",
			[]string{"1:35 script_blocked fetch is blocked", "1:51 script_blocked eval is blocked", "1:75 script_blocked fetch is blocked", "1:84 script_blocked window.close is blocked"},
		},
		"in heads of statements": {
			"(() => { for (const a of fetch) b; while (eval) c; switch (open) { case close: } do d; while (Worker); if (e) f; else Function })()",
			[]string{
				"1:26 script_blocked fetch is blocked", "1:43 script_blocked eval is blocked", "1:60 script_blocked window.open is blocked",
				"1:73 script_blocked window.close is blocked", "1:95 script_blocked Worker is blocked", "1:119 script_blocked Function is blocked",
			},
		},
		"with": {
			"(() => { with (document) { title } })()",
			[]string{"1:10 script_blocked with is blocked"},
		},
		"import": {
			"(() => { import('x'); import.meta.url })()",
			[]string{"1:10 script_blocked import() is blocked", "1:23 script_syntax import.meta is only for modules"},
		},
		"a function in a block": {
			"(() => { if (a) { async function fetch() {} } })()",
			[]string{"1:34 script_blocked fetch is blocked"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, places(Check(test.script))); diff != "" {
				t.Errorf("%s\n%s", test.script, diff)
			}
		})
	}
}

func TestScriptMustBeIIFE(t *testing.T) {
	const iife = "script_not_iife "
	tests := map[string]string{
		"(() => {})()":                        "",
		"(function () {})()":                  "",
		"(async () => {})()":                  "",
		"(async function f() {})(1, window);": "",
		"(() => 1)()":                         "",
		"(x => x)(1)":                         "",
		" \n// a\n;(() => {})() /* b */;; // c\n<!-- d": "",
		"\ufeff(() => {})()":                            "",
		"(() => {})\n()":                                "",
		"/*! a */(() => {})()":                          "",

		"":                           "1:1 " + iife + "the script is empty",
		" // a\n":                    "1:1 " + iife + "the script is empty",
		";;":                         "1:1 " + iife + "the script does nothing",
		"(function () {}())":         "1:1 " + iife + "the call stands inside",
		" (() => {})":                "1:2 " + iife + "the function is never called",
		"(function () {})":           "1:1 " + iife + "the function is never called",
		"() => {}":                   "1:1 " + iife + "the function is never called",
		"function f() {}":            "1:1 " + iife + "the script is a statement",
		"if (a) (() => {})()":        "1:1 " + iife + "the script is a statement",
		"/*a*/!function () {}()":     "1:6 " + iife + "the function is called behind !",
		"void function () {}()":      "1:1 " + iife + "the function is called behind void",
		"await (async () => {})()":   "1:1 " + iife + "await cannot stand outside",
		"(() => {})?.()":             "1:1 " + iife + "the function must be called with ()",
		"(function* () {})()":        "1:1 " + iife + "the function is a generator",
		"(async function* () {})()":  "1:1 " + iife + "the function is a generator",
		"(() => {})().then(f)":       "1:1 " + iife + "the call is followed by .then()",
		"(() => {}).call(this)":      "1:1 " + iife + "the function is called with .call()",
		"((() => {}))()":             "1:1 " + iife + "the script is an expression",
		"(0, () => {})()":            "1:1 " + iife + "the script is an expression",
		"(() => {})() + 1":           "1:1 " + iife + "the script is an expression",
		"(() => {})()()":             "1:1 " + iife + "the script is an expression",
		"document.title":             "1:1 " + iife + "the script is an expression",
		"f()":                        "1:1 " + iife + "the script is an expression",
		"'use strict'; (() => {})()": "1:1 " + iife + "the script has 2 statements",
		"(() => {})(); (() => {})()": "1:15 " + iife + "the script has 2 statements",
		"a\n\nfunction f() { b }":    "3:1 " + iife + "the script has 2 statements",
		"const a = 1\nreturned(a)":   "2:1 " + iife + "the script has 2 statements",
	}
	for script, want := range tests {
		got := places(Check(script))
		if want == "" && len(got) == 0 {
			continue
		}
		if want == "" || len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q:\n got %q\nwant %q", script, got, want)
		}
	}
}

func TestSyntax(t *testing.T) {
	tests := map[string]string{
		"(() => {\n  const a = ;\n})()":             "2:13 script_syntax unexpected ; in expression",
		"(() => {\n  if (a {\n})()":                 "1:8 script_syntax \"{\" is never closed",
		"(() => { f( })()":                          "1:13 script_syntax unexpected \"}\"",
		"(() => {\n  [1, 2\n":                       "2:3 script_syntax \"[\" is never closed",
		"(() => { 'abc\n' })()":                     "1:10 script_syntax unterminated string literal",
		"(() => { `abc })()":                        "1:10 script_syntax unterminated template literal",
		"(() => { `a${b })()":                       "1:16 script_syntax unterminated template literal",
		"(() => { /* abc })()":                      "1:10 script_syntax unexpected EOF in comment",
		"(() => { x = /abc\n/ })()":                 "1:14 script_syntax",
		"(() => { x = a / ; })()":                   "1:18 script_syntax unexpected ; in expression",
		"(() => { a b })()":                         "1:12 script_syntax unexpected b in expression",
		"(() => { a /re/ })()":                      "1:17 script_syntax unexpected } in expression",
		"(() => { a\n(1) /x/ })()":                  "2:9 script_syntax unexpected }",
		"(() => { await f() })()":                   "1:10 script_syntax await is only for async functions",
		"(async () => { [1].map(x => await x) })()": "1:29 script_syntax await is only for async functions",
		"return 1":                                  "1:1 script_syntax unexpected return in expression",
		"(() => { let a; let a })()":                "1:21 script_syntax identifier a has already been declared",
		"(() => { 1 = 2 })()":                       "1:10 script_syntax this cannot be assigned to",
		"(() => { 010 })()":                         "1:10 script_syntax legacy octal numbers are not supported",
		"(() => { # })()":                           "1:10 script_syntax",
		"\xff\xfe":                                  "1:1 script_syntax",
		"(() => { a ? b })()":                       "1:16 script_syntax expected : instead of } in conditional expression",
		"(() => { " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + " })()": "1:108 script_too_complex brackets are nested deeper than 100",
		"(() => { x = " + strings.Repeat("1+", 2000) + "1 })()":                     "1:2011 script_too_complex too many nested expressions",
		strings.Repeat("x", MaxBytes+1):                                             "1:1 script_too_large",
	}
	for script, want := range tests {
		got := places(Check(script))
		if len(got) == 0 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%.60q:\n got %q\nwant %q", script, got, want)
		}
	}
}

func TestEveryBlockedNameHasHint(t *testing.T) {
	for _, k := range blockedByKind {
		for name, f := range k.names {
			if p := blocked(0, name, f); reasonTexts[f] == "" || p.Hint == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	got := Check("(() => fetch('/x'))()")
	want := []Problem{{
		Offset: 7, Line: 1, Column: 8, Code: CodeBlocked,
		Message: "fetch is blocked in js_evaluate: a script reaches no network",
		Hint:    "use a `fetch` operation and read what it stored from sessionStorage",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNumberOfProblemsIsLimited(t *testing.T) {
	got := Check("(() => {" + strings.Repeat("fetch;", 5000) + "})()")
	if len(got) != MaxProblems {
		t.Errorf("%d problems, want %d", len(got), MaxProblems)
	}
}

// TestPositionsAreInsideScript glues pieces of scripts together: whatever comes out,
// the problems are sorted, placed in the text and complete.
func TestPositionsAreInsideScript(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"(() => {", "})()", "function", "f", "fetch", "window", ".", "[", "]", "(", ")", "{", "}", "'eval'", "`a${", "}`", "/", "/=", "=>", "=",
		",", ";", "\n", " ", "const ", "let ", "async", "await ", "for", " of ", "...", "?.", "x", "1", "+", "constructor", "setTimeout", "😀", "\\u0066",
		"class A", "#p", "new ", "this", "return ", "<!--", "//", "/*", "*/", "'", "location", ": ", "yield ", "if", "else ", "import", "static ", "get ",
	})
	seeded.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), "")
		checkProblems(t, script, Check(script))
	})
}

func checkProblems(t interface{ Fatalf(string, ...any) }, script string, problems []Problem) {
	last := 0
	for _, p := range problems {
		lines := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(script), "\n") + 1
		if p.Offset < last || p.Offset > len(script) || p.Line < 1 || p.Line > lines || p.Column < 1 ||
			p.Column > utf8.RuneCountInString(script)+1 || p.Code == "" || p.Message == "" {
			t.Fatalf("%q: bad problem %+v", script, p)
		}
		last = p.Offset
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range scripts.Legitimate() {
		f.Add(s)
	}
	for _, b := range bypasses {
		f.Add("(() => { " + b.body + " })()")
	}
	f.Fuzz(func(t *testing.T, script string) {
		var problems []Problem
		if d := stopwatch.Time(func() { problems = Check(script) }); d > 2*time.Second {
			t.Fatalf("%d bytes took %s", len(script), d)
		}
		checkProblems(t, script, problems)
	})
}
