package draft

import (
	"regexp"
	"strings"
)

var (
	xpathStep      = regexp.MustCompile(`^(\*|[a-zA-Z][\w-]*)((?:\[[^\]]*\])*)$`)
	xpathPredicate = regexp.MustCompile(`\[([^\]]*)\]`)
	xpathNumber    = regexp.MustCompile(`^[1-9]\d{0,4}$`)
	xpathEquals    = regexp.MustCompile(`^@([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')$`)
	xpathContains  = regexp.MustCompile(`^(contains|starts-with)\(\s*@([\w-]+)\s*,\s*(?:"([^"]*)"|'([^']*)')\s*\)$`)
)

// XPathCSS returns the CSS selector that means the same as a plain XPath, as //a[@href='x'] or
// /html/body/div[2]. It returns false for any other.
func XPathCSS(xpath string) (string, bool) {
	xpath = strings.TrimSpace(xpath)
	if len(xpath) > 1000 || !strings.HasPrefix(xpath, "/") {
		return "", false
	}
	var b strings.Builder
	for _, part := range splitXPath(xpath) {
		m := xpathStep.FindStringSubmatch(part.step)
		if m == nil {
			return "", false
		}
		step, ok := xpathCompound(m[1], m[2])
		if !ok {
			return "", false
		}
		switch {
		case b.Len() == 0 && !part.deep:
			if m[1] != "html" {
				return "", false
			}
		case b.Len() == 0:
		case part.deep:
			b.WriteByte(' ')
		default:
			b.WriteString(" > ")
		}
		b.WriteString(step)
	}
	return b.String(), b.Len() > 0
}

// xpathPart is one step of a path; deep if "//" precedes it.
type xpathPart struct {
	step string
	deep bool
}

// splitXPath splits a path at the slashes that are in no string.
func splitXPath(xpath string) []xpathPart {
	var parts []xpathPart
	quote := byte(0)
	start, deep := 0, false
	for i := 0; i <= len(xpath); i++ {
		switch {
		case i == len(xpath) || quote == 0 && xpath[i] == '/':
			if i > start {
				parts = append(parts, xpathPart{xpath[start:i], deep})
				deep = false
			} else if i > 0 {
				deep = true
			}
			start = i + 1
		case quote != 0:
			if xpath[i] == quote {
				quote = 0
			}
		case xpath[i] == '"' || xpath[i] == '\'':
			quote = xpath[i]
		}
	}
	return parts
}

// xpathCompound returns a step as a compound selector.
func xpathCompound(tag, predicates string) (string, bool) {
	s := tag
	for _, p := range xpathPredicate.FindAllStringSubmatch(predicates, -1) {
		for test := range strings.SplitSeq(p[1], " and ") {
			test = strings.TrimSpace(test)
			if m := xpathEquals.FindStringSubmatch(test); m != nil {
				if m[1] == "id" {
					s += ID(m[2] + m[3])
				} else {
					s += Attribute(m[1], m[2]+m[3])
				}
				continue
			}
			if m := xpathContains.FindStringSubmatch(test); m != nil {
				matcher := "*="
				if m[1] == "starts-with" {
					matcher = "^="
				}
				s += "[" + m[2] + matcher + Quote(m[3]+m[4]) + "]"
				continue
			}
			if xpathNumber.MatchString(test) && tag != "*" && s == tag {
				s += ":nth-of-type(" + test + ")"
				continue
			}
			return "", false
		}
	}
	if s != "*" {
		s = strings.TrimPrefix(s, "*")
	}
	return s, true
}
