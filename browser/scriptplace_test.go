package browser

import (
	"testing"
	"time"

	"rote/routine"
)

// The error of a script names the place in the author's text, also if page code
// threw it and although rote adds lines around the script.
func TestErrorsNameTheirPlaceInTheScript(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": `<script>




function thrower() { throw new TypeError('of the page') }
async function rejecter() { await null; thrower() }
window.page = { each: (list, f) => list.forEach(f), later: f => new Promise((ok, no) => setTimeout(() => { try { ok(f()) } catch (e) { no(e) } })) };
</script>`}) + "/"
	for _, c := range []struct {
		name, script, want string
		place              routine.Place
	}{
		{"in the first line", "(() => { missing() })()", "missing is not defined (line 1, column 10 of the script)", routine.Place{Line: 1, Column: 10}},
		{"in a later line", "(() => {\n  const a = 1;\n  missing(a)\n})()", "missing is not defined (line 3, column 3 of the script)", routine.Place{Line: 3, Column: 3}},
		{"behind comments and semicolons", "// a\n/* b\n*/ ;(() => {\n  missing()\n})()", "(line 4, column 3 of the script)", routine.Place{Line: 4, Column: 3}},
		{"behind a comment in the same line", "/* b */ (() => { missing() })()", "(line 1, column 18 of the script)", routine.Place{Line: 1, Column: 18}},
		{"lines that end in CR LF", "(() => {\r\n\r\n  missing()\r\n})()", "(line 3, column 3 of the script)", routine.Place{Line: 3, Column: 3}},
		{"after an await", "(async () => {\n  await null;\n  missing()\n})()", "(line 3, column 3 of the script)", routine.Place{Line: 3, Column: 3}},
		{"in a callback of a timer", "(() => {\n  return new Promise((ok, no) => setTimeout(() => no(new Error('late')), 5))\n})()",
			"Error: late (line 2, column 54 of the script)", routine.Place{Line: 2, Column: 54}},
		{"in a callback of the page's", "(() => {\n  page.each([1], () => {\n    missing() })\n})()", "(line 3, column 5 of the script)", routine.Place{Line: 3, Column: 5}},
		{"in JSON", "(() => {\n\n  JSON.parse('{')\n})()", "(line 1 column 2) (line 3, column 8 of the script)", routine.Place{Line: 3, Column: 8}},
		{"in a DOM function", "(async () => {\n  document.querySelector('##')\n})()", "'##' is not a valid selector. (line 2, column 12 of the script)", routine.Place{Line: 2, Column: 12}},
		{"in a page function", "(() => {\n  thrower()\n})()", "of the page (in a function outside of the script, called at line 2, column 3 of the script)", routine.Place{Line: 2, Column: 3}},
		{"in an asynchronous page function", "(async () => {\n  await rejecter()\n})()",
			"(in a function outside of the script, called at line 2, column 3 of the script)", routine.Place{Line: 2, Column: 3}},
		{"in what the page goes on with", "(() => rejecter())()", "of the page (in a function outside of the script)", routine.Place{}},
		{"in what gives the value's JSON", "(() => {\n  return { toJSON() {\n    missing() } }\n})()", "(line 3, column 5 of the script)", routine.Place{Line: 3, Column: 5}},
		{"syntax that only the browser refuses", "(() => {\n  /(/.test('x')\n})()",
			"Invalid regular expression: /(/: Unterminated group (line 2, column 3 of the script)", routine.Place{Line: 2, Column: 3}},
	} {
		for _, kind := range []string{"first", "after a script that left functions"} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				p := openPage(t, url)
				if kind != "first" {
					eval(t, p, `(() => { window.f = () => 1; setInterval(f, 10) })()`)
				}
				e, err := p.Evaluate(testContext(t), script(c.script, 20*time.Second))
				wantCode(t, err, routine.CodeScriptError, c.want)
				if e.Failed != c.place {
					t.Errorf("place %v, want %v", e.Failed, c.place)
				}
			})
		}
	}
}
