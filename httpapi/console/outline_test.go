package console_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// outline returns what a person finds on a page: headings, links, fields with their labels,
// buttons, heads of tables, alerts and other texts, a line each. Times and random ids are
// replaced by the caller.
func outline(t testing.TB, page string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	o := &outliner{}
	o.walk(doc)
	o.endText()
	return o.out.String()
}

type outliner struct {
	out  strings.Builder
	text []string
}

func (o *outliner) line(format string, args ...any) {
	o.endText()
	fmt.Fprintf(&o.out, format+"\n", args...)
}

// endText writes the text since the last line as a line of its own.
func (o *outliner) endText() {
	if text := strings.Join(o.text, " "); text != "" {
		fmt.Fprintf(&o.out, "  %s\n", text)
	}
	o.text = nil
}

func (o *outliner) walk(n *html.Node) {
	if n.Type == html.TextNode {
		if text := strings.Join(strings.Fields(n.Data), " "); text != "" {
			o.text = append(o.text, text)
		}
		return
	}
	switch n.Data {
	case "script", "style", "svg", "head", "header", "template", "noscript", "dialog":
		return
	case "h1", "h2", "h3":
		o.line("%s %s", strings.Repeat("#", int(n.Data[1]-'0')), textOf(n))
		return
	case "a":
		o.line("[%s](%s)", textOf(n), attribute(n, "href"))
		return
	case "button":
		o.line("<%s>%s", textOf(n), flags(n, "disabled"))
		return
	case "input", "select", "textarea":
		o.line("%s %s=%q%s", strings.TrimSpace(n.Data+" "+attribute(n, "type")), attribute(n, "name"), valueOf(n),
			flags(n, "required", "disabled", "aria-invalid"))
		return
	case "form":
		o.line("form %s %s", attribute(n, "method"), attribute(n, "action"))
	case "tr", "p", "li", "label", "dt", "section", "div":
		o.endText()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		o.walk(c)
	}
	if slices.Contains([]string{"tr", "p", "li", "dd", "form", "div", "nav", "section"}, n.Data) {
		o.endText()
	}
}

// textOf returns what a screen reader calls an element.
func textOf(n *html.Node) string {
	if label := attribute(n, "aria-label"); label != "" {
		return label
	}
	var parts []string
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			parts = append(parts, strings.Fields(c.Data)...)
		}
	}
	return strings.Join(parts, " ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func valueOf(n *html.Node) string {
	switch n.Data {
	case "input":
		return attribute(n, "value")
	case "textarea":
		return textOf(n)
	}
	for c := range n.Descendants() {
		if c.Data == "option" && flags(c, "selected") != "" {
			return textOf(c)
		}
	}
	return ""
}

// flags returns those of some attributes that an element has.
func flags(n *html.Node, names ...string) string {
	text := ""
	for _, a := range n.Attr {
		if slices.Contains(names, a.Key) {
			text += " " + a.Key
		}
	}
	return text
}
