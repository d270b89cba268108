package recorder

import (
	"regexp"
	"slices"
	"strings"

	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
	"rote/routine/lesson/textform"
)

// chains returns the ways to find the element of a step. Each is a chain: from the host of a shadow
// root to the element in it.
func chains(s *jsontree.Value) [][]string {
	var all [][]string
	for _, way := range s.Get("selectors").Items {
		if way.Kind == jsontree.String {
			all = append(all, []string{way.Text})
			continue
		}
		var parts []string
		for _, part := range way.Items {
			parts = append(parts, part.String())
		}
		if len(parts) > 0 {
			all = append(all, parts)
		}
	}
	return all
}

var (
	colour   = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	ariaRole = regexp.MustCompile(`\[\s*(role|name)\s*=\s*["']?([^"'\]]*)["']?\s*\]`)
)

// locate returns how the element of a step is found.
func locate(s *jsontree.Value) draft.Locator {
	var css []string
	var texts, names, paths, hosts []textform.Target
	types := s.Get("type").String() == "change"
	for _, parts := range chains(s) {
		last := parts[len(parts)-1]
		kind, rest, _ := strings.Cut(last, "/")
		switch kind {
		case "aria":
			if t, ok := ariaTarget(parts, types); ok && t.Role != "" {
				texts = append(texts, t)
			} else if ok {
				names = append(names, t)
			}
		case "text":
			texts = append(texts, textform.Target{Text: rest})
		case "xpath":
			if plain, ok := draft.XPathCSS(rest); ok {
				css = append(css, plain)
			} else {
				paths = append(paths, textform.Target{XPath: rest})
			}
		case "pierce":
			css = append(css, rest)
		default:
			one := lastOfDeep(last)
			if len(parts) > 1 && (draft.Locator{CSS: one}).Weak() { // the hosts say which
				hosts = append(hosts, inHosts(parts))
				continue
			}
			css = append(css, one)
		}
	}
	if types { // the label names a field better than the text in it
		texts, names = names, texts
	}
	return draft.Choose(css, slices.Concat(texts, names, hosts, paths))
}

// inHosts returns the element in the shadow roots of the hosts of a chain.
func inHosts(parts []string) textform.Target {
	t := textform.Target{CSS: parts[0]}
	for _, part := range parts[1:] {
		around := t
		t = textform.Target{CSS: part, Within: &around}
	}
	return t
}

// ariaTarget returns the element of an accessible name, which some recordings give with a role. Of
// a chain the first part has the name.
func ariaTarget(parts []string, types bool) (textform.Target, bool) {
	text := ""
	for i := len(parts) - 1; i >= 0 && text == ""; i-- {
		text = strings.TrimPrefix(parts[i], "aria/")
		if i > 0 && strings.HasPrefix(text, "[role=") {
			text = "" // a part of the element that has the name
		}
	}
	role := ""
	for _, m := range ariaRole.FindAllStringSubmatch(text, -1) {
		if m[1] == "role" {
			role = m[2]
		}
	}
	name := strings.TrimSpace(ariaRole.ReplaceAllString(text, ""))
	for _, m := range ariaRole.FindAllStringSubmatch(text, -1) {
		if m[1] == "name" {
			name = m[2]
		}
	}
	switch {
	case name == "":
		return textform.Target{}, false
	case role != "":
		return textform.Target{Role: role, Name: name}, true
	case types:
		return textform.Target{Label: name}, true
	}
	return textform.Target{Text: name}, true
}

// lastOfDeep returns the selector within the last shadow root of one that goes into it.
func lastOfDeep(css string) string {
	for _, into := range []string{">>>>", ">>>", " /deep/ "} {
		if i := strings.LastIndex(css, into); i >= 0 {
			css = css[i+len(into):]
		}
	}
	return strings.TrimSpace(css)
}
