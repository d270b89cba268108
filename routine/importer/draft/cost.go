package draft

import (
	"regexp"
	"strings"
)

// byPlace is the cost from which on a selector holds only by the place of its element.
const byPlace = 70

var (
	token     = regexp.MustCompile(`#(?:[\w-]|\\.)+|\.(?:[\w-]|\\.)+|\[[^\]]*\]|:[\w-]+`)
	attribute = regexp.MustCompile(`^\[\s*([\w-]+)\s*(?:[~^$*|]?=\s*["']?([^"'\]]*))?`)
	landmarks = regexp.MustCompile(`^(?:main|nav|header|footer|aside|form|table|select|textarea|h[1-6])\b`)
	utility   = regexp.MustCompile(`^\.(?:[pmw][trblxy]?-\d|text-|flex|col-|row|d-|btn$|active$|open$|selected$|is-|has-|js-)`)
	kitPrefix = regexp.MustCompile(`^(?:css|sc|jsx|jss|emotion|svelte|data-v|ng|_ng|mui-\d|radix|` +
		`headlessui|react-aria|react-select|ember|ext-gen|yui|gwt-uid|downshift|mantine)[-_\d]`)
	hashedPart = regexp.MustCompile(`[A-Za-z]\d+[A-Za-z]|\d{4,}|^[0-9a-f]*\d[0-9a-f]*\d[0-9a-f]*$`)
)

// attributeCosts are the costs of selectors by an attribute; those of others are 22.
var attributeCosts = map[string]int{"id": 0, "name": 3, "value": 5, "action": 6, "itemprop": 6, "for": 8, "rel": 9, "autocomplete": 9,
	"aria-label": 10, "placeholder": 11, "href": 13, "title": 14, "alt": 14, "type": 18, "role": 18}

// cost judges a selector by its text alone, with the costs that a look gives to selectors of
// elements: the less, the longer it will last.
func cost(css string) int {
	parts := compounds(css)
	total := 4 * (len(parts) - 1)
	for _, part := range parts {
		total += compoundCost(part)
	}
	if strings.Contains(css, ":nth") {
		total += byPlace
	} else if len(parts) == 1 && token.FindString(css) == "" {
		total += byPlace // a tag alone: the first of the page
	}
	return total
}

// compounds splits a selector at its combinators.
func compounds(css string) []string {
	depth, start := 0, 0
	var parts []string
	quote := byte(0)
	for i := 0; i < len(css); i++ {
		c := css[i]
		switch {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case depth == 0 && strings.IndexByte(" >+~", c) >= 0:
			if i > start {
				parts = append(parts, css[start:i])
			}
			start = i + 1
		}
	}
	if start < len(css) || len(parts) == 0 {
		parts = append(parts, css[start:])
	}
	return parts
}

// compoundCost is the cost of the best token of a compound.
func compoundCost(compound string) int {
	best := 28
	if landmarks.MatchString(compound) {
		best = 20
	}
	for _, t := range token.FindAllString(compound, -1) {
		best = min(best, tokenCost(t))
	}
	return best
}

func tokenCost(t string) int {
	switch t[0] {
	case '#':
		if generated(t[1:]) {
			return 60
		}
		return 0
	case '.':
		switch {
		case utility.MatchString(t):
			return 44
		case generated(t[1:]):
			return 66
		}
		return 26
	case '[':
		m := attribute.FindStringSubmatch(t)
		if m == nil {
			return 22
		}
		c, known := attributeCosts[m[1]]
		switch {
		case strings.HasPrefix(m[1], "data-test"), m[1] == "data-cy", m[1] == "data-qa":
			c = 1
		case !known:
			c = 22
		}
		if generated(m[2]) && m[1] != "href" {
			c += 40
		}
		return c
	}
	return 100
}

// generated reports whether a name looks as if a program had made it anew for each build or page.
func generated(name string) bool {
	if strings.ContainsAny(name, ":«»") || kitPrefix.MatchString(name) {
		return true
	}
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) >= 4 && hashedPart.MatchString(part) {
			return true
		}
	}
	return false
}
