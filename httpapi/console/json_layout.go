package console

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// lineWidth is how many characters a line of a printed definition has at most, if a value on
// it does not have more.
const lineWidth = 100

// definitionText returns a definition as people read and edit it: each operation and each
// parameter is on one line if it fits. The text of each number and string stays as it is.
func definitionText(d *routine.Definition) string { return layOut(routine.RawJSON(d)) }

// layOut returns a JSON text with line breaks. It must be valid. Objects and arrays that fit
// into a line are on one, but the outermost object and arrays of objects in it are not.
func layOut(text []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return string(text)
	}
	p := &layoutPrinter{in: compact.Bytes()}
	p.value(0, 0)
	return p.out.String() + "\n"
}

type layoutPrinter struct {
	in  []byte // without white space outside strings
	at  int
	out strings.Builder
}

// value prints the value at p.at, which begins in a column, inside depth others.
func (p *layoutPrinter) value(depth, column int) {
	open := p.in[p.at]
	if open != '{' && open != '[' {
		p.copy(p.scalarEnd(p.at))
		return
	}
	listOfObjects := open == '[' && p.in[p.at+1] == '{'
	if line, end := p.line(lineWidth - 1 - column); end > 0 && depth > 0 && (depth > 1 || !listOfObjects) {
		p.out.WriteString(line)
		p.at = end
		return
	}
	p.out.WriteByte(open)
	empty := p.in[p.at+1] == open+2 // } and ] are two characters after { and [
	for p.at++; p.in[p.at] != '}' && p.in[p.at] != ']'; {
		if p.in[p.at] == ',' {
			p.out.WriteByte(',')
			p.at++
		}
		indent := strings.Repeat("  ", depth+1)
		p.out.WriteString("\n" + indent)
		column := len(indent)
		if open == '{' {
			start := p.at
			p.copy(p.scalarEnd(p.at))
			column += utf8.RuneCount(p.in[start:p.at]) + 2
			p.out.WriteString(": ")
			p.at++ // the colon
		}
		p.value(depth+1, column)
	}
	if !empty {
		p.out.WriteString("\n" + strings.Repeat("  ", depth))
	}
	p.out.WriteByte(p.in[p.at])
	p.at++
}

// line returns the value at p.at on one line, and where it ends; 0 if it has more characters
// than there is room.
func (p *layoutPrinter) line(room int) (string, int) {
	var b strings.Builder
	depth := 0
	for at := p.at; ; {
		end := p.scalarEnd(at)
		switch c := p.in[at]; c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		b.Write(p.in[at:end])
		if c := p.in[at]; c == ',' || c == ':' {
			b.WriteByte(' ')
		}
		at = end
		if b.Len() > 4*room || utf8.RuneCountInString(b.String()) > room {
			return "", 0
		}
		if depth == 0 {
			return b.String(), at
		}
	}
}

// scalarEnd returns the end of the string, number, word or sign that begins at a place.
func (p *layoutPrinter) scalarEnd(at int) int {
	if p.in[at] == '"' {
		for at++; p.in[at] != '"'; at++ {
			if p.in[at] == '\\' {
				at++
			}
		}
		return at + 1
	}
	if bytes.IndexByte([]byte("{}[],:"), p.in[at]) >= 0 {
		return at + 1
	}
	for at < len(p.in) && bytes.IndexByte([]byte("{}[],:\""), p.in[at]) < 0 {
		at++
	}
	return at
}

// copy prints the text up to a place.
func (p *layoutPrinter) copy(end int) {
	p.out.Write(p.in[p.at:end])
	p.at = end
}
