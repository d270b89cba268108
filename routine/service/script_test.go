package service_test

import (
	"context"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
)

// A problem of a script names its place in the document, where the whole script
// is one line, and its place in the script.
func TestScriptProblemsNameTheirPlaceInTheScript(t *testing.T) {
	for script, want := range map[string]string{
		`(() => {\n  const a = ;\n})()`:                                     "unexpected ; in expression (line 2, column 13 of the script)",
		`(() => {\r\n\r\n  return fetch('/a')\r\n})()`:                      "a script reaches no network (line 3, column 10 of the script)",
		`(() => { return fetch('/a') })()`:                                  "a script reaches no network (line 1, column 17 of the script)",
		`(() => {\n  // \u00e9😀\n  return \"é😀\" + fetch('/a') })()`:        "a script reaches no network (line 3, column 17 of the script)",
		`// a\nfunction f() {}`:                                             "the script is a statement; it must be one function expression that is called at once (line 2, column 1 of the script)",
		`(() => {\n  return {{n}} + {{missing}};\n})()`:                     "{{missing}} names no parameter of this routine (line 2, column 18 of the script)",
		`(() => {\n  return {{\n n\n }} +\n {{sessionStorage:a}}; })()`:     "{{sessionStorage:a}} cannot stand in a script, where only parameters can (line 5, column 2 of the script)",
		`(() => {\n  const n = {{\n n\n }};\n  return eval(n); })()`:        "a script makes no code from strings (line 5, column 10 of the script)",
		`(() => {\n  const a = '{{n}}';\n\n  return document.write(a) })()`: "(line 4, column 19 of the script)",
	} {
		_, _, err := definition.Parse([]byte(definitionOf(`{"type":"js_evaluate","js":"`+script+`"}`, `{"name":"n"}`)))
		if problems := routine.AsError(err).Problems; len(problems) == 0 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s:\n got %v\nwant %s", script, problems, want)
		}
	}
}

// The error of a script that threw shows the line, and so does its evidence. Both
// show the routine's own text, so no value of a secret parameter.
func TestErrorShowsTheLineOfTheScript(t *testing.T) {
	const script = `(() => {\n  const pw = '{{pw}}';\n  return {{n}} + missing(pw, '{{pw}}')\n})()`
	for name, row := range map[string]struct {
		place    routine.Place
		evidence *routine.Evidence
		want     string
		text     string
	}{
		"a line":                  {routine.Place{Line: 3, Column: 14}, &routine.Evidence{}, "; line 3 is: return {{n}} + missing(pw, '{{pw}}')", "return {{n}} + missing(pw, '{{pw}}')"},
		"an unknown place":        {routine.Place{}, &routine.Evidence{}, "", ""},
		"a line behind the last":  {routine.Place{Line: 9, Column: 1}, &routine.Evidence{}, "", ""},
		"a page that has no word": {routine.Place{Line: 3, Column: 14}, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			page := routinetest.Page{Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) {
				return routine.Evaluation{Failed: row.place}, routine.Errorf(routine.CodeScriptError, "the script threw it")
			}, Evidence: func(context.Context, routine.Inspection) *routine.Evidence { return row.evidence }}
			e, _ := runOnce(t, page, `{"type":"js_evaluate","js":"`+script+`"}`, `{"name":"pw","x-secret":true},{"name":"n","type":"integer"}`, `{"pw":"hunter2","n":7}`)
			if want := "operation 1 of 1 (js_evaluate): the script threw it" + row.want; *e.Error != want {
				t.Errorf("got  %s\nwant %s", *e.Error, want)
			}
			if row.text != "" && (e.Evidence.Script.Text != row.text || e.Evidence.Script.Place != row.place) || row.text == "" && e.Evidence != nil && e.Evidence.Script != nil {
				t.Errorf("evidence %+v", e.Evidence)
			}
		})
	}
}

// If code of an earlier script was stopped, the timeout error of a later script
// says that the script may wait for it.
func TestTimeoutOfAScriptNamesStoppedLeftovers(t *testing.T) {
	for stopped, want := range map[bool]string{
		false: "the script was still running when the operation's own timeout_seconds of 5 was over, which may be 10 at most",
		true: "the script was still running when the operation's own timeout_seconds of 5 was over, which may be 10 at most. It may wait for code of an earlier js_evaluate " +
			"(a timer, a callback, an async function), which was stopped because that script had ended: await it in the script that starts it",
	} {
		page := routinetest.Page{Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) {
			return routine.Evaluation{LeftoversStopped: stopped}, routine.ScriptTimeout(5e9)
		}}
		e, err := runOnce(t, page, `{"type":"js_evaluate","js":"(async () => await p)()"}`, ``, `{}`)
		if *e.Error != "operation 1 of 1 (js_evaluate): "+want || routine.CodeOf(err) != routine.CodeTimeout {
			t.Errorf("got  %s\nwant %s", *e.Error, want)
		}
	}
}
