package sanitize

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"rote/routine"
)

const (
	// maxMarkdown bounds the output of html_to_markdown in bytes: nested lists make
	// much Markdown from few bytes.
	maxMarkdown = 16 << 20
	// maxShownNesting bounds how many lists and quotes indent a line.
	maxShownNesting = 16
	// maxNestingLook bounds how many open lists and quotes are searched for the one
	// that an end tag closes.
	maxNestingLook = 64
	// maxLinkParts bounds how often the target of one link is written: once for each
	// block inside the link.
	maxLinkParts = 8
)

// htmlMarkdown converts a page to Markdown with its headings, links, lists and tables.
// Its time and memory are linear in the size of the page.
func htmlMarkdown(ctx context.Context, text []byte) ([]byte, error) {
	text, err := htmlSource("html_to_markdown", text)
	if err != nil {
		return nil, err
	}
	plain := &tableFinder{}
	if err := readHTML(ctx, text, plain); err != nil {
		return nil, err
	}
	w := &markdownWriter{plainTables: plain.tables}
	w.line.prefix = w.prefix
	if err := readHTML(ctx, text, w); err != nil {
		return nil, err
	}
	w.finish()
	if w.full() {
		return nil, routine.Errorf(routine.CodeResultTooLarge,
			"data_sanitizer html_to_markdown makes more than %d bytes of this page: take html_to_text", maxMarkdown)
	}
	return w.line.out, nil
}

// markdownWriter writes Markdown block by block. In HTML, end tags may be missing and
// elements may be nested wrongly. Therefore open elements are only counted, and a
// block ends where the next one begins.
type markdownWriter struct {
	line  markdownLine
	boxes []markdownBox // the open lists, items and quotes
	lists int           // how many of boxes are lists
	// heading is the level of the open heading; 0: none.
	heading int
	pre     *markdownCode // the open pre element
	code    *markdownCode // the open code element
	table   *markdownTable
	// plainTables reports for each table, in order, whether it has text in rows and
	// columns, and is not used for layout.
	plainTables []bool
	tables      int // how many have begun
	textareas   int
}

// markdownBox is an open list, list item or quote.
type markdownBox struct {
	kind byte // 'l', 'i', 'q'
	// ordered and next number the items of a list.
	ordered bool
	next    int
	// marker is written before the first line of an item. Its other lines are indented
	// by the marker's width.
	marker string
	begun  bool
}

// markdownCode collects the text of a code or pre element.
type markdownCode struct {
	text     []byte
	language string
}

func (w *markdownWriter) full() bool {
	size := len(w.line.out)
	if w.table != nil {
		size += len(w.table.body)
	}
	return size > maxMarkdown
}

func (w *markdownWriter) text(text []byte) {
	switch {
	case w.textareas > 0:
	case w.pre != nil:
		w.pre.text = append(w.pre.text, text...)
	case w.code != nil:
		w.code.text = append(w.code.text, text...)
	default:
		w.inline().words(text)
	}
}

// inline returns where text is written: the open table cell or the current line.
func (w *markdownWriter) inline() *markdownLine {
	if w.table != nil && w.table.cell != nil {
		return &w.table.line
	}
	return &w.line
}

func (w *markdownWriter) start(tag htmlTag) {
	if tag.name == "table" {
		w.tables++
	}
	if w.pre != nil {
		w.startInPre(tag)
		return
	}
	if markdownBlock(tag.name) {
		w.endCode()
	}
	line := w.inline()
	switch tag.name {
	case "b", "strong":
		line.bold++
	case "i", "em":
		line.italic++
	case "a":
		line.endLink()
		if href := markdownURL(tag.attrs["href"]); href != "" {
			line.link = &markdownLink{href: href, title: tag.attrs["title"]}
		}
	case "img":
		line.image(tag.attrs)
	case "code", "kbd", "samp", "tt":
		if w.code == nil {
			w.code = &markdownCode{}
		}
	case "br":
		w.lineBreak()
	case "textarea":
		w.textareas++
	default:
		if markdownBlock(tag.name) {
			w.startBlock(tag)
		}
	}
}

// startInPre handles a start tag inside a pre element, of which only the text counts.
func (w *markdownWriter) startInPre(tag htmlTag) {
	switch tag.name {
	case "br":
		w.pre.text = append(w.pre.text, '\n')
	case "code":
		if w.pre.language == "" {
			w.pre.language = codeLanguage(tag.attrs["class"])
		}
	}
}

// codeLanguage returns the language named by the classes of a code element, or an
// empty string.
func codeLanguage(classes string) string {
	for class := range strings.FieldsSeq(classes) {
		for _, before := range []string{"language-", "lang-"} {
			if name, ok := strings.CutPrefix(class, before); ok && len(name) <= 40 && !strings.ContainsAny(name, "`~") {
				return name
			}
		}
	}
	return ""
}

func (w *markdownWriter) startBlock(tag htmlTag) {
	if w.table != nil {
		w.startInTable(tag)
		return
	}
	switch tag.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.endHeading()
		w.breakBlock(2)
		w.heading = int(tag.name[1] - '0')
		w.line.opening = strings.Repeat("#", w.heading) + " "
	case "ul", "ol", "menu", "blockquote", "li", "pre", "hr", "table":
		w.endHeading()
		w.startContainer(tag)
	case "option":
		w.breakBlock(1)
	default:
		w.breakBlock(2)
	}
}

func (w *markdownWriter) startContainer(tag htmlTag) {
	switch tag.name {
	case "ul", "ol", "menu":
		gap := 2
		if w.inItem() {
			gap = 1
		}
		w.breakBlock(gap)
		next, err := strconv.Atoi(tag.attrs["start"])
		if err != nil || next < 0 || next > 1_000_000 {
			next = 1
		}
		w.push(markdownBox{kind: 'l', ordered: tag.name == "ol", next: next})
	case "li":
		w.startItem()
	case "blockquote":
		w.breakBlock(2)
		w.push(markdownBox{kind: 'q'})
	case "pre":
		w.breakBlock(2)
		w.pre = &markdownCode{language: codeLanguage(tag.attrs["class"])}
	case "hr":
		w.breakBlock(2)
		w.line.raw("* * *")
		w.breakBlock(2)
	case "table":
		w.startTable()
	}
}

// breakBlock ends the line. With gap 1 a new line begins, with 2 there is an empty
// line between. A heading stays on one line.
func (w *markdownWriter) breakBlock(gap int) {
	line := w.inline()
	if w.heading > 0 && line == &w.line {
		line.space = true
		return
	}
	line.endLine(gap)
}

func (w *markdownWriter) lineBreak() {
	line := w.inline()
	if line.link != nil || w.heading > 0 {
		line.space = true
		return
	}
	line.hardBreak()
}

func (w *markdownWriter) end(name string) {
	if w.pre != nil {
		if name == "pre" {
			w.endPre()
		}
		return
	}
	if markdownBlock(name) {
		w.endCode()
		w.endBlock(name)
		return
	}
	line := w.inline()
	switch name {
	case "b", "strong":
		line.bold = max(line.bold-1, 0)
	case "i", "em":
		line.italic = max(line.italic-1, 0)
	case "a":
		line.endLink()
	case "code", "kbd", "samp", "tt":
		w.endCode()
	}
}

func (w *markdownWriter) endBlock(name string) {
	if w.table != nil && name != "table" && name != "br" && name != "textarea" {
		w.endInTable(name)
		return
	}
	switch name {
	case "br":
		w.lineBreak()
	case "textarea":
		w.textareas = max(w.textareas-1, 0)
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.endHeading()
	case "ul", "ol", "menu":
		w.pop('l')
	case "li":
		w.pop('i')
	case "blockquote":
		w.pop('q')
	case "table":
		w.endTable()
	case "option", "head", "html":
		w.breakBlock(1)
	default:
		w.breakBlock(2)
	}
}

// markdownBlock reports whether an element begins on a line of its own.
func markdownBlock(name string) bool { return name == "td" || name == "th" || !inlineElements[name] }

func (w *markdownWriter) endHeading() {
	if w.heading > 0 {
		w.heading = 0
		w.line.opening = ""
		w.line.endLine(2)
	}
}

func (w *markdownWriter) endCode() {
	if w.code != nil {
		code := w.code
		w.code = nil
		w.inline().code(code.text)
	}
}

// endPre writes a code block with its lines unchanged.
func (w *markdownWriter) endPre() {
	code := w.pre
	w.pre = nil
	text := bytes.TrimSuffix(bytes.TrimPrefix(bytes.ReplaceAll(code.text, []byte("\r\n"), []byte("\n")), []byte("\n")), []byte("\n"))
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	line := w.inline()
	fence := strings.Repeat("`", max(longestRun(text, '`')+1, 3))
	line.raw(fence + code.language)
	for part := range bytes.SplitSeq(text, []byte("\n")) {
		if line.endLine(1); w.full() {
			return
		}
		line.raw(string(part))
	}
	line.endLine(1)
	line.raw(fence)
	line.endLine(2)
}

// longestRun returns the length of the longest sequence of a byte.
func longestRun(text []byte, b byte) int {
	longest, run := 0, 0
	for _, c := range text {
		if run++; c != b {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// finish writes what is still open at the end of the page.
func (w *markdownWriter) finish() {
	if w.pre != nil {
		w.endPre()
	}
	w.endCode()
	if w.table != nil {
		w.endTable()
	}
	w.line.endLink()
	w.line.endLine(0)
}
