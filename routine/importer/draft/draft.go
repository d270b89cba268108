// Package draft collects the operations of a routine that is made from a recording, and the
// account of every step of the recording: carried, changed or dropped.
package draft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson/parameters"
	"rote/routine/lesson/textform"
	"rote/routine/operation"
)

// What became of a step.
const (
	Carried = "carried"
	Changed = "changed"
	Dropped = "dropped"
)

// Source is the place of a step in the recording. Text names the step; it has no values.
type Source struct {
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
	Step   int    `json:"step"` // from 1
	Text   string `json:"text"`
}

// Item is the account of one step.
type Item struct {
	Source Source `json:"source"`
	What   string `json:"what"`
	Code   string `json:"code,omitempty"`
	// Operations are the indexes of the operations that the step became, from 0.
	Operations []int  `json:"operations"`
	Message    string `json:"message,omitempty"`
}

// Candidate is a request of a recording that the routine could repeat.
type Candidate struct {
	Number int `json:"number"` // from 1
	Line   int `json:"line"`
	// Request is the method and the URL without its query.
	Request string `json:"request"`
	Status  int    `json:"status"`
	Type    string `json:"type"`
	Bytes   int64  `json:"bytes"` // of the answer
	Score   int    `json:"score"`
	// Taken reports whether the routine repeats this one.
	Taken bool `json:"taken"`
}

// MaxSteps is how many steps a recording may have.
const MaxSteps = 500

// maxMessage is the length in bytes from which on nothing more is added to the account of a step.
const maxMessage = 1000

// maxParameters is how many parameters a draft has at most.
const maxParameters = 300

// maxOperations bounds the operations of a draft: a loop of a recording is written out.
const maxOperations = 2000

// Draft is a routine in the making. The zero value is an empty one.
type Draft struct {
	Title string
	// Session is the saved session of the routine; empty: it has none.
	Session    string
	Operations []Operation
	Parameters []routine.Parameter
	Items      []Item
	// Candidates are the requests of a recording of requests, the best first.
	Candidates []Candidate

	secrets   map[string]string // the values of secrets, and the names of their parameters
	variables map[string]string // the placeholders of variables
	bridges   int
	checked   checkedText
	hovers    hovers
}

// Step begins the account of the next step of the recording. Until another one is said, it is
// carried.
func (d *Draft) Step(line, column int, text string) {
	text = routine.Truncate(routine.OneLine(routine.PlainText(text)), 120)
	d.Items = append(d.Items, Item{Source: Source{line, column, len(d.Items) + 1, text}, What: Carried, Operations: []int{}})
}

// Item returns the account of the present step.
func (d *Draft) Item() *Item { return &d.Items[len(d.Items)-1] }

// Add adds an operation that the present step becomes, and returns its index.
func (d *Draft) Add(o Operation) int {
	if len(d.Operations) >= maxOperations {
		d.Drop("too_many", "the routine would have more than %d operations", maxOperations)
		return len(d.Operations) - 1
	}
	d.Operations = append(d.Operations, o)
	i := len(d.Operations) - 1
	d.Item().Operations = append(d.Item().Operations, i)
	return i
}

// Change says that the present step does not do exactly what it did in the recording, and why.
func (d *Draft) Change(code, format string, args ...any) {
	if d.Item().What != Dropped {
		d.account(Changed, code, fmt.Sprintf(format, args...))
	}
}

// Drop says that the present step is not in the routine, or that a part of it is not, and why.
func (d *Draft) Drop(code, format string, args ...any) {
	if d.Item().What != Dropped {
		d.Item().Code, d.Item().Message = "", ""
	}
	d.account(Dropped, code, fmt.Sprintf(format, args...))
}

func (d *Draft) account(what, code, message string) {
	item := d.Item()
	item.What = what
	message = routine.OneLine(routine.PlainText(message))
	if item.Code == "" {
		item.Code, item.Message = code, message
		return
	}
	if len(item.Message) < maxMessage && !strings.Contains(item.Message, message) {
		item.Message += "; " + message
	}
}

// Last returns the last operation; nil if there is none.
func (d *Draft) Last() *Operation {
	if len(d.Operations) == 0 {
		return nil
	}
	return &d.Operations[len(d.Operations)-1]
}

// Act adds an operation on the element that a locator finds: one with a selector, or the two of
// a text form.
func (d *Draft) Act(l Locator, o Operation) {
	if o.Type != "click" {
		d.act(l, o)
		return
	}
	o.Hover = d.hovers.selectors
	before := len(d.Operations)
	if d.act(l, o); len(d.Operations) > before {
		d.hovered()
	}
}

func (d *Draft) act(l Locator, o Operation) {
	o.Field = fieldOf(l, o.Field)
	if l.CSS != "" {
		o.Selector, o.Alternatives = l.CSS, l.Alternatives
		if l.ByPlace {
			o.Target = l.Target
			d.Change("by_place", "the selector %s holds only by the place of the element", routine.Quote(routine.Truncate(l.CSS, 80)))
		}
		d.Add(o)
		return
	}
	if l.Target == nil {
		d.Drop("no_selector", "the step names no element that rote can find")
		return
	}
	d.bridges++
	form, err := textform.Operations(*l.Target, o.json(), fmt.Sprintf("b%d", d.bridges))
	if err != nil {
		d.Drop("no_selector", "%s", routine.AsError(err).Message)
		return
	}
	d.Add(Operation{Raw: form[0]})
	o.Raw, o.Selector = form[1], operation.MarkSelector
	d.Add(o)
}

// fieldOf returns the field into which an operation types, as far as the recording tells it.
func fieldOf(l Locator, given *routine.Field) *routine.Field {
	if given != nil && given.Label != "" || l.Label == "" {
		return given
	}
	f := routine.Field{}
	if given != nil {
		f = *given
	}
	f.Label = l.Label
	return &f
}

// Parameter returns the placeholder of a new parameter. value is what it has in the recording;
// the values of secrets are not kept. The same secret has one parameter.
func (d *Draft) Parameter(label, value string, secret bool) string {
	if secret && value != "" && d.secrets[value] != "" {
		return "{{" + d.secrets[value] + "}}"
	}
	if len(d.Parameters) >= maxParameters {
		d.Drop("too_many", "the routine would have more than %d parameters", maxParameters)
		return ""
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(d.Parameters, func(p routine.Parameter) bool { return p.Name == name })
	}
	p := parameters.Declare(parameters.Name(label, taken), value, &routine.Field{Label: label}, secret)
	if value == "" {
		p.Observed = nil
	}
	if secret {
		d.secret(value, p.Name)
	} else if value != "" {
		p.Default = routine.RawJSON(value)
	}
	d.Parameters = append(d.Parameters, p)
	return "{{" + p.Name + "}}"
}

// secret remembers the value of a secret, so that it stands nowhere.
func (d *Draft) secret(value, name string) {
	if value == "" {
		return
	}
	if d.secrets == nil {
		d.secrets = map[string]string{}
	}
	d.secrets[value] = name
}

// maxProposing is how many operations are searched for literals: each literal is looked for in all
// of them.
const maxProposing = 200

// asked are the names of the values in a request that say what is asked for.
var asked = []string{"q", "query", "search", "term", "keyword", "page", "p", "offset", "limit", "from", "to", "date", "id", "lang",
	"username", "user", "email", "login"}

// Proposals are the literals of the first operations that could become parameters.
func (d *Draft) Proposals() []parameters.Proposal {
	steps := make([]parameters.Step, min(len(d.Operations), maxProposing))
	for i := range steps {
		steps[i] = parameters.Step{Raw: d.Operations[i].JSON(), Field: d.Operations[i].Field, Names: asked}
	}
	return parameters.Propose(steps, d.Parameters, nil)
}

// Definition returns the text of the routine.
func (d *Draft) Definition(name, description string) json.RawMessage {
	list := make([]json.RawMessage, len(d.Operations))
	for i := range d.Operations {
		list[i] = d.Operations[i].JSON()
	}
	ps := d.Parameters
	if ps == nil {
		ps = []routine.Parameter{}
	}
	return routine.RawJSON(struct {
		Name        string              `json:"name"`
		Description string              `json:"description"`
		Session     string              `json:"session,omitempty"`
		Parameters  []routine.Parameter `json:"parameters"`
		Operations  []json.RawMessage   `json:"operations"`
	}{name, description, d.Session, ps, list})
}

// Files returns the name of a new parameter for files.
func (d *Draft) Files(label string) string {
	placeholder := d.Parameter(cmp.Or(label, "file"), "", false)
	if placeholder == "" {
		return ""
	}
	p := &d.Parameters[len(d.Parameters)-1]
	*p = routine.Parameter{Name: p.Name, Type: routine.TypeFiles, Required: true, Description: "The files to hand in."}
	d.Change("upload", "the recording does not have the files: a call gives them")
	return strings.Trim(placeholder, "{}")
}

// Variable returns the placeholder of a variable of a script. value is what it has without one from
// outside; empty if the recording does not say it. The same variable has one parameter.
func (d *Draft) Variable(name, value string, secret bool) string {
	if d.variables[name] == "" {
		if d.variables == nil {
			d.variables = map[string]string{}
		}
		d.variables[name] = d.Parameter(name, value, secret)
	}
	return d.variables[name]
}

// Declare adds the parameters of a recording that was made of a routine: placeholders of them in
// its texts stay as they are.
func (d *Draft) Declare(all []routine.Parameter) {
	d.Parameters = append(d.Parameters, all[:min(len(all), maxParameters)]...)
}

// declared reports whether a text has no other braces than placeholders of parameters.
func (d *Draft) declared(text string) bool {
	for _, p := range d.Parameters {
		text = strings.ReplaceAll(text, "{{"+p.Name+"}}", "")
	}
	return !strings.Contains(text, "{{")
}

// Hide keeps a part of a secret, whose parameter has a placeholder, out of all that is shown.
func (d *Draft) Hide(part, placeholder string) { d.secret(part, strings.Trim(placeholder, "{}")) }
