package har

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"rote/routine"
	"rote/routine/importer/draft"
)

const (
	maxPages  = 3 // whose text is read
	maxFields = 200
	maxValue  = 16 << 10
)

// pages are what the last pages before the target held: their meta elements and hidden fields, and
// the cookies until then.
func (f *file) pages(around []*entry, target *entry) []routine.PageValues {
	var all []routine.PageValues
	for _, e := range slices.Backward(around) {
		if e.Kind == "document" && e.Number < target.Number && e.Status < 300 && len(all) < maxPages {
			all = append(all, pageValues(e))
		}
	}
	if len(all) == 0 && target.PageURL != target.URL {
		all = []routine.PageValues{{URL: target.PageURL}}
	}
	for i := range all {
		all[i].Cookies = slices.Clone(target.sent)
		for _, e := range around {
			if e.Number < target.Number && site(e.host) == site(target.host) {
				all[i].Cookies = append(all[i].Cookies, e.set...)
			}
		}
	}
	slices.Reverse(all)
	return all
}

// pageValues reads the meta elements and hidden fields of a page.
func pageValues(e *entry) routine.PageValues {
	p := routine.PageValues{URL: e.URL, Metas: map[string]string{}, HiddenFields: map[string]string{}}
	t := html.NewTokenizer(strings.NewReader(string(e.Answer)))
	for len(p.Metas)+len(p.HiddenFields) < maxFields {
		kind := t.Next()
		if kind == html.ErrorToken {
			return p
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := t.Token()
		attributes := map[string]string{}
		for _, a := range token.Attr {
			attributes[a.Key] = a.Val
		}
		keep(&p, token.Data, attributes)
	}
	return p
}

func keep(p *routine.PageValues, tag string, attributes map[string]string) {
	put := func(all map[string]string, name, value string) {
		if _, known := all[name]; name != "" && value != "" && len(value) <= maxValue && !known {
			all[name] = value
		}
	}
	switch {
	case tag == "meta":
		put(p.Metas, attributes["name"]+attributes["property"], attributes["content"])
	case tag == "input" && strings.EqualFold(attributes["type"], "hidden") && attributes["name"] != "":
		put(p.HiddenFields, "input"+draft.Attribute("name", attributes["name"]), attributes["value"])
	}
}
