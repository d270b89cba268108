package playwright

import (
	"cmp"

	"rote/routine/importer/chain"
	"rote/routine/lesson/textform"
)

// twice is an element that is selected by two texts, or by two elements in it.
var twice = element{broken: "the element is selected more than once"}

// filter keeps the elements that contain the given text or element, and those that lack it for hasNot and hasNotText.
func (r *reader) filter(e element, m chain.Member) element {
	if e.broken != "" {
		return e
	}
	t := e.asTarget()
	before := t
	for _, text := range []struct {
		name        string
		part, regex *string
	}{{"hasText", &t.HasText, &t.HasRegex}, {"hasNotText", &t.HasNotText, &t.HasNotRegex}} {
		v := cmp.Or(option(m, text.name), option(m, text.name+"Regex"))
		if v == nil {
			continue
		}
		if *text.part+*text.regex != "" {
			return twice
		}
		what, match, ok := r.named(v, false)
		switch {
		case !ok:
			return computed
		case match == textform.Regex:
			*text.regex = what
		default:
			*text.part = what
		}
	}
	for _, inner := range []struct {
		name   string
		target **textform.Target
	}{{"has", &t.Has}, {"hasNot", &t.HasNot}} {
		v := option(m, inner.name)
		if v == nil {
			continue
		}
		if *inner.target != nil {
			return twice
		}
		if v.Kind != chain.Calls {
			return computed
		}
		o := r.located(v)
		if o.kind != located || o.element.broken != "" {
			return computed
		}
		one := o.element.asTarget()
		*inner.target = &one
	}
	switch {
	case t == before:
		return e
	case t.Nth != nil || t.Or != nil:
		return twice
	}
	return element{target: &t}
}
