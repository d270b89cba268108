package definition

import (
	"strings"
	"testing"

	"rote/routine"
)

// The fields that rote adds to operations are checked like all others: their
// shape, selectors and placeholders, and whether they have an effect there.
func TestExtensionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, parameters, operations string
		want                         string // "pointer code: message (hint)" of the first problem or warning, in part; empty: none
	}{
		{"a list of selectors", ``, `{"type":"click","selector":"#b","x-hover":["#a","#b > i"]}`, ``},
		{"an empty list", ``, `{"type":"click","selector":"#b","x-hover":[]}`, ``},
		{"placeholders in selectors", `{"name":"id"}`, `{"type":"click","selector":"#b","x-hover":["#{{id}}"]}`, ``},
		{"a text", ``, `{"type":"click","selector":"#b","x-hover":"#a"}`,
			`/operations/1/x-hover type: must be an array, not "#a" (write a list, as in ["#a"])`},
		{"an empty selector", ``, `{"type":"click","selector":"#b","x-hover":["#a",""]}`, `/operations/1/x-hover/1 minLength: must not be empty`},
		{"a number in the list", ``, `{"type":"click","selector":"#b","x-hover":[1]}`, `/operations/1/x-hover/0 type: must be a string, not 1`},
		{"too many", ``, `{"type":"click","selector":"#b","x-hover":["a","a","a","a","a","a","a","a","a","a","a"]}`,
			`/operations/1/x-hover maxItems: must hold at most 10, not 11`},
		{"no selector", ``, `{"type":"click","selector":"#b","x-hover":["#a[["]}`, `/operations/1/x-hover/0 selector:`},
		{"an unknown parameter", ``, `{"type":"click","selector":"#b","x-hover":["#{{id}}"]}`,
			`/operations/1/x-hover/0 undeclared_parameter: {{id}} names no parameter`},
		{"on another kind", ``, `{"type":"press","key":"Enter","x-hover":["#a"]}`,
			`/operations/1/x-hover misplaced_field: press has no field "x-hover" (it belongs to click)`},
		{"on a parameter", `{"name":"p","x-hover":["#a"]}`, `{"type":"press","key":"{{p}}"}`,
			`/parameters/0/x-hover misplaced_field: a parameter has no field "x-hover" (it belongs to click)`},
		{"a parameter's on an operation", ``, `{"type":"press","key":"Enter","x-secret":true}`,
			`/operations/1/x-secret misplaced_field: press has no field "x-secret" (it belongs to a parameter)`},
		{"a misspelt name", ``, `{"type":"click","selector":"#b","x-hovers":["#a"]}`,
			`/operations/1/x-hovers unknown_extension: "x-hovers" is kept and has no effect (did you mean "x-hover"?)`},
		{"a popup is followed and closed", ``, `{"type":"click","selector":"#b","x-popup":"follow"},{"type":"press","key":"Enter","x-popup":"close"}`, ``},
		{"another kind that follows", ``, `{"type":"press","key":"Enter","x-popup":"follow"}`,
			`/operations/1/x-popup enum: must be one of close, not "follow" ("follow" belongs to click)`},
		{"neither follow nor close", ``, `{"type":"click","selector":"#b","x-popup":"open"}`,
			`/operations/1/x-popup enum: must be one of follow, close, not "open"`},
		{"true", ``, `{"type":"click","selector":"#b","x-popup":true}`, `/operations/1/x-popup type: must be a string, not true`},
		{"a placeholder", `{"name":"p"}`, `{"type":"click","selector":"#{{p}}","x-popup":"{{p}}"}`,
			`/operations/1/x-popup enum: must be one of follow, close, not "{{p}}"`},
		{"nothing to close", ``, `{"type":"press","key":"Enter","x-popup":"close"}`, `/operations/1/x-popup no_popup: closes nothing`},
		{"closed twice", ``,
			`{"type":"click","selector":"#b","x-popup":"follow"},{"type":"press","key":"Tab","x-popup":"close"},{"type":"press","key":"Tab","x-popup":"close"}`,
			`/operations/3/x-popup no_popup:`},
		{"files", `{"name":"cv","type":"x-files"}`, `{"type":"input_text","selector":"#f","text":"","x-files":"cv"}`, ``},
		{"files that are not declared", `{"name":"cv","type":"x-files"}`, `{"type":"input_text","selector":"#f","text":"","x-files":"cvs"}`,
			`/operations/1/x-files undeclared_parameter: "cvs" names no parameter of this routine (did you mean "cv"?)`},
		{"files without any declaration", ``, `{"type":"input_text","selector":"#f","text":"","x-files":"cv"}`,
			`/operations/1/x-files undeclared_parameter: "cv" names no parameter of this routine (declare it in parameters: {"name": "cv", "type": "x-files"`},
		{"files in braces", `{"name":"cv","type":"x-files"}`, `{"type":"input_text","selector":"#f","text":"","x-files":"{{cv}}"}`,
			`/operations/1/x-files undeclared_parameter: "{{cv}}" names no parameter of this routine (write the name alone: "cv")`},
		{"files of another type", `{"name":"cv"}`, `{"type":"input_text","selector":"#f","text":"","x-files":"cv"}`,
			`/operations/1/x-files type: parameter "cv" holds no files: its type is string (declare it with "type": "x-files")`},
		{"files and a text", `{"name":"cv","type":"x-files"}`, `{"type":"input_text","selector":"#f","text":"cv.pdf","x-files":"cv"}`,
			`/operations/1/text conflict: an input_text with x-files types no text (write "text": "")`},
		{"files as text", `{"name":"cv","type":"x-files"}`, `{"type":"input_text","selector":"#f","text":"{{cv}}"}`,
			`/operations/1/text type: {{cv}} holds files, which are no text (hand them in with input_text and "x-files": "cv")`},
		{"files that nothing uses", `{"name":"cv","type":"x-files"}`, `{"type":"press","key":"Tab"}`,
			`/parameters/0 unused_parameter: parameter "cv" is never used (write "x-files": "cv" on the input_text that hands the files in)`},
		{"files in a list", `{"name":"cv","type":"x-files"}`, `{"type":"input_text","selector":"#f","text":"","x-files":["cv"]}`,
			`/operations/1/x-files type: must be a string, not ["cv"]`},
		{"files on another kind", `{"name":"cv","type":"x-files"}`, `{"type":"click","selector":"#f","x-files":"cv"}`,
			`/operations/1/x-files misplaced_field: click has no field "x-files" (it belongs to input_text)`},
		{"a parameter of the type file", `{"name":"cv","type":"file"}`, `{"type":"input_text","selector":"#f","text":"","x-files":"cv"}`,
			`/parameters/0/type enum: must be one of`},
		{"a rule for files", `{"name":"cv","type":"x-files","max_length":3}`, `{"type":"input_text","selector":"#f","text":"","x-files":"cv"}`,
			`/parameters/0/max_length unused_rule: max_length does nothing for a parameter of type x-files`},
		{"a default that is no file", `{"name":"cv","type":"x-files","default":"cv.pdf"}`, `{"type":"input_text","selector":"#f","text":"","x-files":"cv"}`,
			`/parameters/0/default type: the default must be a list of files`},
		{"an optional click", ``, `{"type":"click","selector":"#b","x-optional":true,"x-popup":"close"}`, `/operations/1/x-popup no_popup:`},
		{"an optional text", ``, `{"type":"input_text","selector":"#b","text":"x","x-optional":true}`, ``},
		{"optional files", `{"name":"cv","type":"x-files"}`, `{"type":"input_text","selector":"#f","text":"","x-files":"cv","x-optional":true}`, ``},
		{"optional, and no truth value", ``, `{"type":"click","selector":"#b","x-optional":"true"}`,
			`/operations/1/x-optional type: must be true or false, not "true"`},
		{"optional on another kind", ``, `{"type":"press","key":"Enter","x-optional":true}`,
			`/operations/1/x-optional misplaced_field: press has no field "x-optional" (it belongs to click, input_text)`},
		{"optional, and a window is followed", ``, `{"type":"click","selector":"#b","x-optional":true,"x-popup":"follow"}`,
			`/operations/1/x-optional conflict: a click that follows a window cannot be optional`},
		{"not optional, and a window is followed", ``,
			`{"type":"click","selector":"#b","x-optional":false,"x-popup":"follow"},{"type":"press","key":"Tab","x-popup":"close"}`, ``},
		{"a misspelt optional", ``, `{"type":"click","selector":"#b","x-optionl":true}`,
			`/operations/1/x-optionl unknown_extension: "x-optionl" is kept and has no effect (did you mean "x-optional"?)`},
		{"dialogs", ``, `{"type":"click","selector":"#b","x-dialog":"accept","x-optional":true},{"type":"press","key":"Enter","x-dialog":"accept"}`, ``},
		{"dialogs with another answer", ``, `{"type":"press","key":"Enter","x-dialog":"dismiss"}`,
			`/operations/1/x-dialog enum: must be one of accept, not "dismiss"`},
		{"dialogs, and no text", ``, `{"type":"click","selector":"#b","x-dialog":true}`, `/operations/1/x-dialog type: must be a string, not true`},
		{"dialogs on another kind", ``, `{"type":"input_text","selector":"#i","text":"x","x-dialog":"accept"}`,
			`/operations/1/x-dialog misplaced_field: input_text has no field "x-dialog" (it belongs to click, press)`},
		{"a name of the author's own", ``, `{"type":"click","selector":"#b","x-author":"ann"}`, ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, warnings, err := Parse([]byte(`{"name":"n","description":"d","parameters":[` + row.parameters + `],
				"operations":[{"type":"navigate","url":"https://a.example"},` + row.operations + `,{"type":"return_html"}]}`))
			var all []string
			for _, p := range append(errorProblems(err), warnings...) {
				text := p.Pointer + " " + p.Code + ": " + p.Message
				if p.Hint != "" {
					text += " (" + p.Hint + ")"
				}
				all = append(all, text)
			}
			if row.want == "" && len(all) > 0 || row.want != "" && (len(all) == 0 || !strings.Contains(all[0], row.want)) {
				t.Errorf("got  %q\nwant %q", all, row.want)
			}
		})
	}
}

// errorProblems returns the problems of an error; none for nil.
func errorProblems(err error) []routine.Problem {
	if err == nil {
		return nil
	}
	return routine.AsError(err).Problems
}
