package lesson

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"rote/routine"
	"rote/routine/lesson/parameters"
	"rote/routine/placeholder"
)

// maxFormURL bounds the URLs that warnOfForms shows, in bytes: a longer one is no alternative
// to a form.
const maxFormURL = 200

// warnOfForms points out operations that fill in a form only to open a URL with what was
// typed: going there is faster, and leaves the routine read-only.
func (d *draft) warnOfForms(l *lesson) {
	for i, k := range l.kept {
		first, texts := d.typedBefore(l, i)
		if typ := k.operation.Type(); typ != "click" && typ != "press" || len(texts) == 0 || len(k.acting) > 0 || k.url == l.kept[i-1].url {
			continue
		}
		if l.session == nil || l.session.Mask(k.url) != k.url {
			continue // it has a secret
		}
		u, err := url.Parse(k.url)
		if err != nil {
			continue
		}
		var sent []string
		for _, values := range u.Query() {
			sent = append(sent, values...)
		}
		if slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(sent, text) }) {
			continue
		}
		to := k.url
		for _, p := range d.definition.Parameters {
			if text := placeholder.Format(d.values[p.Name]); slices.Contains(texts, text) {
				to = parameters.InURL(to, text, "{{"+p.Name+"}}")
			}
		}
		if len(to) > maxFormURL {
			continue
		}
		d.warnings = append(d.warnings, routine.Problem{Pointer: fmt.Sprintf("/operations/%d", i), Code: "form_opens_url",
			Message: fmt.Sprintf("operations %d to %d only open a URL that has what was typed", first+1, i+1),
			Hint:    `a navigate there does the same in one step, and does not count as acting: {"type":"navigate","url":` + routine.JSONText(to) + "}"})
	}
}

// typedBefore returns the texts that the operations directly before i typed, and the index of
// the first of these operations.
func (d *draft) typedBefore(l *lesson, i int) (first int, texts []string) {
	first = i
	for first > 0 && l.kept[first-1].operation.Type() == "input_text" {
		first--
		var o struct{ Text string }
		_ = json.Unmarshal(d.steps[first].Raw, &o) // a kept operation is well-formed
		t, _ := placeholder.Parse(o.Text, placeholder.Text)
		text, err := t.FillText(func(t placeholder.Token) (any, bool) {
			v, ok := d.values[t.Name]
			return v, ok && t.Source == placeholder.Parameter
		})
		if err != nil || text == "" {
			return first, nil
		}
		texts = append(texts, text)
	}
	return first, texts
}
