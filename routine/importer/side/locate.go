package side

import (
	"strings"

	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
	"rote/routine/lesson/textform"
)

// locate returns how the element of a command is found: by its target, or by one of the others that
// Selenium IDE has recorded.
func (r *reader) locate(c command) draft.Locator {
	ways := []string{c.target}
	for _, t := range c.at.Get("targets").Items {
		if way := t; len(t.Items) > 0 {
			way = t.Items[0]
			ways = append(ways, r.filled(way.String()))
		} else if t.Kind == jsontree.String {
			ways = append(ways, r.filled(t.Text))
		}
	}
	var css []string
	var targets, paths []textform.Target
	for _, way := range ways {
		s, target := one(way)
		switch {
		case s != "":
			css = append(css, s)
		case target.XPath != "":
			paths = append(paths, target)
		default:
			targets = append(targets, target)
		}
	}
	return draft.Choose(css, append(targets, paths...))
}

// one returns a locator of Selenium as a CSS selector or as a target.
func one(way string) (string, textform.Target) {
	strategy, rest, found := strings.Cut(way, "=")
	if strings.HasPrefix(way, "/") || strings.HasPrefix(way, "(/") {
		strategy, rest, found = "xpath", way, true
	}
	if !found {
		if way == "" {
			return "", textform.Target{}
		}
		return draft.ID(way), textform.Target{}
	}
	switch strings.TrimSpace(strategy) {
	case "id", "identifier":
		return draft.ID(rest), textform.Target{}
	case "name":
		name, index, _ := strings.Cut(rest, " ")
		if index != "" && !strings.Contains(index, "=") {
			name = rest
		}
		return draft.Attribute("name", name), textform.Target{}
	case "css":
		return rest, textform.Target{}
	case "linkText", "link":
		return "", textform.Target{Role: "link", Name: strings.TrimPrefix(rest, "exact:")}
	case "partialLinkText":
		return "", textform.Target{XPath: "//a[contains(normalize-space(.), " + xpathString(rest) + ")]"}
	case "class", "className":
		return "." + rest, textform.Target{}
	case "tagName":
		return rest, textform.Target{}
	case "xpath":
		if css, ok := draft.XPathCSS(rest); ok {
			return css, textform.Target{}
		}
		return "", textform.Target{XPath: rest}
	}
	return "", textform.Target{}
}

// xpathString is a text as a string of XPath, which has no escapes.
func xpathString(text string) string {
	if !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	return "concat(" + `"` + strings.ReplaceAll(text, `"`, `", '"', "`) + `")`
}

// nothing is the place of a command without other locators.
var nothing = &jsontree.Value{}

// jsonText returns a text as standard JSON, with braces that are no placeholder; true if it is none.
func jsonText(text string) (string, bool) {
	v, err := jsontree.Parse(text)
	if err != nil {
		return "", true
	}
	return "JSON.parse(" + draft.Literal(v.JSON()) + ")", false
}
