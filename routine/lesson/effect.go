package lesson

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/keyboard"
	"rote/routine/lesson/candidate"
	"rote/routine/operation"
	"rote/routine/requests"
)

// effect is what is known of an operation before it is done again.
type effect int

const (
	// reads: it changes nothing on the site.
	reads effect = iota
	// dependsOnElement: the element that it acts on shows whether it may change something.
	dependsOnElement
	// acts: it may change something on the site.
	acts
)

// effectOf says whether doing an operation again may change something on the site, and by
// which request. What is not known counts as acting.
func effectOf(o routine.Operation) (f effect, request string) {
	var fields struct {
		Acting json.RawMessage `json:"x-acting"`
		Target json.RawMessage `json:"x-target"`
		Key    string          `json:"key"`
		Script string          `json:"js"`
	}
	_ = json.Unmarshal(o.Raw(), &fields) // a stored operation is well-formed
	var known []string
	if fields.Acting != nil && json.Unmarshal(fields.Acting, &known) == nil {
		if len(known) > 0 {
			return acts, known[0]
		}
		return reads, ""
	}
	switch o.Type() {
	case "fetch", "download":
		return effectOfRequest(o)
	case "click":
		if fields.Target != nil && !isOptional(o) { // an optional one may have been skipped in its lesson
			return reads, ""
		}
		return dependsOnElement, ""
	case "press":
		if pressesControl(fields.Key) {
			return dependsOnElement, ""
		}
		return reads, ""
	case "js_evaluate":
		if operation.EffectOf(o) != operation.EffectReads && actingScript.MatchString(fields.Script) {
			return acts, scriptRequest
		}
		return reads, ""
	}
	if k, ok := operation.KindOf(o.Type()); !ok || k.Effect == operation.EffectChanges {
		return acts, o.Type()
	}
	return reads, ""
}

// scriptRequest is what effectOf names for a script, of which no request is known.
const scriptRequest = "its script"

// pressesControl reports whether a key sends a form or presses a button. One that a parameter
// gives may.
func pressesControl(key string) bool {
	chord, err := keyboard.Parse(key)
	return err != nil || chord.Key.Name == "Enter" || chord.Key.Code == "Space"
}

// isOptional reports whether a run skips an operation whose element is not there.
func isOptional(o routine.Operation) bool {
	var fields struct {
		Optional any `json:"x-optional"`
	}
	_ = json.Unmarshal(o.Raw(), &fields) // a stored operation is well-formed
	return fields.Optional == true
}

// actingScript matches what a script needs to make the page act. A script cannot make
// requests by itself.
var actingScript = regexp.MustCompile(`(?i)click|submit|dispatch|trigger|location|\bopen\s*\(|history|postMessage|\]\s*(\?\.)?\s*\(|` +
	`\b(save|send|post|delete|remove|pay|order|buy|place|checkout|confirm|cancel)\w*\s*\(`)

// effectOfRequest is effectOf for an operation that makes a request by itself.
func effectOfRequest(o routine.Operation) (effect, string) {
	var fields struct {
		Endpoint candidate.Endpoint `json:"endpoint"`
	}
	if json.Unmarshal(o.Raw(), &fields) != nil {
		return acts, o.Type()
	}
	e := fields.Endpoint
	if e.Method == "" || requests.Safe(&routine.Request{Method: e.Method, Body: string(e.Body)}) {
		return reads, ""
	}
	path, _, _ := strings.Cut(e.URL, "?")
	if u, err := url.Parse(path); err == nil && u.Host != "" {
		path = u.Path
	}
	return acts, e.Method + " " + routine.Truncate(path, 60)
}

// pageOnly are the roles of elements that change the page and not the site.
var pageOnly = []string{"checkbox", "radio", "switch", "tab", "option", "menuitem", "combobox", "listbox", "textbox", "searchbox", "spinbutton", "slider",
	"summary", "heading"}

// harmless matches the names of buttons that search, show or close something.
var harmless = regexp.MustCompile(`(?i)^\W*(search|find|filter|sort|show|hide|more|less|menu|next|previous|prev|back|close|dismiss|accept|agree|allow|` +
	`reject|decline|` +
	`only necessary|got it|ok|okay|no thanks|expand|collapse|details|sign in|log ?in|such|filter|weiter|zurück|schließen|akzeptieren|ablehnen|zustimmen|` +
	`alle[sn]? (akzeptieren|ablehnen)|anmelden|mehr|rechercher|chercher|suivant|fermer|accepter|refuser|` +
	`connexion|buscar|siguiente|cerrar|aceptar|rechazar)\b|^[×✕✖x]$`)

// elementMayAct reports whether a click on an element may change something on the site. A
// log-in does not count.
func elementMayAct(d routine.ElementDescription) bool {
	name := d.Target.Name
	switch {
	case d.Matches == 0:
		return false
	case slices.Contains(pageOnly, d.Target.Role):
		return false
	case candidate.Destructive("", name) != "":
		return true
	case d.InLoginForm, d.Target.Role == "link":
		return false
	case d.FormMethod != "":
		return d.FormMethod != "get" && d.FormMethod != "dialog"
	}
	return !harmless.MatchString(name)
}

// pressMayAct reports whether Enter in an element may change something on the site. A search
// and a log-in do not, unless their button says so.
func pressMayAct(d routine.ElementDescription) bool {
	return candidate.Destructive("", d.SubmitName) != "" || !d.InLoginForm && d.FormMethod != "get" && d.Target.Role != "searchbox"
}
