package playwright

import (
	"regexp"
	"strings"

	"rote/routine/importer/draft"
	"rote/routine/lesson/textform"
)

// engine matches the beginning of a selector that says what it is, as in text=Buy.
var engine = regexp.MustCompile(`^\s*(css|xpath|text|id|role|nth|visible|data-testid|data-test-id|data-test|_react|_vue|internal:[\w-]+)\s*=\s*`)

// puppeteerEngine matches the selectors of Puppeteer that are none of CSS.
var puppeteerEngine = regexp.MustCompile(`^\s*(aria|text|xpath|pierce)/|::-p-(aria|text|xpath)\(`)

// maxParts is how many parts a selector may have.
const maxParts = 8

// selector returns the element of a selector of Playwright or Puppeteer.
func (r *reader) selector(s string) element {
	s = strings.TrimSpace(s)
	if m := puppeteerEngine.FindStringSubmatchIndex(s); m != nil {
		return puppeteerSelector(s, m)
	}
	for _, into := range []string{">>>>", ">>>", "/deep/"} {
		if i := strings.LastIndex(s, into); i >= 0 {
			return r.inShadow(s[:i], strings.TrimSpace(s[i+len(into):]))
		}
	}
	parts := strings.Split(s, " >> ")
	if len(parts) > maxParts {
		return element{broken: "the selector has too many parts"}
	}
	e := r.onePart(parts[0])
	for _, part := range parts[1:] {
		switch {
		case strings.HasPrefix(part, "visible="):
		case strings.HasPrefix(part, "nth="):
			n := 0
			for _, c := range strings.TrimPrefix(part, "nth=") {
				if c >= '0' && c <= '9' && n < 1e5 {
					n = n*10 + int(c-'0')
				}
			}
			if part == "nth=-1" {
				n = -1
			}
			e = r.nth(e, n).element
		default:
			e = r.onePart(part).within(e)
		}
	}
	return e
}

// inShadow returns the element of a selector in the shadow root of a host. rote searches all shadow
// roots: the host is only needed if the selector says too little.
func (r *reader) inShadow(host, inner string) element {
	e := r.onePart(inner)
	if e.target == nil && !(draft.Locator{CSS: e.css}).Weak() {
		return e
	}
	around := r.selector(host)
	if around.broken != "" || around.css == "" && around.target == nil {
		return e
	}
	if around.target == nil {
		t := around.asTarget()
		around = element{target: &t} // a selector does not reach into the shadow root
	}
	return e.within(around)
}

// onePart returns the element of a part of a selector.
func (r *reader) onePart(s string) element {
	s = strings.TrimSpace(s)
	m := engine.FindStringSubmatch(s)
	if m == nil {
		switch {
		case strings.HasPrefix(s, "//"), strings.HasPrefix(s, "(//"), strings.HasPrefix(s, ".."):
			return byXPath(s, true)
		case len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]:
			return element{target: &textform.Target{Text: s[1 : len(s)-1]}}
		}
		return cssPart(s, 0)
	}
	rest := s[len(m[0]):]
	switch m[1] {
	case "css":
		return cssPart(rest, 0)
	case "xpath":
		return byXPath(rest, rest != "")
	case "text":
		return textPart(rest)
	case "id":
		return element{css: draft.ID(rest)}
	case "role":
		return rolePart(rest)
	case "data-testid", "data-test-id", "data-test":
		return element{css: draft.Attribute(m[1], strings.Trim(rest, `"'`))}
	}
	return element{broken: "rote has no selector " + m[1] + "="}
}

var jsRegex = regexp.MustCompile(`^/.+/[imsu]*$`)

// textPart is the element of text=Buy, which is exact in quotes.
func textPart(s string) element {
	switch {
	case s == "":
		return computed
	case jsRegex.MatchString(s):
		return element{target: &textform.Target{Text: s, Match: textform.Regex}}
	case len(s) > 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]:
		return element{target: &textform.Target{Text: s[1 : len(s)-1]}}
	}
	return element{target: &textform.Target{Text: s, Match: textform.Contains}}
}

var rolePattern = regexp.MustCompile(`^([a-z]+)(?:\[name=(?:"([^"]*)"|'([^']*)'|(/.+/))[is]?\])?$`)

// rolePart is the element of role=button[name="Buy"].
func rolePart(s string) element {
	m := rolePattern.FindStringSubmatch(s)
	if m == nil {
		return element{broken: "the selector role= has more than a name"}
	}
	t := textform.Target{Role: m[1], Name: m[2] + m[3], Match: textform.Contains}
	if m[4] != "" {
		t.Name, t.Match = m[4], textform.Regex
	}
	if t.Name == "" {
		t = textform.Target{CSS: textform.RoleSelector(m[1])}
	}
	return element{target: &t}
}

var (
	textPseudo = regexp.MustCompile(`:(has-text|text|text-is|text-matches)\(\s*`)
	ownPseudo  = regexp.MustCompile(`:visible\b`)
)

// cssPart is the element of a selector of CSS, in which the pseudo-classes of Playwright may be.
func cssPart(s string, depth int) element {
	s = ownPseudo.ReplaceAllString(s, "")
	m := textPseudo.FindStringSubmatchIndex(s)
	if m == nil {
		return element{css: s}
	}
	text, rest, ok := quoted(s[m[1]:])
	before, kind := strings.TrimSpace(s[:m[0]]), s[m[2]:m[3]]
	if !ok || kind == "text-matches" || depth > maxParts || strings.HasSuffix(before, "(") {
		return element{broken: "the selector has :" + kind + " in a form that rote does not have"}
	}
	t := textform.Target{CSS: before}
	switch kind {
	case "has-text":
		if t.CSS == "" {
			t.CSS = "*"
		}
		t.HasText = text
	case "text":
		t.Text, t.Match = text, textform.Contains
	case "text-is":
		t.Text = text
	}
	e := element{target: &t}
	switch following := strings.TrimSpace(rest); {
	case following == "":
		return e
	case rest[0] == ' ' && !strings.ContainsAny(following[:1], ">+~,"):
		return cssPart(following, depth+1).within(e)
	case following[0] == '>':
		return element{broken: "the selector goes on after :" + kind + " in a form that rote does not have"}
	case kind == "has-text" && strings.ContainsAny(following[:1], ":.[#") && !textPseudo.MatchString(following) && !strings.Contains(following, " "):
		t.CSS += following
		return e
	}
	return element{broken: "the selector goes on after :" + kind + " in a form that rote does not have"}
}

// quoted returns the string at the beginning of a text and what follows the bracket behind it.
func quoted(s string) (text, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if quote := s[0]; quote == '"' || quote == '\'' {
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\':
				i++
			case s[i] == quote:
				rest, ok = strings.CutPrefix(strings.TrimLeft(s[i+1:], " "), ")")
				return strings.ReplaceAll(s[1:i], `\`, ""), rest, ok && i > 1
			}
		}
		return "", "", false
	}
	text, rest, ok = strings.Cut(s, ")")
	return strings.TrimSpace(text), rest, ok && strings.TrimSpace(text) != ""
}

var (
	ariaRole = regexp.MustCompile(`\[\s*role\s*=\s*["']?([^"'\]]*)["']?\s*\]`)
	ariaName = regexp.MustCompile(`\[\s*name\s*=\s*["']?([^"'\]]*)["']?\s*\]`)
)

// textIn is the element of ::-p-text(Buy), behind the selector of an element with the text, or of one around it.
func textIn(before, text string) element {
	around := strings.TrimRight(before, " >+~")
	switch {
	case around == "" || around == "*":
		return element{target: &textform.Target{Text: text, Match: textform.Contains}}
	case around == before:
		return element{target: &textform.Target{CSS: around, HasText: text}}
	}
	return element{target: &textform.Target{Text: text, Match: textform.Contains, Within: &textform.Target{CSS: around}}}
}

// puppeteerSelector is the element of ::-p-aria(Buy), aria/Buy and such.
func puppeteerSelector(s string, m []int) element {
	kind, rest := "", s[m[1]:]
	if m[2] >= 0 {
		kind = s[m[2]:m[3]]
	} else {
		kind, rest = s[m[4]:m[5]], strings.TrimSuffix(rest, ")")
	}
	rest = strings.ReplaceAll(strings.TrimSpace(rest), `\`, "")
	if rest == "" {
		return computed
	}
	switch kind {
	case "pierce":
		return element{css: rest}
	case "xpath":
		return byXPath(rest, true)
	case "text":
		return textIn(s[:m[0]], strings.Trim(rest, `"'`))
	}
	name := strings.TrimSpace(ariaName.ReplaceAllString(ariaRole.ReplaceAllString(rest, ""), ""))
	if n := ariaName.FindStringSubmatch(rest); n != nil {
		name = n[1]
	}
	if role := ariaRole.FindStringSubmatch(rest); role != nil && name != "" {
		return element{target: &textform.Target{Role: role[1], Name: name}}
	}
	// The name alone is that of a field, or the text of another element.
	return element{target: &textform.Target{Text: name, Or: &textform.Target{Label: name}}}
}
