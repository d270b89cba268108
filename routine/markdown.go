package routine

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/marker"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"golang.org/x/net/html"
)

// htmlMarkdown is the page as Markdown: headings, links, lists and tables stay.
func htmlMarkdown(text string) (string, error) {
	doc, err := readHTML("html_to_markdown", text)
	if err != nil {
		return "", err
	}
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin()))
	c.Register.RendererFor("table", converter.TagTypeBlock, renderTable, converter.PriorityStandard)
	for _, part := range []string{"caption", "tr", "td", "th"} { // where renderTable leaves them alone
		c.Register.TagType(part, converter.TagTypeBlock, converter.PriorityStandard)
	}
	out, err := c.ConvertNode(doc)
	if err != nil {
		return "", Errorf(CodeValueMissing, "data_sanitizer html_to_markdown: %w", err)
	}
	return string(out), nil
}

// renderTable writes a table. The converter's own plugin for tables grows without
// bound with what a page says: by its colspan, and by its rows times its longest.
// What cannot be a table in Markdown is left to become paragraphs.
func renderTable(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	if !plainTable(n) {
		return converter.RenderTryNext
	}
	t := &markdownTable{}
	_, _ = w.WriteString("\n\n")
	for c := range n.Descendants() {
		switch c.Data {
		case "caption":
			ctx.RenderNodes(ctx, w, c)
		case "tr":
			t.row(ctx, c)
		}
	}
	_, _ = w.WriteString(t.String() + "\n\n")
	return converter.RenderSuccess
}

// plainTable tells whether n holds text by rows and columns, and stands where a
// table may stand. Tables that hold tables are layout.
func plainTable(n *html.Node) bool {
	for p := range n.Ancestors() {
		switch p.Data {
		case "a", "b", "strong", "em", "i", "del", "s":
			return false
		}
	}
	for c := range n.Descendants() {
		switch c.Data {
		case "table", "ul", "ol", "pre", "blockquote", "hr", "h1", "h2", "h3", "h4", "h5", "h6":
			return c.Type != html.ElementNode
		}
	}
	return true
}

// maxSpan is up to which column the spans of cells are followed.
const maxSpan = 64

// markdownTable gathers the rows of one table.
type markdownTable struct {
	rows   [][]string
	header bool // the first row is one
	wide   int  // cells of the longest row
	// below is how many rows each column is still taken for by a cell above.
	below []int
}

func (t *markdownTable) row(ctx converter.Context, tr *html.Node) {
	var cells []string
	header := true
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if c.Data != "td" && c.Data != "th" {
			continue
		}
		header = header && c.Data == "th"
		for len(cells) < len(t.below) && t.below[len(cells)] > 0 {
			t.below[len(cells)]--
			cells = append(cells, "")
		}
		text := cellText(ctx, c)
		high := span(c, "rowspan")
		for range max(min(span(c, "colspan"), maxSpan-len(cells)), 1) {
			cells = append(cells, text)
			text = ""
			for len(t.below) < min(len(cells), maxSpan) {
				t.below = append(t.below, 0)
			}
			if len(cells) <= maxSpan {
				t.below[len(cells)-1] = high - 1
			}
		}
	}
	if len(cells) == 0 {
		return
	}
	for i := len(cells); i < len(t.below); i++ {
		t.below[i] = max(t.below[i]-1, 0)
	}
	t.header = t.header || header && len(t.rows) == 0
	t.rows, t.wide = append(t.rows, cells), max(t.wide, len(cells))
}

// span is how many columns or rows a cell takes.
func span(cell *html.Node, direction string) int {
	for _, a := range cell.Attr {
		if n, err := strconv.Atoi(a.Val); a.Key == direction && err == nil && n > 1 {
			return n
		}
	}
	return 1
}

// cellText is what a cell holds, on one line and without what would end the cell.
func cellText(ctx converter.Context, cell *html.Node) string {
	var text bytes.Buffer
	ctx.RenderChildNodes(ctx, &text, cell)
	pipes := strings.NewReplacer(string(marker.MarkerEscaping)+"|", `\|`, "|", `\|`) // the marker may yet become a backslash
	var lines []string
	for line := range strings.Lines(pipes.Replace(text.String())) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "<br>")
}

// String is the table. A table in Markdown has a header, which is as wide as its
// longest row; it is empty when there is none.
func (t *markdownTable) String() string {
	if t.wide == 0 {
		return ""
	}
	rows := t.rows
	header := make([]string, t.wide)
	if t.header {
		copy(header, rows[0])
		rows = rows[1:]
	}
	var text strings.Builder
	line := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(header)
	text.WriteString("|" + strings.Repeat("---|", t.wide) + "\n")
	for _, cells := range rows {
		line(cells)
	}
	return text.String()
}
