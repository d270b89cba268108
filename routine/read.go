package routine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// readStrict decodes one JSON value and refuses what lenient readers pass over:
// duplicate keys, trailing text, invalid UTF-8, lone surrogates, deep nesting.
// Numbers keep their digits. The problem's place is left to locate, which finds
// it by the byte offset.
func readStrict(text []byte) (any, *Problem) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	tree, err := readValue(d)
	if err == nil {
		if _, err = d.ReadToken(); err == nil {
			err = &jsontext.SyntacticError{ByteOffset: d.InputOffset(), Err: errTrailing}
		} else if errors.Is(err, io.EOF) {
			return tree, nil
		}
	}
	return nil, syntaxProblem(err, len(text))
}

var (
	errTrailing = errors.New("text after the end of the JSON value")
	errDeep     = errors.New("nesting goes too deep")
	// errNumber: such a number costs the schema validator seconds, or its life.
	errNumber = fmt.Errorf("a number of more than %d digits or with an exponent beyond ±%d", maxNumberText, maxExponent)
)

func readValue(d *jsontext.Decoder) (any, error) {
	tok, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	if d.StackDepth() > MaxDepth {
		return nil, &jsontext.SyntacticError{ByteOffset: d.InputOffset() - 1, JSONPointer: d.StackPointer(), Err: errDeep}
	}
	switch tok.Kind() {
	case '{':
		object := map[string]any{}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if object[key], err = readValue(d); err != nil {
				return nil, err
			}
		}
		_, err = d.ReadToken()
		return object, err
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.ReadToken()
		return list, err
	case '"':
		return tok.String(), nil
	case '0':
		n := json.Number(tok.String())
		if _, ok := exact(n); !ok {
			return nil, &jsontext.SyntacticError{ByteOffset: d.InputOffset() - int64(len(n)), JSONPointer: d.StackPointer(), Err: errNumber}
		}
		return n, nil
	case 't', 'f':
		return tok.Bool(), nil
	}
	return nil, nil
}

func syntaxProblem(err error, size int) *Problem {
	p := Problem{Code: "json_syntax", Message: "is no valid JSON: " + err.Error(), offset: size}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		p.offset = int(syntax.ByteOffset)
		p.Pointer = string(syntax.JSONPointer)
		p.Message = "is no valid JSON: " + strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		p.Code, p.Message = "duplicate_key", fmt.Sprintf("key %q stands here twice: remove one", lastPart(p.Pointer))
	case errors.Is(err, errTrailing):
		p.Code, p.Message = "trailing_text", "text after the end of the JSON value: remove it"
	case errors.Is(err, errNumber):
		p.Code, p.Message = "number_range", errNumber.Error()+": shorten it"
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		p.Message, p.offset = "the JSON ends too early: close what is open", size
	case errors.Is(err, errDeep):
		p.Code, p.Message = "too_deep", fmt.Sprintf("nesting goes deeper than %d: flatten it", MaxDepth)
	}
	return &p
}

func lastPart(pointer string) string {
	part := pointer[strings.LastIndexByte(pointer, '/')+1:]
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}

// locate gives every problem its line and column in full, the text that was
// submitted. The definition is the value that begins at base. It reads the text
// once more, so that a definition without fault pays nothing for places.
func locate(full []byte, base int, problems []Problem) {
	wanted := map[string][]*Problem{}
	for i := range problems {
		p := &problems[i]
		if p.offset > 0 {
			p.offset += base
			continue
		}
		wanted[p.Pointer] = append(wanted[p.Pointer], p)
	}
	if len(wanted) > 0 {
		d := jsontext.NewDecoder(bytes.NewBuffer(full[base:]))
		locateIn(d, full, base, wanted)
	}
	for i := range problems {
		problems[i].Line, problems[i].Column = lineColumn(full, problems[i].offset)
	}
}

// locateIn sets the offsets of wanted problems while it walks one value: at the
// key for an unknown field, else at the value.
func locateIn(d *jsontext.Decoder, full []byte, base int, wanted map[string][]*Problem) {
	for {
		isName := false
		if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n%2 == 0 {
			isName = true
		}
		tok, err := d.ReadToken()
		if err != nil {
			return
		}
		if tok.Kind() == '}' || tok.Kind() == ']' {
			if d.StackDepth() == 0 {
				return
			}
			continue
		}
		pointer := string(d.StackPointer())
		for _, p := range wanted[pointer] {
			if isName == (p.Code == "unknown_field" || p.Code == "unknown_parameter") {
				p.offset = base + startOf(full[base:], int(d.InputOffset()), tok) + p.inner(full, base, d, tok)
			}
		}
		if d.StackDepth() == 0 {
			return
		}
	}
}

// startOf is where the token that ends at end begins.
func startOf(text []byte, end int, tok jsontext.Token) int {
	switch tok.Kind() {
	case '{', '[':
		return end - 1
	case 'n', 't':
		return end - 4
	case 'f':
		return end - 5
	case '0':
		return end - len(tok.String())
	}
	// A string: back over the closing quote to the quote that no backslash hides.
	for i := end - 2; i >= 0; i-- {
		if text[i] != '"' {
			continue
		}
		n := 0
		for j := i - 1; j >= 0 && text[j] == '\\'; j-- {
			n++
		}
		if n%2 == 0 {
			return i
		}
	}
	return 0
}

// inner is how far into the raw text of a string the problem's place is, when
// it has one inside the string's value.
func (p *Problem) inner(full []byte, base int, d *jsontext.Decoder, tok jsontext.Token) int {
	if p.within == 0 || tok.Kind() != '"' {
		return 0
	}
	end := int(d.InputOffset())
	raw := full[base+startOf(full[base:], end, tok) : base+end]
	return rawOffset(raw, p.within-1)
}

// rawOffset maps a byte offset in a string's value to one in its JSON text,
// quotes included.
func rawOffset(raw []byte, offset int) int {
	i, n := 1, 0
	for i < len(raw)-1 && n < offset {
		if raw[i] != '\\' {
			_, size := utf8.DecodeRune(raw[i:])
			i, n = i+size, n+size
			continue
		}
		if raw[i+1] != 'u' {
			i, n = i+2, n+1
			continue
		}
		length := 6
		if i+12 <= len(raw) && (raw[i+2] == 'd' || raw[i+2] == 'D') && raw[i+6] == '\\' {
			length = 12 // a surrogate pair
		}
		var s string
		if json.Unmarshal([]byte(`"`+string(raw[i:i+length])+`"`), &s) != nil {
			return i
		}
		i, n = i+length, n+len(s)
	}
	return i
}

// lineColumn counts from 1, in characters.
func lineColumn(text []byte, offset int) (int, int) {
	if offset > len(text) {
		offset = len(text)
	}
	line := 1 + bytes.Count(text[:offset], []byte{'\n'})
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	return line, 1 + utf8.RuneCount(text[start:offset])
}

// valueOffset is where the value that pointer names begins in text.
func valueOffset(text []byte, pointer string) int {
	start := len(text) - len(trimBOM(text))
	at := []Problem{{Pointer: pointer}}
	locate(text, start, at)
	return at[0].offset
}
