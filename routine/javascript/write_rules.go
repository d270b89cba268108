package javascript

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// written checks what is put into x[name]: strings that would become code,
// requests or a navigation.
func (c *checker) written(x value, names []text, e js.IExpr, at int) {
	for _, t := range names {
		if !t.exact {
			continue
		}
		switch name := strings.ToLower(t.pre); name {
		case "innerhtml", "outerhtml", "srcdoc":
			c.html(e, at)
		case "href", "src", "action", "formaction", "data", "xlink:href", "srcset", "poster":
			c.url(x, name, e, at)
		case "rel":
			c.ahead(c.flow.eval(e).texts, at)
		case "type":
			if s, ok := only(c.flow.eval(e).texts); ok && strings.EqualFold(s, "speculationrules") {
				c.add(blocked(at, "a speculationrules script", network))
			}
		case "httpequiv", "http-equiv":
			if s, ok := only(c.flow.eval(e).texts); ok && strings.EqualFold(s, "refresh") {
				c.add(blocked(at, "a refresh of the page", leaves))
			}
		}
	}
}

// attribute checks setAttribute(name, value), the value being argument i.
func (c *checker) attribute(x value, names []text, args []js.Arg, places []int, i int) {
	for _, t := range names {
		if t.exact && handler.MatchString(strings.ToLower(t.pre)) {
			c.add(blocked(places[i-1], "the attribute "+t.pre, makesCode))
		}
	}
	if i < len(args) {
		c.written(x, names, args[i].Value, places[i])
	}
}

// url checks what an element is told to load or to lead to.
func (c *checker) url(x value, name string, e js.IExpr, at int) {
	for _, t := range c.flow.eval(e).texts {
		s := strings.ToLower(spaces.ReplaceAllString(t.pre, ""))
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

// spaces are what a browser drops from a URL.
var spaces = regexp.MustCompile(`[\x00-\x20]+`)

// ahead checks a value of rel: some make the browser fetch ahead.
func (c *checker) ahead(values []text, at int) {
	for _, t := range values {
		switch s := strings.ToLower(t.pre); s {
		case "prefetch", "prerender", "preload", "modulepreload", "preconnect", "dns-prefetch":
			if t.exact {
				c.add(blocked(at, "rel="+s, network))
			}
		}
	}
}

func (c *checker) markup(args []js.Arg, places []int, i int) {
	if i < len(args) {
		c.html(args[i].Value, places[i])
	}
}

// inMarkup are the parts of HTML that run, fetch ahead or navigate.
var inMarkup = []struct {
	what string
	f    family
	re   *regexp.Regexp
}{
	{"a script element in HTML", makesCode, regexp.MustCompile(`(?i)<script\b`)},
	{"an event handler in HTML", makesCode, regexp.MustCompile(`(?i)<[a-z][^<>]*[\s"'/]on[a-z]{3,}\s*=`)},
	{"a javascript: URL in HTML", makesCode, regexp.MustCompile(`(?i)\b(href|src|action|data)\s*=\s*["']?\s*javascript:`)},
	{"a frame in HTML", realm, regexp.MustCompile(`(?i)<(iframe|frame|object|embed)\b`)},
	{"a refresh of the page in HTML", leaves, regexp.MustCompile(`(?i)\bhttp-equiv\s*=\s*["']?\s*refresh`)},
	{"a prefetch in HTML", network, regexp.MustCompile(`(?i)\brel\s*=\s*["']?\s*(prefetch|prerender|preload|modulepreload)`)},
}

// html checks the pieces of markup that are written out.
func (c *checker) html(e js.IExpr, at int) {
	var pieces []string
	for _, t := range c.flow.eval(e).texts {
		pieces = append(pieces, t.pre, t.suf)
	}
	pieces = append(pieces, literals(e, 0)...)
	for _, m := range inMarkup {
		if slices.ContainsFunc(pieces, m.re.MatchString) {
			c.add(blocked(at, m.what, m.f))
		}
	}
}

// maxPieces is how deep a concatenation of markup is looked into.
const maxPieces = 200

// literals are the strings that stand in a concatenation.
func literals(e js.IExpr, depth int) (out []string) {
	if depth > maxPieces {
		return nil
	}
	switch n := unwrap(e).(type) {
	case *js.LiteralExpr:
		if n.TokenType == js.StringToken {
			return []string{unescape(n.Data)}
		}
	case *js.TemplateExpr:
		for _, p := range n.List {
			out = append(out, unescape(p.Value))
		}
		return append(out, unescape(n.Tail))
	case *js.BinaryExpr:
		if n.Op == js.AddToken {
			return append(literals(n.X, depth+1), literals(n.Y, depth)...)
		}
	case *js.CondExpr:
		return append(literals(n.X, depth+1), literals(n.Y, depth+1)...)
	}
	return nil
}
