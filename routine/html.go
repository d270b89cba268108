package routine

import (
	"encoding/json"
	"strings"

	"golang.org/x/net/html"
)

// maxHTML bounds the HTML that is looked at, which is slow to read beside JSON
// and cannot be interrupted.
const maxHTML = 4 << 20

// readHTML parses text, or what a JSON string holds, as json_path leaves one. It
// refuses what is too large, and elements that stand in each other too deep.
func readHTML(step, text string) (*html.Node, error) {
	var inner string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		text = inner
	}
	if len(text) > maxHTML {
		return nil, Errorf(CodeResultTooLarge, "data_sanitizer %s takes at most %d bytes of HTML, not %d: put a truncate step before it", step, maxHTML, len(text))
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, Errorf(CodeResultTooLarge, "data_sanitizer %s cannot read the HTML: %w", step, err)
	}
	return doc, nil
}

// htmlText is what a reader of the page would see: the text of the body, its
// blocks on lines of their own.
func htmlText(text string) (string, error) {
	doc, err := readHTML("html_to_text", text)
	if err != nil {
		return "", err
	}
	w := &textWriter{}
	w.node(doc)
	w.endLine()
	return strings.Join(w.lines, "\n"), nil
}

// textWriter gathers the text of a page by lines.
type textWriter struct {
	lines []string
	line  strings.Builder
}

func (w *textWriter) endLine() {
	if s := strings.Join(strings.Fields(w.line.String()), " "); s != "" {
		w.lines = append(w.lines, s)
	}
	w.line.Reset()
}

func (w *textWriter) node(n *html.Node) {
	if n.Type == html.TextNode {
		w.line.WriteString(n.Data)
		return
	}
	element := n.Type == html.ElementNode
	if element && hiddenText[n.Data] {
		return
	}
	block := element && !inlineText[n.Data]
	if block {
		w.endLine()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
	if block {
		w.endLine()
	} else if element && (n.Data == "td" || n.Data == "th") {
		w.line.WriteByte(' ')
	}
}

var hiddenText = map[string]bool{"script": true, "style": true, "noscript": true, "template": true, "head": true, "svg": true}

var inlineText = map[string]bool{"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "cite": true, "code": true, "data": true,
	"dfn": true, "em": true, "font": true, "i": true, "img": true, "ins": true, "del": true, "kbd": true, "label": true, "mark": true, "q": true, "s": true,
	"samp": true, "small": true, "span": true, "strong": true, "sub": true, "sup": true, "td": true, "th": true, "time": true, "tt": true, "u": true, "var": true}
