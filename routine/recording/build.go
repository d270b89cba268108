package recording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/importer/draft"
	"rote/routine/keyboard"
	"rote/routine/lesson/parameters"
	"rote/routine/lesson/textform"
	"rote/routine/operation"
)

// Built is the routine that a recording becomes.
type Built struct {
	Definition  json.RawMessage
	Description string
	// Operations are those of the definition. Lines describe them, in one line each.
	Operations []json.RawMessage
	Lines      []string
	// Items account for the steps of the recording. Errors and Warnings are those of the check.
	Items            []draft.Item
	Errors, Warnings []routine.Problem
	// Parameters are those of the definition; Values are the texts that were recorded for
	// them. The others are secrets and files.
	Parameters []routine.Parameter
	Values     map[string]string
	// Proposals are texts that could become parameters.
	Proposals []parameters.Proposal
	// List is the selector of the items of the result; empty if it is no list.
	List string
	// Sent are the requests that may have changed something on the site.
	Sent []string
}

// resultKey is where the result of a list is kept until it is returned.
const resultKey = "items"

// Build makes the routine of what was recorded so far.
func (r *Recording) Build(name string) *Built {
	r.dropTabs()
	d := &draft.Draft{Session: r.session}
	b := &Built{Values: map[string]string{}}
	for i, s := range r.steps {
		d.Step(0, 0, s.text())
		s.secret = r.secretBefore(i)
		s.add(d)
		if i+1 < len(r.steps) && r.steps[i+1].Kind != Navigate {
			s.addWait(d)
		}
		if s.Kind == Result {
			b.List = s.List
		}
		b.Sent = append(b.Sent, s.sent...)
	}
	d.Finish()
	r.give(d, b)
	b.Proposals = r.proposals(d)
	b.Items, b.Parameters = d.Items, d.Parameters
	for i := range d.Operations {
		b.Operations = append(b.Operations, d.Operations[i].JSON())
	}
	b.Lines = lines(b.Operations)
	b.Description = "Recorded on " + cmp.Or(d.Site(), "a page") + "."
	b.Definition = d.Definition(name, b.Description)
	_, warnings, err := definition.Parse(b.Definition)
	b.Warnings = withoutPlaces(warnings)
	if err != nil {
		b.Errors = withoutPlaces(routine.AsError(err).Problems)
	}
	return b
}

// secretBefore is the parameter that the secret field of a step has got by an earlier one; empty if
// there is none.
func (r *Recording) secretBefore(i int) string {
	for _, s := range r.steps[:i] {
		if s.Secret && s.secret != "" && s.sameField(&r.steps[i].Event) {
			return s.secret
		}
	}
	return ""
}

// withoutPlaces removes lines and columns: nobody wrote the text of the routine.
func withoutPlaces(problems []routine.Problem) []routine.Problem {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
	return problems
}

// maxShown is how many characters of a text a line shows.
const maxShown = 60

// lines describes operations, with the texts that they type.
func lines(list []json.RawMessage) []string {
	parsed := make([]routine.Operation, len(list))
	for i, raw := range list {
		_ = json.Unmarshal(raw, &parsed[i]) // what we have made is well-formed
	}
	all := operation.DescribeAll(parsed)
	for i, o := range parsed {
		var typed struct{ Text string }
		if o.Type() == "input_text" && json.Unmarshal(o.Raw(), &typed) == nil {
			all[i] += ": " + routine.Quote(routine.Truncate(routine.OneLine(typed.Text), maxShown))
		}
	}
	return all
}

// text names a step, without its values.
func (s *step) text() string {
	if s.About == nil {
		return string(s.Kind)
	}
	return fmt.Sprintf("%s %s", s.Kind, routine.Quote(s.locator().Label))
}

// locator is how the element of a step is found.
func (s *step) locator() draft.Locator {
	a := s.About
	l := draft.Locator{Target: s.target(), Label: a.Target.Name}
	if a.Field != nil {
		l.Label = cmp.Or(a.Field.Label, l.Label)
	}
	for i, p := range a.Proposals {
		if i == 0 {
			l.CSS, l.ByPlace = p.Selector, p.Grade == "D"
		} else if p.Grade == "A" || p.Grade == "B" { // a weaker one soon matches something else
			l.Alternatives = append(l.Alternatives, p.Selector)
		}
	}
	return l
}

// target is what a person sees of the element of a step; nil if that is not enough to find it.
func (s *step) target() *textform.Target {
	t := textform.Target{Role: s.About.Target.Role, Name: s.About.Target.Name, Near: s.About.Target.Near}
	if t.Check() != nil {
		return nil
	}
	return &t
}

// add adds the operations of a step to a draft.
func (s *step) add(d *draft.Draft) {
	switch s.Kind {
	case Navigate:
		d.Navigate(s.URL)
	case Click:
		o := draft.Operation{Type: "click", Target: s.target()}
		if s.Button != "left" {
			o.Button = s.Button
		}
		if s.Count > 1 {
			o.Clicks = min(s.Count, maxClicks)
		}
		if s.Held != "" {
			d.Change("keys_held", "it is done without %s, which was held: clicks of rote hold no keys", s.Held)
		}
		s.act(d, o)
	case Type, Choose:
		s.addText(d)
	case Press:
		s.addPress(d)
	case Upload:
		s.act(d, draft.Operation{Type: "input_text", Text: new(string), Files: d.Files(s.locator().Label), Target: s.target()})
	case Scroll:
		o := draft.Operation{Type: "scroll", DeltaY: &s.Way}
		if s.About == nil {
			d.Add(o)
		} else {
			s.act(d, o)
		}
	case Drag:
		d.Drop("drag", "rote has no drag: if the page has buttons or keys that do the same, record these")
	case Result:
		s.addResult(d)
	}
	if s.download {
		d.Item().Code, d.Item().Message = "download", "the file that the site sends is the result, unless a later operation sets another"
	}
}

// maxClicks is the greatest click_count.
const maxClicks = 10

// act adds an operation on the element of the step, with what the step had as effects.
func (s *step) act(d *draft.Draft, o draft.Operation) {
	o.Popup = s.popup
	s.answer(d, &o)
	d.Act(s.locator(), o)
}

// answer makes an operation accept the dialog that the person has accepted.
func (s *step) answer(d *draft.Draft, o *draft.Operation) {
	if s.accepted == "" || o.Type != "click" && o.Type != "press" {
		return
	}
	o.Dialog = "accept"
	if s.prompted {
		d.Change("dialog_text", "the dialog gets its default text, not the one that was typed into it")
	}
}

func (s *step) addText(d *draft.Draft) {
	l := s.locator()
	o := draft.Operation{Type: "input_text", Clear: true, Field: s.About.Field, Target: s.target()}
	switch {
	case s.Secret && s.Empty:
		o.Text = new(string)
	case s.Secret:
		if s.secret == "" {
			s.secret = d.Parameter(cmp.Or(l.Label, "password"), "", true)
		}
		o.Text = new(s.secret)
		d.Change("secret", "the value is a secret, which never left the page: a call gives it")
	default:
		o.Text = d.Text(l, s.Text)
	}
	if s.Kind == Choose && s.Count > 1 {
		d.Change("multiple", "only the first of the %d options that were chosen is chosen", s.Count)
	}
	s.act(d, o)
}

func (s *step) addPress(d *draft.Draft) {
	if _, err := keyboard.Parse(s.Key); err != nil {
		d.Drop("key", "there is no key %s", routine.Quote(draft.Shown(s.Key)))
		return
	}
	o := draft.Operation{Type: "press", Key: s.Key, Popup: s.popup}
	s.answer(d, &o)
	d.Add(o)
}

// addResult adds the operations that make the items of a list, or an element, the result.
func (s *step) addResult(d *draft.Draft) {
	if s.List == "" || s.Script == "" {
		s.act(d, draft.Operation{Type: "return_html", Scope: "element"})
		return
	}
	seconds := 10.0
	d.Add(draft.Operation{Type: "js_evaluate", Script: waiting(s.List, s.Script), Seconds: &seconds, StorageKey: resultKey})
	d.Add(draft.Operation{Type: "return", StorageKey: resultKey})
}

// waiting is a script that waits up to 5 s for the items of a list before it does what a script,
// which is a function that is called at once, does. A search that finds nothing has an empty list.
func waiting(list, script string) string {
	return fmt.Sprintf("(async () => { for (let i = 0; i < 100 && !document.querySelector(%s); i++) "+
		"await new Promise(done => setTimeout(done, 50)); return %s; })()",
		routine.JSONText(list), script)
}

// addWait adds a wait for the path to which a step has led later than the operation itself waits:
// the next operation could act on the page of before.
func (s *step) addWait(d *draft.Draft) {
	from, errFrom := url.Parse(s.URL)
	to, errTo := url.Parse(s.movedTo)
	if s.movedTo == "" || s.followed || errFrom != nil || errTo != nil || from.Path == to.Path && from.Host == to.Host || s.popup == "close" {
		return
	}
	parts := strings.Split(to.EscapedPath(), "/")
	for i, part := range parts {
		if strings.ContainsFunc(part, unicode.IsDigit) {
			parts[i] = "{{}}" // another one each time: any text matches there
		}
	}
	if pattern, ok := draft.URLRegex(to.Scheme + "://" + to.Host + strings.Join(parts, "/")); ok {
		d.Add(draft.Operation{Type: "wait_for_url", URLRegex: pattern})
	}
}

// give puts the parameters that the person has chosen in the place of their texts.
func (r *Recording) give(d *draft.Draft, b *Built) {
	taken := func(name string) bool {
		return slices.ContainsFunc(d.Parameters, func(p routine.Parameter) bool { return p.Name == name })
	}
	for _, g := range r.parameters {
		field := r.fieldOf(g.text)
		name := parameters.Name(cmp.Or(g.name, r.label(g.text)), taken)
		p := parameters.Declare(name, g.text, field, false)
		used := false
		for i := range d.Operations {
			raw, changes := parameters.Replace(d.Operations[i].JSON(), g.text, p)
			d.Operations[i].Raw, used = raw, used || len(changes) > 0
		}
		if used {
			d.Parameters = append(d.Parameters, p)
			b.Values[name] = g.text
		}
	}
}

// fieldOf is the field that a text was given to; nil if none was.
func (r *Recording) fieldOf(text string) *routine.Field {
	for _, s := range r.steps {
		if (s.Kind == Type || s.Kind == Choose) && s.Text == text && !s.Secret {
			return s.About.Field
		}
	}
	return nil
}

// label is what names a text: its field, and query in a field for searches.
func (r *Recording) label(text string) string {
	f := r.fieldOf(text)
	switch {
	case f == nil:
		return "text"
	case f.Type == "search":
		return "query"
	}
	return cmp.Or(f.Label, "text")
}

// proposals are the texts that could become parameters, with names that nothing has.
func (r *Recording) proposals(d *draft.Draft) []parameters.Proposal {
	all := d.Proposals()
	for i := range all {
		if f := r.fieldOf(all[i].From); f != nil && f.Type == "search" {
			all[i].Name = parameters.Name("query", func(name string) bool {
				other := slices.IndexFunc(all, func(p parameters.Proposal) bool { return p.Name == name })
				return other >= 0 && other != i || slices.ContainsFunc(d.Parameters, func(p routine.Parameter) bool { return p.Name == name })
			})
		}
	}
	return all
}
