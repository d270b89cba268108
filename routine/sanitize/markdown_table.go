package sanitize

import (
	"bytes"
	"strconv"
	"strings"
)

// maxSpan is the column up to which the spans of cells are respected.
const maxSpan = 64

// tableFinder finds out which tables have text in rows and columns. The others are
// used for layout: they contain tables, lists, headings or other blocks.
type tableFinder struct {
	tables []bool // whether each is plain, in the order of their start tags
	open   []int  // indices of tables
}

func (f *tableFinder) text([]byte) {}
func (f *tableFinder) full() bool  { return false }

func (f *tableFinder) start(tag htmlTag) {
	switch tag.name {
	case "table", "ul", "ol", "menu", "pre", "blockquote", "hr", "h1", "h2", "h3", "h4", "h5", "h6":
		if len(f.open) > 0 {
			f.tables[f.open[len(f.open)-1]] = false
		}
	}
	if tag.name == "table" {
		f.open = append(f.open, len(f.tables))
		f.tables = append(f.tables, true)
	}
}

func (f *tableFinder) end(name string) {
	if name == "table" && len(f.open) > 0 {
		f.open = f.open[:len(f.open)-1]
	}
}

// markdownTable collects the rows of one table.
type markdownTable struct {
	header []string // the first row where its cells are headers
	body   []byte   // the other rows, each ended by a line feed
	any    bool     // a row was read
	wide   int      // cells of the longest row
	// below is, for each column, how many more rows a cell above spans.
	below []int
	row   []markdownCell // of the row that is read
	// cell is the open cell and line its text; nil if none is open.
	cell *markdownCell
	line markdownLine
}

// markdownCell is a cell of a table.
type markdownCell struct {
	text          string
	header        bool
	columns, rows int // how many it takes
}

// startTable begins a table. The cells of a layout table become paragraphs instead.
func (w *markdownWriter) startTable() {
	plain := w.plainTables[w.tables-1]
	w.breakBlock(2)
	if plain && w.line.link == nil && w.line.bold == 0 && w.line.italic == 0 {
		w.table = &markdownTable{}
	}
}

// startInTable handles the start tag of a block inside a table.
func (w *markdownWriter) startInTable(tag htmlTag) {
	switch tag.name {
	case "td", "th":
		w.table.endCell()
		w.table.cell = &markdownCell{header: tag.name == "th", columns: span(tag.attrs["colspan"]), rows: span(tag.attrs["rowspan"])}
		w.table.line = markdownLine{cell: true, out: w.table.line.out[:0]}
	case "tr", "thead", "tbody", "tfoot":
		w.table.endRow()
	case "caption":
		w.table.endRow()
		w.line.endLine(2)
	default:
		w.inline().endLine(1)
	}
}

// endInTable handles the end tag of a block inside a table.
func (w *markdownWriter) endInTable(name string) {
	switch name {
	case "td", "th":
		w.table.endCell()
	case "tr", "thead", "tbody", "tfoot":
		w.table.endRow()
	default:
		w.inline().endLine(1)
	}
}

// span returns how many columns or rows a cell spans.
func span(attribute string) int {
	if n, err := strconv.Atoi(attribute); err == nil && n > 1 {
		return n
	}
	return 1
}

func (t *markdownTable) endCell() {
	if t.cell != nil {
		t.line.endLink()
		t.line.endLine(0)
		t.cell.text = strings.TrimSpace(string(t.line.out))
		t.row = append(t.row, *t.cell)
		t.cell = nil
	}
}

// endRow adds the row that was read, with empty cells where cells above span into it.
func (t *markdownTable) endRow() {
	t.endCell()
	row := t.row
	if t.row = t.row[:0]; len(row) == 0 {
		return
	}
	var cells []string
	header := true
	for _, c := range row {
		header = header && c.header
		for len(cells) < len(t.below) && t.below[len(cells)] > 0 {
			t.below[len(cells)]--
			cells = append(cells, "")
		}
		text := c.text
		for range max(min(c.columns, maxSpan-len(cells)), 1) {
			cells = append(cells, text)
			text = ""
			for len(t.below) < min(len(cells), maxSpan) {
				t.below = append(t.below, 0)
			}
			if len(cells) <= maxSpan {
				t.below[len(cells)-1] = c.rows - 1
			}
		}
	}
	for i := len(cells); i < len(t.below); i++ {
		t.below[i] = max(t.below[i]-1, 0)
	}
	t.wide = max(t.wide, len(cells))
	if header && !t.any {
		t.header = cells
	} else {
		t.body = append(appendRow(t.body, cells), '\n')
	}
	t.any = true
}

// appendRow appends a row of a table.
func appendRow(out []byte, cells []string) []byte {
	for _, c := range cells {
		out = append(append(append(out, "| "...), c...), ' ')
	}
	return append(out, '|')
}

// endTable writes the open table. A table in Markdown must have a header as wide as
// the longest row. It is empty if the page's table has none.
func (w *markdownWriter) endTable() {
	if w.table == nil {
		w.breakBlock(2) // of a table that is layout
		return
	}
	t := w.table
	t.endRow()
	w.table = nil
	w.line.endLink()
	w.line.endLine(2)
	if !t.any {
		return
	}
	header := make([]string, t.wide)
	copy(header, t.header)
	w.inline().raw(string(appendRow(nil, header)))
	w.line.endLine(1)
	w.line.raw("|" + strings.Repeat("---|", t.wide))
	w.line.endLine(1)
	for row := range bytes.Lines(t.body) {
		if w.full() {
			return
		}
		w.line.raw(string(row[:len(row)-1]))
		w.line.endLine(1)
	}
	w.line.endLine(2)
}
