package sanitize

import (
	"bytes"
	"context"
	"unicode"
	"unicode/utf8"

	"rote/routine"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxHTML bounds the size of HTML in bytes. A tag with many attributes takes some
	// sixteen times its size while it is read.
	maxHTML = 4 << 20
	// tokensPerCheck is how many tokens are read between two checks of the context.
	tokensPerCheck = 256
)

// htmlHandler receives the parts of a page. The white space of a text is that of the
// page.
type htmlHandler interface {
	text(text []byte)
	start(tag htmlTag)
	end(name string)
	// full reports whether the handler needs no more parts.
	full() bool
}

// htmlTag is a start tag with those of its attributes that are in wantedAttributes.
type htmlTag struct {
	name  string
	attrs map[string]string // those of wantedAttributes
}

// wantedAttributes are the attributes that handlers use.
var wantedAttributes = map[string]bool{"href": true, "src": true, "alt": true, "title": true, "class": true, "start": true, "colspan": true, "rowspan": true}

// htmlSource returns the HTML of a step's input: the text itself, or the value of a
// JSON string, which is the output of a json_path step.
func htmlSource(step string, text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte{'"'}) && jsontext.Value(text).IsValid() {
		text = unquoteJSON(bytes.TrimSpace(text))
	}
	if len(text) > maxHTML {
		return nil, routine.Errorf(routine.CodeResultTooLarge,
			"data_sanitizer %s takes at most %d bytes of HTML, not %d: put a truncate step before it", step, maxHTML, len(text))
	}
	return text, nil
}

// readHTML calls the handler for the visible parts of a page in order. It builds no
// tree: a few bytes of faulty HTML can make a tree of any size, and building it cannot
// be interrupted. Handlers must cope with omitted tags, such as the end tags of
// paragraphs.
func readHTML(ctx context.Context, text []byte, h htmlHandler) error {
	z := html.NewTokenizer(bytes.NewReader(text))
	var hidden hiddenElement
	for n := 0; !h.full(); n++ {
		if n%tokensPerCheck == 0 && ctx.Err() != nil {
			return routine.CauseOf(ctx)
		}
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return nil // the end: reading from memory has no other error
		case html.TextToken:
			if !hidden.open() {
				h.text(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := readTag(z)
			if kind == html.SelfClosingTagToken && tag.name == "svg" {
				continue // other HTML elements cannot be closed so
			}
			if !hidden.start(tag.name) {
				h.start(tag)
			}
			if hidden.name == "svg" {
				z.NextIsNotRawText() // as after a title or style in HTML
			}
		case html.EndTagToken:
			read, _ := z.TagName()
			if name := tagName(read); !hidden.end(name) {
				h.end(name)
			}
		}
	}
	return nil
}

// readTag reads the tag at which the tokenizer is.
func readTag(z *html.Tokenizer) htmlTag {
	name, more := z.TagName()
	tag := htmlTag{name: tagName(name)}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if !wantedAttributes[string(key)] {
			continue
		}
		if _, twice := tag.attrs[string(key)]; twice {
			continue
		}
		if tag.attrs == nil {
			tag.attrs = map[string]string{}
		}
		tag.attrs[string(key)] = string(value)
	}
	return tag
}

// tagName returns the name of an element. It does not allocate for known ones.
func tagName(name []byte) string {
	if known := atom.Lookup(name); known != 0 {
		return known.String()
	}
	return string(name)
}

// hiddenElement is the outermost open element whose content is not visible.
type hiddenElement struct {
	name  string // empty: none is open
	depth int    // how many of that name are open
	// embedded: HTML inside svg belongs to it.
	embedded bool
}

var hiddenElements = map[string]bool{"script": true, "style": true, "noscript": true, "template": true, "title": true, "svg": true,
	"iframe": true, "noembed": true, "noframes": true}

// endsSVG are the elements that end an unclosed svg element.
var endsSVG = map[string]bool{"body": true, "blockquote": true, "br": true, "div": true, "dl": true, "h1": true, "h2": true, "h3": true, "h4": true,
	"h5": true, "h6": true, "hr": true, "img": true, "li": true, "ol": true, "p": true, "pre": true, "span": true, "table": true, "ul": true}

func (e *hiddenElement) open() bool { return e.name != "" }

// start handles a start tag and reports whether the element is hidden.
func (e *hiddenElement) start(name string) bool {
	switch {
	case e.name == "" && hiddenElements[name]:
		*e = hiddenElement{name: name, depth: 1}
	case e.name == name && e.name != "":
		e.depth++
	case e.name == "svg" && name == "foreignobject":
		e.embedded = true
	case e.name == "svg" && !e.embedded && endsSVG[name]:
		*e = hiddenElement{}
	}
	return e.open()
}

// end handles an end tag and reports whether the element is hidden.
func (e *hiddenElement) end(name string) bool {
	if !e.open() {
		return hiddenElements[name]
	}
	if name == e.name {
		if e.depth--; e.depth == 0 {
			*e = hiddenElement{}
		}
	}
	return true
}

// htmlText returns the visible text of a page, with each block on lines of its own.
func htmlText(ctx context.Context, text []byte) ([]byte, error) {
	text, err := htmlSource("html_to_text", text)
	if err != nil {
		return nil, err
	}
	w := &textWriter{}
	if err := readHTML(ctx, text, w); err != nil {
		return nil, err
	}
	return w.out, nil
}

// textWriter writes the text of a page.
type textWriter struct {
	out []byte
	// gap is written before the next character: a space, a line feed, or 0 for
	// nothing.
	gap byte
}

func (w *textWriter) full() bool { return false } // the text is not longer than the page

func (w *textWriter) text(text []byte) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if unicode.IsSpace(r) {
			if w.gap == 0 {
				w.gap = ' '
			}
		} else {
			if w.gap != 0 && len(w.out) > 0 {
				w.out = append(w.out, w.gap)
			}
			w.gap = 0
			w.out = append(w.out, text[:size]...)
		}
		text = text[size:]
	}
}

func (w *textWriter) start(tag htmlTag) { w.end(tag.name) }

func (w *textWriter) end(name string) {
	switch {
	case !inlineElements[name]:
		w.gap = '\n'
	case (name == "td" || name == "th") && w.gap == 0:
		w.gap = ' '
	}
}

// inlineElements do not begin a line of their own.
var inlineElements = map[string]bool{"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "cite": true, "code": true, "data": true,
	"dfn": true, "em": true, "font": true, "i": true, "img": true, "ins": true, "del": true, "kbd": true, "label": true, "mark": true, "q": true, "s": true,
	"samp": true, "small": true, "span": true, "strong": true, "sub": true, "sup": true, "td": true, "th": true, "time": true, "tt": true, "u": true, "var": true}
