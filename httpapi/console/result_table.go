package console

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// resultTable is the beginning of an array of flat objects.
type resultTable struct {
	Columns []string
	Rows    [][]resultCell // each has a cell for each column
	// Count is the number of all rows; 0: they were not counted.
	Count int
	// MoreRows and MoreColumns report whether the data has more than the table.
	MoreRows, MoreColumns bool
}

// resultCell is one value. Missing tells a member that an object does not have from an empty text.
type resultCell struct {
	Text             string
	Number           bool
	Missing, Clipped bool
}

// readTable returns the table of an array of flat objects, and nil if the data is something
// else, as far as it is read.
func readTable(data []byte) *resultTable {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), lenientJSON...)
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	t, left := &resultTable{}, maxShownBytes
	for d.PeekKind() == '{' && len(t.Rows) < maxShownRows && left > 0 {
		row, used, ok := t.readRow(d)
		if !ok {
			return nil
		}
		t.Rows, left = append(t.Rows, row), left-used
	}
	if len(t.Rows) == 0 || d.PeekKind() != ']' && d.PeekKind() != '{' {
		return nil
	}
	for i, row := range t.Rows {
		for len(row) < len(t.Columns) {
			row = append(row, resultCell{Missing: true})
		}
		t.Rows[i] = row
	}
	t.MoreRows, t.Count = d.PeekKind() == '{', len(t.Rows)
	if t.MoreRows {
		t.Count = t.count(d, len(data))
	}
	return t
}

// count returns the number of all rows, or 0 if the data is too long to read it.
func (t *resultTable) count(d *jsontext.Decoder, size int) int {
	if size > maxCountedBytes {
		return 0
	}
	n := len(t.Rows)
	for ; d.PeekKind() == '{'; n++ {
		if d.SkipValue() != nil {
			return 0
		}
	}
	return n
}

// readRow reads an object. used is how many bytes of HTML its cells take; ok is false if it is
// not flat or has more than maxRowMembers.
func (t *resultTable) readRow(d *jsontext.Decoder) (row []resultCell, used int, ok bool) {
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, false
	}
	for members := 0; d.PeekKind() == '"'; members++ {
		token, err := d.ReadToken()
		if err != nil || members == maxRowMembers {
			return nil, 0, false
		}
		name := token.String()
		if kind := d.PeekKind(); kind == '{' || kind == '[' {
			return nil, 0, false
		}
		v, err := d.ReadValue()
		if err != nil {
			return nil, 0, false
		}
		at := t.column(name)
		if at < 0 {
			continue
		}
		for len(row) <= at {
			row = append(row, resultCell{Missing: true})
		}
		cell := resultCell{Number: v.Kind() == '0'}
		cell.Text, cell.Clipped = plainText(v, maxCellBytes)
		row[at] = cell
		for i := range len(cell.Text) {
			used += htmlLength(cell.Text[i])
		}
	}
	_, err := d.ReadToken()
	return row, used, err == nil
}

// column returns the index of a column, which it adds if it is new, or -1 if there are too many.
func (t *resultTable) column(name string) int {
	name, _ = clip(name, maxCellBytes)
	if i := slices.Index(t.Columns, name); i >= 0 {
		return i
	}
	if len(t.Columns) == maxShownColumns {
		t.MoreColumns = true
		return -1
	}
	t.Columns = append(t.Columns, name)
	return len(t.Columns) - 1
}

// writeCSV writes an array of objects as CSV (RFC 4180) with a column for each name, in the
// order in which the names appear first. Nested values are JSON. A text that a spreadsheet
// would take for a formula gets an apostrophe before it, because a page may have sent it; the
// JSON has it unchanged. CodeInvalid if the data is no array of objects.
func writeCSV(w io.Writer, data []byte) error {
	var columns []string
	known := map[string]int{}
	err := eachMember(data, func(name string, _ jsontext.Value) {
		if _, there := known[name]; !there {
			known[name] = len(columns)
			columns = append(columns, name)
		}
	}, func() error { return nil })
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	heads := make([]string, len(columns))
	for i, name := range columns {
		heads[i] = harmless(name)
	}
	if err := out.Write(heads); err != nil {
		return err
	}
	row := make([]string, len(columns))
	err = eachMember(data, func(name string, v jsontext.Value) { row[known[name]] = csvText(v) }, func() error {
		defer clear(row)
		return out.Write(row)
	})
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return err
}

// csvText returns a value as a field of CSV. null is empty.
func csvText(v jsontext.Value) string {
	switch v.Kind() {
	case 'n':
		return ""
	case '"':
		text, _ := jsontext.AppendUnquote(nil, v) // the decoder has checked it
		return harmless(string(text))
	}
	return string(v)
}

// harmless returns a text that no spreadsheet takes for a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// eachMember calls member for each member of the objects of an array, and end after each object.
func eachMember(data []byte, member func(name string, v jsontext.Value), end func() error) error {
	wrong := routine.Errorf(routine.CodeInvalid, "the result is no array of objects: download it as JSON")
	d := jsontext.NewDecoder(bytes.NewBuffer(data), lenientJSON...)
	if token, err := d.ReadToken(); err != nil || token.Kind() != '[' {
		return wrong
	}
	for d.PeekKind() == '{' {
		if _, err := d.ReadToken(); err != nil {
			return wrong
		}
		for d.PeekKind() == '"' {
			token, err := d.ReadToken()
			if err != nil {
				return wrong
			}
			name := token.String()
			v, err := d.ReadValue()
			if err != nil {
				return wrong
			}
			member(name, v)
		}
		if _, err := d.ReadToken(); err != nil {
			return wrong
		}
		if err := end(); err != nil {
			return err
		}
	}
	if d.PeekKind() != ']' {
		return wrong
	}
	return nil
}
