package playwright

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// environment returns the name of the variable of the environment that a chain reads.
func environment(c *chain.Chain) (string, bool) {
	path := c.Base
	for _, m := range c.Members {
		switch {
		case (m.Called || m.Index) && len(m.Args) > 0 && m.Args[0].Kind == chain.Text &&
			(path == "process.env" || path == "os.environ" || m.Name == "getenv" || m.Name == "getEnvironmentVariable" || path == "os.environ.get"):
			return m.Args[0].Text, true
		case path == "process.env":
			return m.Name, true
		}
		path += "." + m.Name
	}
	return "", false
}

// text returns a value as a text of an operation, with placeholders for what the script does not
// say. It is false if there are none.
func (r *reader) text(v *chain.Value) (string, bool) {
	switch {
	case v == nil:
		return "", true
	case v.Kind == chain.Text || v.Kind == chain.Number || v.Kind == chain.Pattern:
		return v.Text, true
	case v.Kind == chain.Sum && r.isNumber(v):
		n, _ := r.number(v)
		return strconv.FormatFloat(n, 'f', -1, 64), true
	case v.Kind == chain.Template || v.Kind == chain.Sum:
		joined, literal := "", true
		for i := range v.Parts {
			part, plain := r.text(&v.Parts[i])
			joined, literal = joined+part, literal && plain
		}
		return joined, literal
	case v.Kind == chain.Choice && len(v.Parts) == 2 && v.Parts[0].Kind == chain.Calls:
		if name, ok := environment(v.Parts[0].Calls); ok {
			value, _ := r.text(&v.Parts[1])
			return r.d.Variable(name, value, draft.IsSecret(name, cmp.Or(value, "?"))), false
		}
	case v.Kind == chain.Calls && len(v.Calls.Members) == 0 && (v.Is("true") || v.Is("false") || v.Is("null")):
		return strings.ToLower(v.Calls.Base), true
	case v.Kind == chain.Calls && encoders[v.Calls.Base] && len(v.Calls.Members) == 1 && len(v.Calls.Members[0].Args) == 1:
		s, literal := r.text(&v.Calls.Members[0].Args[0])
		if literal && v.Calls.Base == "encodeURIComponent" {
			s = url.QueryEscape(s)
		}
		return s, literal
	case v.Kind == chain.Calls:
		if name, ok := environment(v.Calls); ok {
			return r.d.Variable(name, "", draft.IsSecret(name, "?")), false
		}
		if o := r.vars[v.Calls.Base]; len(v.Calls.Members) == 0 && o.kind == constant {
			delete(r.vars, v.Calls.Base) // what is made of itself has no value
			value, plain := r.text(&o.value)
			r.vars[v.Calls.Base] = o
			if plain && draft.IsSecret(v.Calls.Base, value) {
				return r.d.Parameter(v.Calls.Base, value, true), false
			}
			return value, plain
		} else if len(v.Calls.Members) == 0 && o.kind == kept {
			return "{{sessionStorage:" + o.key + "}}", false
		}
		if part := r.part(v.Calls); part != nil {
			if name := v.Calls.Last().Name; draft.IsSecret(name, part.Text) {
				return r.d.Parameter(name, part.Text, true), false
			}
			return part.Text, true
		}
	}
	if r.lost != "" {
		return "", false
	}
	name := strings.Trim(notWord.ReplaceAllString(cmp.Or(v.Text, "value"), "_"), "_")
	r.unknown = append(r.unknown, draft.Shown(name))
	return r.d.Variable(name[:min(len(name), 40)], "", draft.IsSecret(name, "?")), false
}

// part returns the text or number that a chain takes of a constant object or list; nil if it is no such chain.
func (r *reader) part(c *chain.Chain) *chain.Value {
	o := r.vars[c.Base]
	if o.kind != constant || len(c.Members) == 0 {
		return nil
	}
	v := &o.value
	for _, m := range c.Members {
		switch {
		case m.Called || v == nil:
			return nil
		case !m.Index:
			v = v.Get(m.Name)
		case len(m.Args) == 1 && v.Kind == chain.List:
			i, ok := r.integer(&m.Args[0])
			if !ok || i < 0 || i >= len(v.Parts) {
				return nil
			}
			v = &v.Parts[i]
		case len(m.Args) == 1 && m.Args[0].Kind == chain.Text:
			v = v.Get(m.Args[0].Text)
		default:
			return nil
		}
	}
	if v == nil || v.Kind != chain.Text && v.Kind != chain.Number {
		return nil
	}
	return v
}

// tellUnknown says in the account of the present step which values the script does not say.
func (r *reader) tellUnknown() {
	if len(r.d.Items) > 0 {
		for _, name := range r.unknown {
			r.d.Change("variable", "the script does not say the value of %s: it is a parameter", name)
		}
	}
	r.unknown = nil
}

// plain reports whether the script says a text itself.
func (r *reader) plain(v *chain.Value) bool {
	switch v.Kind {
	case chain.Text, chain.Number:
		return true
	case chain.Template, chain.Sum:
		return !slices.ContainsFunc(v.Parts, func(part chain.Value) bool { return !r.plain(&part) })
	case chain.Calls:
		if o := r.vars[v.Calls.Base]; len(v.Calls.Members) == 0 {
			return o.kind == constant && (o.value.Kind == chain.Text || o.value.Kind == chain.Number || o.value.Kind == chain.Template || o.value.Kind == chain.Sum)
		}
		return r.part(v.Calls) != nil
	}
	return false
}

// isNumber reports whether a value is a number, or a sum of numbers.
func (r *reader) isNumber(v *chain.Value) bool {
	_, ok := r.number(v)
	return ok
}

// number returns the number that a script says; false if it says none.
func (r *reader) number(v *chain.Value) (float64, bool) {
	switch {
	case v == nil:
		return 0, false
	case v.Kind == chain.Number:
		n, err := strconv.ParseFloat(strings.TrimRight(strings.ReplaceAll(v.Text, "_", ""), "Ldf"), 64)
		return n, err == nil
	case v.Kind == chain.Sum:
		sum := 0.0
		for i := range v.Parts {
			n, ok := r.number(&v.Parts[i])
			if !ok {
				return 0, false
			}
			sum += n
		}
		return sum, true
	case v.Kind == chain.Calls && len(v.Calls.Members) == 0 && r.vars[v.Calls.Base].kind == constant:
		o := r.vars[v.Calls.Base]
		delete(r.vars, v.Calls.Base) // what is made of itself has no value
		n, ok := r.number(&o.value)
		r.vars[v.Calls.Base] = o
		return n, ok
	case v.Kind == chain.Calls:
		return r.number(r.part(v.Calls))
	}
	return 0, false
}

// encoders are the functions whose value an operation makes itself of what they get.
var encoders = map[string]bool{"encodeURIComponent": true, "encodeURI": true, "String": true, "str": true}

var notWord = regexp.MustCompile(`\W+`)

// typed returns the text that an operation types into an element.
func (r *reader) typed(l draft.Locator, v *chain.Value) *string {
	s, literal := r.text(v)
	if literal {
		return r.d.Text(l, s)
	}
	return &s
}

// literal is a text of a locator. It is false if it has braces that would be a placeholder.
func (r *reader) literal(v *chain.Value) (string, bool) {
	s, literal := r.text(v)
	return s, s != "" && (!literal || !strings.Contains(s, "{{"))
}

// argument returns an argument of a call; nil if there is none.
func argument(m chain.Member, i int) *chain.Value {
	if i >= len(m.Args) {
		return nil
	}
	return &m.Args[i]
}

// option returns an option of a call; nil if there is none.
func option(m chain.Member, name string) *chain.Value {
	for i := range m.Args {
		if v := m.Args[i].Get(name); v != nil {
			return v
		}
	}
	return nil
}

// milliseconds returns a time of an option; 0 if there is none.
func (r *reader) milliseconds(v *chain.Value) float64 {
	n, _ := r.number(v)
	return max(n, 0)
}

// integer returns a whole number.
func (r *reader) integer(v *chain.Value) (int, bool) {
	s, literal := r.text(v)
	n, err := strconv.Atoi(s)
	return n, literal && err == nil && n >= -1e6 && n <= 1e6
}
