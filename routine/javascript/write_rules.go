package javascript

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// checkAssignment checks the value that is assigned to x[name]: strings that
// would become code, requests or a navigation.
func (c *checker) checkAssignment(x value, names []text, e js.IExpr, at int) {
	for _, t := range names {
		if !t.exact {
			continue
		}
		switch name := strings.ToLower(t.prefix); name {
		case "innerhtml", "outerhtml", "srcdoc":
			c.checkHTML(e, at)
		case "href", "src", "action", "formaction", "data", "xlink:href", "srcset", "poster":
			c.checkURL(x, name, e, at)
		case "rel":
			c.checkRelValue(c.flow.eval(e).texts, at)
		case "type":
			if s, ok := singleText(c.flow.eval(e).texts); ok && strings.EqualFold(s, "speculationrules") {
				c.add(blocked(at, "a speculationrules script", network))
			}
		case "httpequiv", "http-equiv":
			if s, ok := singleText(c.flow.eval(e).texts); ok && strings.EqualFold(s, "refresh") {
				c.add(blocked(at, "a refresh of the page", leaves))
			}
		}
	}
}

// checkAttribute checks setAttribute(name, value), where the value is argument
// i.
func (c *checker) checkAttribute(x value, names []text, args []js.Arg, places []int, i int) {
	for _, t := range names {
		if t.exact && eventHandlerName.MatchString(strings.ToLower(t.prefix)) {
			c.add(blocked(places[i-1], "the attribute "+t.prefix, makesCode))
		}
	}
	if i < len(args) {
		c.checkAssignment(x, names, args[i].Value, places[i])
	}
}

// checkURL checks a URL that an element loads or links to.
func (c *checker) checkURL(x value, name string, e js.IExpr, at int) {
	for _, t := range c.flow.eval(e).texts {
		s := strings.ToLower(urlWhitespace.ReplaceAllString(t.prefix, ""))
		switch {
		case strings.HasPrefix(s, "javascript:"):
			c.add(blocked(at, "a javascript: URL", makesCode))
			return
		case x.kinds&kLoader == 0, name == "href", s == "", strings.HasPrefix(s, "data:"), strings.HasPrefix(s, "blob:"):
		default:
			c.add(blocked(at, "loading an image or media", network))
			return
		}
	}
}

// urlWhitespace is what a browser removes from a URL.
var urlWhitespace = regexp.MustCompile(`[\x00-\x20]+`)

// checkRelValue checks a value of rel. Some of them make the browser prefetch.
func (c *checker) checkRelValue(values []text, at int) {
	for _, t := range values {
		switch s := strings.ToLower(t.prefix); s {
		case "prefetch", "prerender", "preload", "modulepreload", "preconnect", "dns-prefetch":
			if t.exact {
				c.add(blocked(at, "rel="+s, network))
			}
		}
	}
}

func (c *checker) checkMarkupArgument(args []js.Arg, places []int, i int) {
	if i < len(args) {
		c.checkHTML(args[i].Value, places[i])
	}
}

// blockedMarkup are the parts of HTML that execute, prefetch or navigate.
var blockedMarkup = []struct {
	what string
	f    blockReason
	re   *regexp.Regexp
}{
	{"a script element in HTML", makesCode, regexp.MustCompile(`(?i)<script\b`)},
	{"an event handler in HTML", makesCode, regexp.MustCompile(`(?i)<[a-z][^<>]*[\s"'/]on[a-z]{3,}\s*=`)},
	{"a javascript: URL in HTML", makesCode, regexp.MustCompile(`(?i)\b(href|src|action|data)\s*=\s*["']?\s*javascript:`)},
	{"a frame in HTML", realm, regexp.MustCompile(`(?i)<(iframe|frame|object|embed)\b`)},
	{"a refresh of the page in HTML", leaves, regexp.MustCompile(`(?i)\bhttp-equiv\s*=\s*["']?\s*refresh`)},
	{"a prefetch in HTML", network, regexp.MustCompile(`(?i)\brel\s*=\s*["']?\s*(prefetch|prerender|preload|modulepreload)`)},
}

// checkHTML checks the literal parts of markup.
func (c *checker) checkHTML(e js.IExpr, at int) {
	var pieces []string
	for _, t := range c.flow.eval(e).texts {
		pieces = append(pieces, t.prefix, t.suffix)
	}
	pieces = append(pieces, literals(e, 0)...)
	for _, m := range blockedMarkup {
		if slices.ContainsFunc(pieces, m.re.MatchString) {
			c.add(blocked(at, m.what, m.f))
		}
	}
}

// maxConcatenation limits the depth of a concatenation that is searched.
const maxConcatenation = 200

// literals returns the string literals of a concatenation.
func literals(e js.IExpr, depth int) (out []string) {
	if depth > maxConcatenation {
		return nil
	}
	switch n := Unwrap(e).(type) {
	case *js.LiteralExpr:
		if n.TokenType == js.StringToken {
			return []string{Unescape(n.Data)}
		}
	case *js.TemplateExpr:
		for _, p := range n.List {
			out = append(out, Unescape(p.Value))
		}
		return append(out, Unescape(n.Tail))
	case *js.BinaryExpr:
		if n.Op == js.AddToken {
			return append(literals(n.X, depth+1), literals(n.Y, depth)...)
		}
	case *js.CondExpr:
		return append(literals(n.X, depth+1), literals(n.Y, depth+1)...)
	}
	return nil
}
