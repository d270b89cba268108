package teach

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"html/template"
	"math/rand/v2"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// How many of the names a redesign changes, and how many of the elements that may stand
// in another one it wraps, in percent.
const (
	changedClasses  = 30
	changedIDs      = 10
	wrappedElements = 15
)

// skin names the classes and ids of a version of a site.
type skin struct {
	seed    uint64
	host    string
	version Version
}

func (k skin) funcs() template.FuncMap {
	return template.FuncMap{
		"class": func(name string) string { return k.word("class", name, changedClasses) },
		"id":    func(name string) string { return k.word("id", name, changedIDs) },
		// As CSS modules name classes: a stem, and a hash that changes with its rules.
		"module": func(name string) string {
			return name + "__" + letters(k.number("module", name, k.changes("class", name, changedClasses)), 5)
		},
		// As style libraries name classes.
		"hashed": func(name string) string {
			return "css-" + letters(k.number("hashed", name, k.changes("class", name, changedClasses)), 6)
		},
		// As React names ids: by the order in which components are made.
		"useid": func(n int) string {
			if k.version > Original {
				n += 4
			}
			return fmt.Sprintf(":r%x:", n)
		},
	}
}

// number is a random number that depends on the name of an element and, if fresh is set,
// on the version.
func (k skin) number(kind, name string, fresh bool) uint64 {
	version := Original
	if fresh {
		version = k.version
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s %d", k.seed, k.host, kind, name, version))
	return binary.BigEndian.Uint64(sum[:])
}

// changes reports whether the version has another name for an element.
func (k skin) changes(kind, name string, percent uint64) bool {
	return k.version > Original && k.number("change "+kind, name, false)%100 < percent
}

// word is a name that somebody chose, or in some cases another one after a redesign.
func (k skin) word(kind, name string, percent uint64) string {
	if !k.changes(kind, name, percent) {
		return name
	}
	n := k.number(kind, name, true)
	return models[n%uint64(len(models))] + "-" + shapes[n/64%uint64(len(shapes))]
}

var shapes = []string{"tile", "panel", "row", "cell", "block", "field", "unit", "frame"}

// letters spells a number as letters and digits, as hashes in names look.
func letters(n uint64, length int) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	b := make([]byte, length)
	for i := range b {
		b[i] = alphabet[n%62]
		n /= 62
	}
	if b[0] >= '0' && b[0] <= '9' {
		b[0] += 'k' - '0'
	}
	return string(b)
}

// shuffleMark is the attribute of an element whose children a redesign puts into another
// order. It is in the templates only.
const shuffleMark = "shuffle"

// restructure changes a page as the version demands.
func (h *site) restructure(page []byte, name string) ([]byte, error) {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	change := h.version > Original
	random := h.random("structure of " + h.host + " " + name)
	elements := slices.Collect(doc.Descendants())
	for _, n := range elements {
		if n.Type != html.ElementNode {
			continue
		}
		if at := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == shuffleMark }); at >= 0 {
			n.Attr = slices.Delete(n.Attr, at, at+1)
			if change {
				shuffle(n, random)
			}
		}
		if change && wrappable(n) && random.IntN(100) < wrappedElements {
			wrap(n, "css-"+letters(random.Uint64(), 6))
		}
		if change && n.DataAtom == atom.Body {
			n.InsertBefore(banner(), n.FirstChild)
		}
	}
	var b bytes.Buffer
	if err := html.Render(&b, doc); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// shuffle puts the child elements of n into another order.
func shuffle(n *html.Node, random *rand.Rand) {
	var children []*html.Node
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode {
			children = append(children, c)
		}
	}
	random.Shuffle(len(children), func(i, j int) { children[i], children[j] = children[j], children[i] })
	for _, c := range children {
		n.RemoveChild(c)
		n.AppendChild(c)
	}
}

// wrappable reports whether n may be put into a div.
func wrappable(n *html.Node) bool {
	if n.Parent == nil || n.Parent.Type != html.ElementNode {
		return false
	}
	inner := []atom.Atom{atom.Section, atom.Form, atom.P, atom.Ul, atom.Table, atom.Div, atom.H1, atom.H2, atom.Iframe, atom.Nav, atom.Fieldset}
	outer := []atom.Atom{atom.Main, atom.Section, atom.Form, atom.Div, atom.Header, atom.Footer, atom.Fieldset}
	return slices.Contains(inner, n.DataAtom) && slices.Contains(outer, n.Parent.DataAtom)
}

// wrap puts n into a div.
func wrap(n *html.Node, class string) {
	div := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div, Attr: []html.Attribute{{Key: "class", Val: class}}}
	n.Parent.InsertBefore(div, n)
	n.Parent.RemoveChild(n)
	div.AppendChild(n)
}

// banner is a strip above the page with a button of its own.
func banner() *html.Node {
	strip := &html.Node{Type: html.ElementNode, Data: "aside", DataAtom: atom.Aside}
	text := &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P}
	text.AppendChild(&html.Node{Type: html.TextNode, Data: "We have a new look."})
	button := &html.Node{Type: html.ElementNode, Data: "button", DataAtom: atom.Button, Attr: []html.Attribute{{Key: "type", Val: "button"}}}
	button.AppendChild(&html.Node{Type: html.TextNode, Data: "What is new?"})
	strip.AppendChild(text)
	strip.AppendChild(button)
	return strip
}
