package parameters

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/placeholder"
)

// Proposal is a literal of the operations that could become a parameter.
type Proposal struct {
	From string                `json:"from"`
	Name string                `json:"name"`
	Type routine.ParameterType `json:"type"`
	// In are the JSON pointers of the places that it would replace.
	In []string `json:"in"`
}

// Replacement is one place of a definition where a parameter took the place of a literal.
type Replacement struct {
	Pointer string          `json:"pointer"`
	From    json.RawMessage `json:"from"`
	To      json.RawMessage `json:"to"`
}

// MinLength is the least length of a text that is proposed as a parameter, in characters:
// shorter ones also occur where they mean something else.
const MinLength = 3

// MaxLength is the greatest length of a text that is proposed, in characters.
const maxProposedText = 200

// literal is a text of the operations that could become a parameter.
type literal struct {
	Text string
	// label is what names it: the label of its field, or the key of its query value.
	label string
	Field *routine.Field // that took it; nil if none did
	// at is the place of a literal whose name is asked for; empty for others. Short ones are
	// proposed only there, as elsewhere they mean something else.
	at string
}

// Step is an operation that is about to be saved.
type Step struct {
	Raw json.RawMessage
	// field is the form field that the operation filled; nil if it filled none.
	Field *routine.Field
	// Names are the names of values in the URL and the body of a fetch that are proposed too.
	Names []string
}

// Propose returns the texts of the steps that could become parameters, each with all the
// places where it stands. ps are the parameters that there are: where the value of one stands
// as a literal, the parameter itself is proposed.
func Propose(steps []Step, ps []routine.Parameter, values map[string]any) []Proposal {
	proposals := []Proposal{}
	names := map[string]bool{}
	for _, p := range ps {
		names[p.Name] = true
		text := placeholder.Format(values[p.Name])
		if p.Secret || values[p.Name] == nil || utf8.RuneCountInString(text) < MinLength || len(text) > 4*maxProposedText {
			continue
		}
		if in := placesOf(steps, text, p); len(in) > 0 {
			proposals = append(proposals, Proposal{From: text, Name: p.Name, Type: p.Type, In: in})
		}
	}
	for _, l := range Literals(steps) {
		proposed := slices.ContainsFunc(proposals, func(p Proposal) bool { return p.From == l.Text })
		if short(l.Text) && l.at == "" || proposed && !short(l.Text) || utf8.RuneCountInString(l.Text) > maxProposedText {
			continue
		}
		p := Declare(Name(l.label, func(name string) bool { return names[name] }), l.Text, l.Field, false)
		in := placesOf(steps, l.Text, p)
		if short(l.Text) {
			in = []string{l.at}
		}
		names[p.Name] = true
		proposals = append(proposals, Proposal{From: l.Text, Name: p.Name, Type: p.Type, In: in})
	}
	return proposals
}

// short reports whether a text also occurs where it means something else.
func short(text string) bool { return utf8.RuneCountInString(text) < MinLength }

// Literals returns the texts without placeholders that the steps type, choose or have in the
// query of a URL to go to, each once.
func Literals(steps []Step) []literal {
	var all []literal
	add := func(l literal) {
		known := func(k literal) bool { return k.Text == l.Text && (k.label == l.label || !short(l.Text)) }
		if l.Text != "" && !strings.Contains(l.Text, "{{") && !slices.ContainsFunc(all, known) {
			all = append(all, l)
		}
	}
	for i, s := range steps {
		var o struct{ Type, Text, URL string }
		_ = json.Unmarshal(s.Raw, &o) // a kept operation is well-formed
		switch o.Type {
		case "input_text":
			l := literal{Text: o.Text, Field: s.Field, label: "text"}
			if s.Field != nil && s.Field.Label != "" {
				l.label = s.Field.Label
			}
			if s.Field == nil || !s.Field.Secret {
				add(l)
			}
		case "navigate":
			_, query, _ := strings.Cut(o.URL, "?")
			query, _, _ = strings.Cut(query, "#")
			for pair := range strings.SplitSeq(query, "&") {
				key, value, _ := strings.Cut(pair, "=")
				text, err := url.QueryUnescape(value)
				if name, keyErr := url.QueryUnescape(key); err == nil && keyErr == nil {
					l := literal{Text: text, label: name}
					if slices.Contains(s.Names, strings.ToLower(name)) {
						l.at = fmt.Sprintf("/operations/%d/url", i)
					}
					add(l)
				}
			}
		case "fetch":
			for _, l := range requestLiterals(s) {
				l.at = fmt.Sprintf("/operations/%d%s", i, l.at)
				add(l)
			}
		}
	}
	return all
}

// requestLiterals are the texts that a fetch sends under the names that are asked for.
func requestLiterals(s Step) []literal {
	var o struct {
		Endpoint struct {
			URL  string
			Body json.RawMessage
		}
	}
	_ = json.Unmarshal(s.Raw, &o) // a kept operation is well-formed
	var all []literal
	add := func(name, text, at string) {
		if slices.Contains(s.Names, strings.ToLower(name)) && !strings.Contains(text, "{") { // the query of GraphQL has braces
			all = append(all, literal{Text: text, label: name, at: at})
		}
	}
	_, query, _ := strings.Cut(o.Endpoint.URL, "?")
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if text, err := url.QueryUnescape(value); err == nil {
			add(key, text, "/endpoint/url")
		}
	}
	ReplaceValues(o.Endpoint.Body, func(pointer string, value json.RawMessage) json.RawMessage {
		text := string(value) // of a number
		if routine.FirstByte(value) != '"' || json.Unmarshal(value, &text) == nil {
			add(pointer[strings.LastIndexByte(pointer, '/')+1:], text, "/endpoint/body"+pointer)
		}
		return nil
	})
	return all
}

// placesOf returns the JSON pointers of the places in which {{name}} could stand for a text.
func placesOf(steps []Step, text string, p routine.Parameter) []string {
	in := []string{}
	for i, s := range steps {
		_, changes := Replace(s.Raw, text, p)
		for _, c := range changes {
			in = append(in, fmt.Sprintf("/operations/%d%s", i, c.Pointer))
		}
	}
	return in
}

// Replace replaces a text by the placeholder of p wherever that has the same effect for
// this text, and returns what it changed.
func Replace(raw json.RawMessage, text string, p routine.Parameter) (json.RawMessage, []Replacement) {
	var changes []Replacement
	replaced := ReplaceValues(raw, func(pointer string, value json.RawMessage) json.RawMessage {
		place, ok := placeOf(pointer)
		if !ok || short(text) && pointer != "/text" {
			return nil
		}
		to, ok := replaceLiteral(value, place, text, p)
		if !ok {
			return nil
		}
		changes = append(changes, Replacement{Pointer: pointer, From: value, To: to})
		return to
	})
	return replaced, changes
}

// placeOf returns the kind of place that a value of an operation is in; false if no literal is
// replaced there.
func placeOf(pointer string) (placeholder.Place, bool) {
	switch pointer {
	case "/text":
		return placeholder.Text, true
	case "/url", "/endpoint/url":
		return placeholder.URL, true
	case "/url_regex":
		return placeholder.Regexp, true
	case "/selector":
		return placeholder.Selector, true
	case "/js":
		return placeholder.Script, true
	}
	switch {
	case strings.HasPrefix(pointer, "/x-hover/"):
		return placeholder.Selector, true
	case strings.HasPrefix(pointer+"/", "/endpoint/body/"):
		return placeholder.Value, true
	}
	return 0, false
}

// replaceLiteral returns a JSON value of an operation with the placeholder of p instead of the
// literal text; false if the text is not there, or the placeholder would not give the same.
func replaceLiteral(value json.RawMessage, place placeholder.Place, text string, p routine.Parameter) (json.RawMessage, bool) {
	token := "{{" + p.Name + "}}"
	isNumber := p.Type == routine.TypeInteger || p.Type == routine.TypeNumber
	if routine.FirstByte(value) != '"' { // a number of a body keeps its type
		if place == placeholder.Value && isNumber && string(value) == text {
			return routine.RawJSON(token), true
		}
		return nil, false
	}
	var was string
	if json.Unmarshal(value, &was) != nil {
		return nil, false
	}
	var now string
	switch place {
	case placeholder.Text, placeholder.Value:
		if was != text {
			return nil, false
		}
		if now = token; place == placeholder.Value && (isNumber || p.Type == routine.TypeBoolean) {
			now = `"` + token + `"` // a text also if the value is a number
		}
	case placeholder.URL:
		now = InURL(was, text, token)
	case placeholder.Regexp:
		now = inRegexp(was, text, token)
	case placeholder.Selector:
		now = inSelector(was, text, token)
	case placeholder.Script:
		now = inScript(was, text, token)
	}
	if now == was || !sameWhenFilled(was, now, place, p.Name, text) {
		return nil, false
	}
	return routine.RawJSON(now), true
}

// sameWhenFilled reports whether a template means what the text meant before, if the parameter
// has the value that was written there.
func sameWhenFilled(was, template string, place placeholder.Place, name, value string) bool {
	t, faults := placeholder.Parse(template, place)
	if len(faults) > 0 {
		return false
	}
	filled, err := t.FillText(func(token placeholder.Token) (any, bool) {
		return value, token.Source == placeholder.Parameter && token.Name == name
	})
	switch {
	case err != nil:
		return false
	case place == placeholder.URL:
		return routine.DecodedURL(filled) == routine.DecodedURL(was)
	case place == placeholder.Script: // the spelling of the literals may differ
		return slices.Equal(stringsOf(filled), stringsOf(was))
	}
	return filled == was
}
