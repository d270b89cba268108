package lesson

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson/candidate"
	"rote/routine/placeholder"
)

// scriptOnPage matches what scripts of importers do that acts on the page only: a box is clicked
// if it does not have the state yet, and a field says that it was changed.
var scriptOnPage = regexp.MustCompile(`if\(!?e\.checked\)e\.click\(\)|e\.dispatchEvent\(new Event\((k|"change"|"input"),`)

// importedEffect is effectOf for an operation of a recording, in which a click is not known to
// have changed nothing, and a text may send its form. What scripts have in texts is not what they
// do.
func importedEffect(o routine.Operation) (effect, string) {
	if o.Type() == "click" || o.Type() == "input_text" {
		return dependsOnElement, ""
	}
	var fields struct {
		Script string `json:"js"`
	}
	_ = json.Unmarshal(o.Raw(), &fields) // a checked operation is well-formed
	f, request := effectOf(o)
	if f != acts || o.Type() != "js_evaluate" {
		return f, request
	}
	code, at := "", 0
	for _, s := range placeholder.ScriptStrings(fields.Script) {
		code, at = code+fields.Script[at:s.Start+1], s.End-1
	}
	if !actingScript.MatchString(scriptOnPage.ReplaceAllString(code+fields.Script[at:], "")) {
		return reads, ""
	}
	return f, request
}

// acceptsDialog reports whether an operation accepts the dialogs that it opens, as that which asks
// whether something is to be deleted.
func acceptsDialog(o routine.Operation) bool {
	var fields struct {
		Dialog string `json:"x-dialog"`
	}
	_ = json.Unmarshal(o.Raw(), &fields) // a checked operation is well-formed
	return fields.Dialog != ""
}

// recordedName is what the recording calls the element of an operation.
func recordedName(o routine.Operation) string {
	var fields struct {
		Target routine.Target `json:"x-target"`
	}
	_ = json.Unmarshal(o.Raw(), &fields) // a checked operation is well-formed
	return fields.Target.Name
}

// importedMayAct says what an operation of a recording on an element may do to the site; empty if
// nothing. values are those of its parameters.
func importedMayAct(o routine.Operation, values routine.Values, d routine.ElementDescription) string {
	switch {
	case d.SubmitsOnChange && d.FormMethod == "post":
		return "may send a form, which is sent when a value is chosen in it"
	case o.Type() == "click" && importedClickMayAct(d, recordedName(o)):
		return clickMayAct(d)
	case o.Type() == "input_text" && strings.ContainsAny(textAt(o, values, "/text"), "\r\n") && pressMayAct(d):
		return "may send a form, as its text has line breaks, which are typed with Enter"
	}
	return ""
}

// importedClickMayAct reports whether a click of a recording may buy, send, delete or cancel
// something: its name says so, or it submits a form that is no log-in and no search. recorded is its
// name in the recording.
func importedClickMayAct(d routine.ElementDescription, recorded string) bool {
	name := d.Target.Name
	switch {
	case d.Matches == 0, slices.Contains(pageOnly, d.Target.Role) && d.Target.Role != "menuitem":
		return false
	case candidate.Commits(name) != "", candidate.Commits(recorded) != "", candidate.Commits(d.Hint) != "":
		return true
	}
	return d.FormMethod == "post" && !d.InLoginForm && !harmlessForm.MatchString(name)
}

// harmlessForm matches the names of buttons that send a form in order to search or to log in.
var harmlessForm = regexp.MustCompile(`(?i)^\W*(search|find|filter|sort|sign in|log ?in|such\w*|finden|filtern|anmelden|einloggen|rechercher|chercher|` +
	`connexion|se connecter|buscar|entrar|acceder|iniciar sesión|cerca|accedi|zoeken|inloggen|szukaj|zaloguj)(\W|$)`)
