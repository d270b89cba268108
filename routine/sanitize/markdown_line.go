package sanitize

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markdownLine writes the text of a page as Markdown and escapes characters that
// Markdown would interpret.
type markdownLine struct {
	out []byte
	// prefix appends what is written before each line; it may be nil.
	prefix func(out []byte, empty bool) []byte
	// opening is written before the first text of the next line, such as the # of a
	// heading.
	opening string
	// gap is how many line feeds come before the next text: 0, 1 or 2.
	gap int
	// hard reports whether the next line feed is a line break of the page.
	hard bool
	// space reports whether white space precedes the next text.
	space bool
	// begun reports whether the line has text.
	begun bool
	// cell reports whether the text is inside a table cell, where a line cannot end.
	cell bool

	bold, italic int // how many such elements are open
	link         *markdownLink
	open         []byte // the marks that are open: 'b', 'i', 'l'
	marks        [3]byte
}

// markdownLink is an open link.
type markdownLink struct {
	href, title string
	parts       int // how often it was written
}

// endLine ends the line; gap is how many line feeds come before the next text.
func (l *markdownLine) endLine(gap int) {
	l.close(0)
	l.space, l.begun = false, false
	if l.gap = max(l.gap, gap); l.gap > 1 {
		l.hard = false
	}
}

// hardBreak ends the line at a line break of the page. Two of them in a row make an
// empty line.
func (l *markdownLine) hardBreak() {
	before := l.hard
	l.endLine(1)
	l.hard = l.gap == 1
	if before {
		l.endLine(2)
	}
}

// begin writes what precedes text: line feeds, prefixes, white space, and the marks
// that open or close there.
func (l *markdownLine) begin() {
	if l.gap > 0 {
		l.feed()
	}
	if !l.begun {
		l.space = false
		if !l.cell && l.prefix != nil {
			l.out = l.prefix(l.out, false)
		}
		l.out = append(l.out, l.opening...)
		l.opening = ""
	}
	wanted := l.wanted()
	for i, mark := range l.open {
		if !slices.Contains(wanted, mark) {
			l.close(i)
			break
		}
	}
	if l.space && l.begun {
		l.out = append(l.out, ' ')
	}
	l.space, l.begun = false, true
	for _, mark := range wanted {
		if slices.Contains(l.open, mark) {
			continue
		}
		l.open = append(l.open, mark)
		switch mark {
		case 'b':
			l.out = append(l.out, "**"...)
		case 'i':
			l.out = append(l.out, '*')
		case 'l':
			l.link.parts++
			if last := len(l.out) - 1; last >= 0 && l.out[last] == '!' {
				l.out = append(l.out[:last], `\!`...) // no image
			}
			l.out = append(l.out, '[')
		}
	}
}

// wanted returns the marks that text at this position must have.
func (l *markdownLine) wanted() []byte {
	marks := l.marks[:0]
	if l.link != nil && (l.link.parts < maxLinkParts || slices.Contains(l.open, 'l')) {
		marks = append(marks, 'l')
	}
	if l.bold > 0 {
		marks = append(marks, 'b')
	}
	if l.italic > 0 {
		marks = append(marks, 'i')
	}
	return marks
}

// feed writes the line feeds before a line.
func (l *markdownLine) feed() {
	gap, hard := l.gap, l.hard
	l.gap, l.hard = 0, false
	switch {
	case len(l.out) == 0:
	case l.cell:
		l.out = append(l.out, "<br>"...)
	default:
		if hard {
			l.out = append(l.out, "  "...)
		}
		l.out = append(l.out, '\n')
		if gap == 2 {
			if l.prefix != nil {
				l.out = bytes.TrimRight(l.prefix(l.out, true), " ")
			}
			l.out = append(l.out, '\n')
		}
	}
}

// close closes the marks that are open from the i-th on.
func (l *markdownLine) close(i int) {
	for len(l.open) > i {
		last := len(l.open) - 1
		switch l.open[last] {
		case 'b':
			l.out = append(l.out, "**"...)
		case 'i':
			l.out = append(l.out, '*')
		case 'l':
			l.out = append(append(append(l.out, "]("...), l.link.href...), markdownTitle(l.link.title)...)
			l.out = append(l.out, ')')
		}
		l.open = l.open[:last]
	}
}

// endLink ends the open link. A link without text is written with its target only.
func (l *markdownLine) endLink() {
	if l.link == nil {
		return
	}
	if l.link.parts == 0 {
		l.begin()
	}
	if i := slices.Index(l.open, 'l'); i >= 0 {
		l.close(i)
	}
	l.link = nil
}

// raw writes text that is already Markdown.
func (l *markdownLine) raw(text string) {
	l.begin()
	l.out = append(l.out, text...)
}

// image writes an image.
func (l *markdownLine) image(attrs map[string]string) {
	if src := markdownURL(attrs["src"]); src != "" {
		alt := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(strings.Join(strings.Fields(attrs["alt"]), " "))
		if l.cell {
			alt = strings.ReplaceAll(alt, "|", `\|`)
		}
		l.raw("![" + alt + "](" + src + markdownTitle(attrs["title"]) + ")")
	}
}

// code writes text as inline code.
func (l *markdownLine) code(text []byte) {
	words := bytes.Fields(text)
	if len(words) == 0 {
		l.space = l.space || len(text) > 0
		return
	}
	inner := bytes.Join(words, []byte(" "))
	if l.cell {
		inner = bytes.ReplaceAll(inner, []byte("|"), []byte(`\|`))
	}
	fence, beside := strings.Repeat("`", longestRun(inner, '`')+1), ""
	if inner[0] == '`' || inner[len(inner)-1] == '`' {
		beside = " "
	}
	if r, _ := utf8.DecodeRune(text); unicode.IsSpace(r) {
		l.space = true
	}
	l.raw(fence + beside + string(inner) + beside + fence)
	if r, _ := utf8.DecodeLastRune(text); unicode.IsSpace(r) {
		l.space = true
	}
}

var urlEscaper = strings.NewReplacer(" ", "%20", "[", "%5B", "]", "%5D", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "|", "%7C",
	"\n", "%0A", "\r", "%0D", "\t", "%09")

// markdownURL escapes a URL for a link.
func markdownURL(url string) string { return urlEscaper.Replace(strings.TrimSpace(url)) }

// markdownTitle returns the title of a link with a space before it, or an empty
// string.
func markdownTitle(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" {
		return ""
	}
	return ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "|", `\|`).Replace(title) + `"`
}

// words writes text of the page, with each run of white space as one space.
func (l *markdownLine) words(text []byte) {
	for len(text) > 0 {
		space := bytes.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
		if space != 0 {
			l.space = true
		}
		if space < 0 {
			return
		}
		text = text[space:]
		end := bytes.IndexFunc(text, unicode.IsSpace)
		last := end < 0 // of the text; what follows it is not known
		if last {
			end = len(text)
		}
		first := !l.begun || l.gap > 0
		l.begin()
		if first && listMark(text[:end]) {
			l.out = append(append(l.out, text[:end-1]...), '\\', text[end-1])
		} else {
			l.word(text[:end], first, last)
		}
		text = text[end:]
	}
}

// listMark reports whether a word at the beginning of a line would begin a list:
// "-" or "1.".
func listMark(word []byte) bool {
	if len(word) == 1 {
		return bytes.IndexByte([]byte("-+*"), word[0]) >= 0
	}
	end := len(word) - 1
	if end > 9 || word[end] != '.' && word[end] != ')' {
		return false
	}
	return len(bytes.Trim(word[:end], "0123456789")) == 0
}

// word writes a word. first reports whether it begins a line, last whether it ends a
// text.
func (l *markdownLine) word(word []byte, first, last bool) {
	if first && onlyOf(word, "#-=+~") {
		l.out = append(l.out, '\\') // no heading, line or fence
	}
	if word[0] == '(' && bytes.HasSuffix(l.out, []byte("]")) && len(l.open) == 0 {
		l.out = append(l.out, '\\') // no link
	}
	for i, c := range word {
		next := byte(0)
		if i+1 < len(word) {
			next = word[i+1]
		} else if last {
			next = '.'
		}
		switch {
		case c == '<':
			l.out = append(l.out, "&lt;"...)
			continue
		case c == '>':
			l.out = append(l.out, "&gt;"...)
			continue
		case c == 0:
			l.out = append(l.out, "\ufffd"...)
			continue
		case c == '`', c == '|' && l.cell, c == '\\' && next < utf8.RuneSelf && unicode.IsPunct(rune(next)),
			(c == '*' || c == '_') && next != 0,
			c == ']' && (l.link != nil || next == '(' || next == '[' || next == ':'):
			l.out = append(l.out, '\\')
		}
		l.out = append(l.out, c)
	}
}

// onlyOf reports whether a word consists of one of the characters, repeated.
func onlyOf(word []byte, characters string) bool {
	return strings.IndexByte(characters, word[0]) >= 0 && (len(word) > 1 || word[0] == '#') && len(bytes.Trim(word, string(word[:1]))) == 0
}
