package recording

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/spelling"
)

// StartFrom makes the routine one of a saved session, with which the person is logged in. It is
// called before events are added. hidden are values of the session's cookies, which pages may show:
// no event keeps one in any spelling.
func (r *Recording) StartFrom(session string, hidden []string) {
	var all []string
	for _, value := range hidden {
		all = append(all, spelling.Cookie(value)...)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest that fits
	var masks []string
	for _, text := range all {
		masks = append(masks, text, routine.Masked)
	}
	r.session, r.hidden = session, strings.NewReplacer(masks...)
}

// conceal masks the hidden values in an event. Selectors that have one are left out.
func (r *Recording) conceal(e *Event) {
	if r.hidden == nil {
		return
	}
	for _, text := range []*string{&e.Text, &e.URL, &e.List, &e.Script} {
		*text = r.hidden.Replace(*text)
	}
	if e.About == nil {
		return
	}
	about := *e.About
	about.Proposals = slices.DeleteFunc(slices.Clone(about.Proposals), func(s Selector) bool { return r.hidden.Replace(s.Selector) != s.Selector })
	text := r.hidden.Replace(routine.JSONText(about))
	e.About = &Element{}
	_ = json.Unmarshal([]byte(text), e.About) // a mask needs no escape, so the text is well-formed
}
