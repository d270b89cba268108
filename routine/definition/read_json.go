package definition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"rote/routine"

	"github.com/go-json-experiment/json/jsontext"
)

// wrapperKey is the field of the body of a validate call that may contain the routine.
const wrapperKey = "routine_json"

// readDocument reads one JSON value strictly. Duplicate keys, text after the value,
// invalid UTF-8, unpaired surrogates, deep nesting and very long numbers are problems.
// All of them are reported: only a syntax error ends the reading. A leading byte-order
// mark is ignored. If body is set, the routine may be wrapped (see [ParseBody]), and
// the wrapper does not count as a level of nesting.
func readDocument(text []byte, body bool) *document {
	doc := readOnce(text, body)
	// A superfluous comma or a comment hides everything after it: read on as if it
	// were not there.
	var mended []finding
	for doc.broken && len(mended) < maxRepairs && len(text) <= maxRepairedText {
		last := doc.found.list[len(doc.found.list)-1]
		without, ok := repair(text, last.offset)
		if !ok {
			break
		}
		mended = append(mended, last)
		text = without
		doc = readOnce(text, body)
	}
	for _, p := range mended {
		doc.found.add(p)
	}
	return doc
}

// maxRepairs bounds how often a text is read anew, and maxMendedText how long it
// can be for that.
const (
	// maxRepairs bounds how often a text is read again after a repair, and
	// maxMendedText the length of such a text in bytes.
	maxRepairs      = 20
	maxRepairedText = 64 << 10
)

// repair overwrites with blanks what other formats allow and JSON does not: a comma
// before a closing bracket, or a comment. The text after it keeps its position. It
// reports whether there was such a thing at the offset.
func repair(text []byte, at int) ([]byte, bool) {
	rest := text[at:]
	end := 0
	switch {
	case bytes.HasPrefix(rest, []byte(",")) && bytes.IndexAny(bytes.TrimLeft(rest[1:], " \t\r\n"), "]}") == 0:
		end = 1
	case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("#")):
		if end = bytes.IndexByte(rest, '\n'); end < 0 {
			end = len(rest)
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest, []byte("*/")); end > 0 {
			end += 2
		}
	}
	if end <= 0 {
		return nil, false
	}
	blank := bytes.Repeat([]byte{' '}, end)
	for i, c := range rest[:end] {
		if c == '\n' {
			blank[i] = c // lines stay where they are
		}
	}
	return append(append(bytes.Clone(text[:at]), blank...), rest[end:]...), true
}

func readOnce(text []byte, body bool) *document {
	doc := &document{src: string(text), start: len(text) - len(trimBOM(text))}
	r := &reader{doc: doc, body: body, limit: routine.MaxDepth,
		d: jsontext.NewDecoder(bytes.NewBuffer(text[doc.start:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	r.dirty = !utf8.Valid(text) || bytes.Contains(text, []byte(`\ud`)) || bytes.Contains(text, []byte(`\uD`))
	var err error
	if doc.root, err = r.readValue(); err == nil {
		// Any text after the value is a fault, even text that is not JSON.
		if rest := r.next(); rest < len(doc.src) {
			r.fault(rest, routine.Problem{Code: "trailing_text", Message: "text after the end of the JSON value: remove it"})
		}
		return doc
	}
	doc.broken = true
	if !errors.Is(err, errSkip) {
		r.syntax(err)
	}
	return doc
}

// errSkip ends the reading of a text that is nested deeper than the decoder can skip.
var errSkip = errors.New("nesting goes beyond what can be skipped")

// trimBOM removes a leading byte-order mark, which editors on Windows write.
func trimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// reader turns a text into the tree of a document.
type reader struct {
	d     *jsontext.Decoder
	doc   *document
	path  routine.Pointer
	nodes []node // of the containers that are open
	keys  []key
	limit int  // of the depth
	body  bool // the routine may be wrapped
	dirty bool // strings may hold what is no Unicode
}

// offset returns the offset after the last token.
func (r *reader) offset() int { return r.doc.start + int(r.d.InputOffset()) }

// next returns the offset of the next token.
func (r *reader) next() int {
	at := r.offset()
	for at < len(r.doc.src) && strings.IndexByte(" \t\r\n,:", r.doc.src[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) fault(offset int, p routine.Problem) {
	p.Pointer = r.path.String()
	r.doc.found.add(finding{offset: offset, Problem: p})
}

// readValue reads the next value.
func (r *reader) readValue() (n node, err error) {
	start := r.next()
	tok, err := r.d.ReadToken()
	if err != nil {
		return n, err
	}
	n.kind, n.start, n.end = tok.Kind(), int32(start), int32(r.offset())
	switch n.kind {
	case '{', '[':
		if r.d.StackDepth() > r.limit {
			r.fault(start, routine.Problem{Code: "too_deep", Message: fmt.Sprintf("nesting goes deeper than %d: flatten it", routine.MaxDepth)})
			n.bad = true
			err = r.skip(r.d.StackDepth())
		} else if n.kind == '{' {
			n.kids, err = r.object()
		} else {
			n.kids, err = r.array()
		}
		n.end = int32(r.offset())
	case '"':
		n.text = r.text(tok, start)
	case '0':
		n.text = r.doc.src[start:n.end]
		if !routine.FitsNumber(n.text) {
			r.fault(start, routine.Problem{Code: "number_range", Message: fmt.Sprintf("a number may have at most %d digits and an exponent within ±%d: shorten it",
				routine.MaxNumberText, routine.MaxExponent)})
			n.bad = true
		}
	}
	return n, err
}

// object reads the members of an object. It collects them on a stack that all
// containers share, so that the slice of each container is allocated once, with its
// final size.
func (r *reader) object() (*kids, error) {
	nodes, keys := len(r.nodes), len(r.keys)
	var seen map[string]bool
	for r.d.PeekKind() != '}' {
		start := r.next()
		tok, err := r.d.ReadToken()
		if err != nil {
			return nil, err
		}
		k := key{name: r.text(tok, start), start: int32(start), end: int32(r.offset())}
		k.as = k.name
		r.path.Member(k.name)
		if seen, k.bad = r.repeats(seen, r.keys[keys:], k.name); k.bad {
			r.fault(start, routine.Problem{Code: "duplicate_key", Message: "key " + routine.Quote(routine.Truncate(k.name, 60)) + " stands here twice: remove one"})
		}
		wrapped := r.body && len(r.path) == 1 && k.name == wrapperKey
		if wrapped {
			r.limit++
		}
		v, err := r.readValue()
		if wrapped {
			r.limit--
		}
		if err != nil {
			return nil, err // the path shows where
		}
		r.path.Pop()
		r.keys, r.nodes = append(growDouble(r.keys), k), append(growDouble(r.nodes), v)
	}
	all := &kids{takeFrom(&r.keys, keys), takeFrom(&r.nodes, nodes)}
	_, err := r.d.ReadToken()
	return all, err
}

// repeats reports whether a name is already among keys. Beyond 16 keys it uses the set
// seen, which it returns for the next call.
func (r *reader) repeats(seen map[string]bool, keys []key, name string) (map[string]bool, bool) {
	const many = 16
	if len(keys) < many {
		return nil, slices.ContainsFunc(keys, func(k key) bool { return k.name == name })
	}
	if seen == nil {
		seen = make(map[string]bool, 2*many)
		for _, k := range keys {
			seen[k.name] = true
		}
	}
	has := seen[name]
	seen[name] = true
	return seen, has
}

func (r *reader) array() (*kids, error) {
	nodes := len(r.nodes)
	for i := 0; r.d.PeekKind() != ']'; i++ {
		r.path.Item(i)
		v, err := r.readValue()
		if err != nil {
			return nil, err
		}
		r.path.Pop()
		r.nodes = append(growDouble(r.nodes), v)
	}
	all := &kids{nil, takeFrom(&r.nodes, nodes)}
	_, err := r.d.ReadToken()
	return all, err
}

// takeFrom removes the elements of a stack from an index on and returns them: of [a b
// c d] and 1 it returns [b c d] and leaves [a]. It copies a small result. It returns a
// large one in place, and copies the rest to a new stack instead.
func takeFrom[T any](stack *[]T, from int) []T {
	if len(*stack)-from < 1024 {
		taken := slices.Clone((*stack)[from:])
		*stack = (*stack)[:from]
		return taken
	}
	taken := (*stack)[from:len(*stack):len(*stack)]
	*stack = slices.Clone((*stack)[:from])
	return taken
}

// growDouble doubles the capacity of a full slice. append grows large slices by a
// quarter only, which copies too often for slices of up to half a million elements.
func growDouble[T any](s []T) []T {
	if len(s) < cap(s) || len(s) < 256 {
		return s
	}
	return slices.Grow(s, len(s))
}

// skip reads on to the end of the container that was opened at depth.
func (r *reader) skip(depth int) error {
	for r.d.StackDepth() >= depth {
		if _, err := r.d.ReadToken(); err != nil {
			if r.d.StackDepth() > 1000 {
				return errSkip // deeper than the decoder can go
			}
			return err
		}
	}
	return nil
}

// text returns the value of the string token that begins at start.
func (r *reader) text(tok jsontext.Token, start int) string {
	raw := r.doc.src[start:r.offset()]
	if r.dirty {
		r.notUnicode(raw, start)
	}
	if strings.IndexByte(raw, '\\') < 0 && !r.dirty {
		return raw[1 : len(raw)-1] // shares the memory of the whole text
	}
	return tok.String()
}

// notUnicode reports the first part of a string that is not valid Unicode.
func (r *reader) notUnicode(raw string, start int) {
	for i := 1; i < len(raw)-1; {
		c, size := utf8.DecodeRuneInString(raw[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.fault(start+i, routine.Problem{Code: "invalid_utf8", Message: "is no UTF-8: save the file as UTF-8"})
			return
		case c == '\\':
			half, _ := unicodeEscape(raw[i:])
			_, size = unescape(raw[i:])
			if size == 6 && utf16.IsSurrogate(half) {
				r.fault(start+i, routine.Problem{Code: "lone_surrogate", Message: raw[i:i+6] + " is half of a character: write both halves, or the character itself"})
				return
			}
		}
		i += size
	}
}

// syntax records why the text is not valid JSON. It replaces the decoder's own message
// by a clearer one for an early end, a misspelt word, a superfluous comma and a
// comment: "[1,,2]" yields "a comma too many", and {"a":tru} "the word tru".
func (r *reader) syntax(err error) {
	p := routine.Problem{Code: "json_syntax", Message: "is no valid JSON: " + err.Error()}
	at := len(r.doc.src)
	var fault *jsontext.SyntacticError
	if errors.As(err, &fault) {
		at = r.doc.start + int(fault.ByteOffset)
		p.Message = "is no valid JSON: " + strings.TrimPrefix(fault.Err.Error(), "jsontext: ")
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		p.Message, at = "the JSON ends too early: close what is open", len(r.doc.src)
		if strings.TrimSpace(r.doc.src[r.doc.start:]) == "" {
			p.Message = "there is nothing: give a JSON object"
		}
	case strings.Contains(p.Message, " in literal "):
		at = r.next() // the word as a whole is wrong
		word := strings.FieldsFunc(r.doc.src[at:], func(c rune) bool { return !unicode.IsLetter(c) })[0]
		p.Message = "is no valid JSON: the word " + routine.Truncate(word, 40)
		fallthrough
	default:
		p.Hint = syntaxHint(r.doc.src, at)
	}
	switch rest := r.doc.src[min(at, len(r.doc.src)):]; {
	case strings.HasPrefix(rest, ","):
		p.Message = "is no valid JSON: a comma too many"
		if len(r.path) > 0 && r.path[len(r.path)-1].Index >= 0 {
			r.path.Pop() // no item stands here
		}
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"), strings.HasPrefix(rest, "#"):
		p.Message = "is no valid JSON: a comment"
	}
	r.fault(at, p)
}

// syntaxHint returns a hint for the common mistakes of people and language models that
// break JSON at an offset, or an empty string: for "[None]" it is "write null".
func syntaxHint(src string, at int) string {
	before := strings.TrimRight(src[:at], " \t\r\n")
	rest := src[at:]
	if strings.HasPrefix(rest, ",") {
		before, rest = before+",", strings.TrimLeft(rest[1:], " \t\r\n")
	}
	is := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(rest, w) })
	}
	switch {
	case rest == "":
		return ""
	case strings.HasSuffix(before, ",") && is("}", "]"):
		return "remove the comma before " + routine.Quote(rest[:1])
	case rest[0] < ' ':
		return `inside a string write a line break as \n and a tab as \t`
	case is("//", "/*", "#"):
		return "JSON has no comments: remove it, or use a field of an operation or a parameter whose name begins with x-"
	case is("None", "undefined", "NaN", "Infinity", "-Infinity"):
		return "write null"
	case is("True", "False"):
		return "write true and false in small letters"
	case is("\\"):
		return `a backslash in a string is written \\`
	case is(`"`):
		return `put a comma between two values; a double quote inside a string is written \"`
	case is("'", "`", "\u201c") || unicode.IsLetter(rune(rest[0])):
		return `names and strings stand in double quotes: "…"`
	}
	return ""
}
