// Package exporter writes routines in the formats of other tools, as far as those can express
// them, and accounts for each operation: carried, changed or dropped. The values of secrets are
// in no output.
package exporter

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/importer"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
	"rote/routine/placeholder"
)

// The formats.
const (
	Recorder   = "recorder"
	Playwright = "playwright"
	Curl       = "curl"
)

// Formats are the names of the formats.
var Formats = []string{Recorder, Playwright, Curl}

// Exported is a routine in the format of another tool.
type Exported struct {
	To   string `json:"to"`
	Text string `json:"text"`
	// Report accounts for the operations: their places are those in the definition.
	Report importer.Report `json:"report"`
}

// Export writes a definition in a format. CodeInvalid if there is no such format, or if the
// definition is not valid.
func Export(text []byte, to string) (*Exported, error) {
	if !slices.Contains(Formats, to) {
		return nil, routine.Errorf(routine.CodeInvalid, "%s is no format to export to: it is one of %s",
			routine.Quote(routine.Truncate(to, 40)), strings.Join(Formats, ", "))
	}
	d, _, err := definition.Parse(text)
	if err != nil {
		return nil, err
	}
	root, err := jsontree.Parse(string(text))
	if err != nil {
		return nil, err
	}
	w := &writer{definition: d, account: &draft.Draft{}}
	for i, v := range root.Get("operations").Items {
		o := readOperation(v)
		w.account.Step(v.Line, v.Column, o.Type+" "+o.shown())
		w.account.Item().Operations = []int{i}
		w.operations = append(w.operations, o)
	}
	out := ""
	switch to {
	case Recorder:
		out = w.recorder()
	case Playwright:
		out = w.playwright()
	default:
		out = w.curl()
	}
	return &Exported{To: to, Text: out, Report: importer.ReportOf(w.account)}, nil
}

// writer writes one routine.
type writer struct {
	definition *routine.Definition
	operations []operation
	account    *draft.Draft
}

// each calls write with each operation, whose account is the present one meanwhile.
func (w *writer) each(write func(i int, o *operation)) {
	items := w.account.Items
	for i := range w.operations {
		w.account.Items = items[:i+1]
		write(i, &w.operations[i])
	}
	w.account.Items = items
}

func (w *writer) change(code, format string, args ...any) { w.account.Change(code, format, args...) }

func (w *writer) drop(code, format string, args ...any) { w.account.Drop(code, format, args...) }

// operation is an operation of the definition.
type operation struct {
	draft.Operation
	Dialog string `json:"x-dialog"`
	Bridge string `json:"x-bridge"`
	Body   *jsontree.Value
	// fields are the names of the fields that are written.
	fields []string
}

func readOperation(v *jsontree.Value) operation {
	var o operation
	_ = json.Unmarshal([]byte(v.JSON()), &o) // the definition is valid
	for _, f := range v.Fields {
		o.fields = append(o.fields, f.Name)
	}
	o.Body = v.Get("endpoint").Get("body")
	return o
}

// shown names what the operation acts on, without values.
func (o *operation) shown() string {
	switch {
	case o.Selector != "":
		return o.Selector
	case o.Endpoint != nil:
		address, _, _ := strings.Cut(o.Endpoint.URL, "?")
		return routine.ShownURL(address)
	}
	address, _, _ := strings.Cut(o.URL, "?")
	return routine.ShownURL(address) + o.Key
}

// silent are the fields that say nothing about what the operation does.
var silent = []string{"type", "x-note", "x-bridge", "x-label"}

// leftOut says which fields of an operation the format does not have.
func (w *writer) leftOut(o *operation, known ...string) {
	var names []string
	for _, name := range o.fields {
		if !slices.Contains(known, name) && !slices.Contains(silent, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 && o.Type != "" {
		w.change("field", "left out: %s", strings.Join(names, ", "))
	}
}

var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// tokens returns the placeholders of a text.
func tokens(text string) []placeholder.Token {
	t, _ := placeholder.Parse(text, placeholder.Text)
	return t.Tokens()
}

// onlyParameters reports whether all placeholders of a text are parameters, and else drops the
// operation.
func (w *writer) onlyParameters(texts ...string) bool {
	for _, text := range texts {
		for _, t := range tokens(text) {
			if t.Source != placeholder.Parameter || t.Fallback != nil || !name.MatchString(t.Name) {
				w.drop("placeholder", "the format has no value for %s", t.Raw)
				return false
			}
		}
	}
	return true
}

// parameter returns the declaration of a parameter.
func (w *writer) parameter(name string) routine.Parameter {
	for _, p := range w.definition.Parameters {
		if p.Name == name {
			return p
		}
	}
	return routine.Parameter{Name: name}
}

// variable is the environment variable that has the value of a parameter.
func variable(name string) string { return strings.ToUpper(name) }

// texts are all strings of a body.
func texts(v *jsontree.Value) []string {
	var all []string
	if v.Kind == jsontree.String {
		all = append(all, v.Text)
	}
	for _, item := range v.Items {
		all = append(all, texts(item)...)
	}
	for _, f := range v.Fields {
		all = append(append(all, f.Name), texts(f.Value)...)
	}
	return all
}

// requestTexts are all texts of the request of an operation.
func (o *operation) requestTexts() []string {
	all := append([]string{o.Endpoint.URL, o.Filename}, texts(o.Body)...)
	for _, name := range slices.Sorted(maps.Keys(o.Endpoint.Headers)) {
		all = append(all, o.Endpoint.Headers[name])
	}
	return all
}

// body is the text of the body of a request, as rote sends it.
func (o *operation) body() (text string, isForm bool) {
	if o.Body.Kind == jsontree.String {
		return o.Body.Text, false
	}
	for name, value := range o.Endpoint.Headers {
		if strings.EqualFold(name, "content-type") && strings.HasPrefix(value, "application/x-www-form-urlencoded") {
			return "", o.Body.Kind == jsontree.Object
		}
	}
	if o.Body.Kind == jsontree.Null {
		return "", false
	}
	return o.Body.JSON(), false
}

// fill returns a text in which plain changes what is no placeholder, and value gives what stands
// for a parameter.
func fill(text string, plain func(string) string, value func(name string) string) string {
	var b strings.Builder
	end := 0
	for _, t := range tokens(text) {
		b.WriteString(plain(text[end:t.Offset]) + value(t.Name))
		end = t.Offset + len(t.Raw)
	}
	return b.String() + plain(text[end:])
}

// seconds is a time as it is shown.
func seconds(s float64) string { return fmt.Sprintf("%g s", s) }
