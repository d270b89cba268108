package playwright

import (
	"cmp"
	"net/url"
	"regexp"
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
		if o := r.vars[v.Calls.Base]; o.kind == constant && o.value.Kind == chain.Object && len(v.Calls.Members) == 1 {
			if field := o.value.Get(v.Calls.Members[0].Name); field != nil && field.Kind == chain.Text {
				return field.Text, true
			}
		}
	}
	name := strings.Trim(notWord.ReplaceAllString(cmp.Or(v.Text, "value"), "_"), "_")
	if len(r.d.Items) > 0 {
		r.d.Change("variable", "the script does not say the value of %s: it is a parameter", draft.Shown(name))
	}
	return r.d.Variable(name[:min(len(name), 40)], "", draft.IsSecret(name, "?")), false
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
	if v == nil {
		return 0
	}
	s, _ := r.text(v)
	n, _ := strconv.ParseFloat(strings.TrimRight(s, "Ldf"), 64)
	return max(n, 0)
}

// integer returns a whole number.
func (r *reader) integer(v *chain.Value) (int, bool) {
	s, literal := r.text(v)
	n, err := strconv.Atoi(s)
	return n, literal && err == nil && n >= -1e6 && n <= 1e6
}
