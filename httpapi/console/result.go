package console

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// Limits of what a page shows of a result. The rest is in a download. Bytes are counted as
// they are in HTML, where a quotation mark takes five.
const (
	maxShownBytes   = 256 << 10
	maxShownHead    = 32 << 10 // of JSON that is too large for a tree
	maxShownRows    = 200
	maxShownColumns = 20
	maxCellBytes    = 1 << 10
	maxRowMembers   = 1000 // of an object that is a row
	maxImageBytes   = 5 << 20
	// maxCopiedBytes limits the JSON that is also shown as text, to be copied.
	maxCopiedBytes = 32 << 10
	// maxCountedBytes limits the JSON whose rows are counted to the end.
	maxCountedBytes = 1 << 20
)

// lenientJSON makes a decoder accept what pages send: a name twice, invalid UTF-8.
var lenientJSON = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// imageTypes are the media types that are shown as images. SVG is not one: it can have scripts.
var imageTypes = []string{"image/gif", "image/jpeg", "image/png", "image/webp"}

// resultView is what a page shows of the data of a result.
type resultView struct {
	// Kind is table, tree, head (the beginning of JSON), text, image or file.
	Kind string
	// Name, Type and Size (in bytes) are those of the download.
	Name, Type string
	Size       int64
	// Text is that of a text or head, and of small JSON besides its table or tree.
	Text string
	// Clipped reports whether Text is not all of it.
	Clipped bool
	Table   *resultTable
	Tree    *treeNode
}

// newResultView returns what a page shows of a result; nil: it has no data. The time that it
// takes is bounded whatever the size of the data.
func newResultView(r *routine.Result) *resultView {
	switch {
	case r == nil || len(r.Data) == 0 || string(r.Data) == "null":
		return nil
	case r.IsBase64:
		return fileResult(r)
	}
	v := &resultView{Name: "result.json", Type: "application/json", Size: int64(len(r.Data))}
	first := routine.FirstByte(r.Data)
	if first == '"' {
		v.Kind = "text"
		v.Text, v.Clipped = unquoteHead(bytes.TrimSpace(r.Data), maxShownBytes)
		return v
	}
	if len(r.Data) <= maxCopiedBytes {
		v.Text = string(r.Data)
	}
	if first == '[' {
		v.Table = readTable(r.Data)
	}
	if v.Table != nil {
		v.Kind = "table"
		return v
	}
	if v.Tree = readTree(r.Data); v.Tree != nil {
		v.Kind = "tree"
		return v
	}
	v.Kind = "head"
	v.Text, v.Clipped = clip(string(r.Data[:min(len(r.Data), maxShownHead)]), maxShownHead)
	v.Clipped = v.Clipped || len(r.Data) > maxShownHead
	return v
}

// fileResult returns what a page shows of a downloaded file: images and the beginning of
// texts, HTML too, which is never rendered.
func fileResult(r *routine.Result) *resultView {
	v := &resultView{Kind: "file", Name: r.Filename, Type: r.ContentType}
	if v.Name == "" {
		v.Name = "result"
	}
	encoded := bytes.Trim(r.Data, "\" \t\r\n")
	v.Size = int64(base64.StdEncoding.DecodedLen(len(encoded)))
	if r.Size != nil {
		v.Size = *r.Size
	}
	kind := mediaTypeOf(r.ContentType)
	switch {
	case slices.Contains(imageTypes, kind) && len(encoded) <= base64.StdEncoding.EncodedLen(maxImageBytes):
		v.Kind = "image"
	case strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "application/xml" || strings.HasSuffix(kind, "+xml"):
		const chunk = maxShownBytes / 3 * 4 // whole groups of four characters
		head, err := base64.StdEncoding.DecodeString(string(encoded[:min(len(encoded), chunk)]))
		if err != nil {
			return v
		}
		v.Kind = "text"
		v.Text, v.Clipped = clip(strings.ToValidUTF8(string(head), "\uFFFD"), maxShownBytes)
		v.Clipped = v.Clipped || len(encoded) > chunk
	}
	return v
}

// resultFile returns the content of a result that is a file. ok is false if it is none.
func resultFile(r *routine.Result) (data []byte, ok bool) {
	if r == nil || !r.IsBase64 {
		return nil, false
	}
	err := routine.DecodeJSON(r.Data, &data)
	return data, err == nil
}

// mediaTypeOf returns a media type in lower case and without parameters.
func mediaTypeOf(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// htmlLength is how many bytes a byte of text takes in HTML.
func htmlLength(c byte) int {
	switch c {
	case '<', '>':
		return len("&lt;")
	case '&', '"', '\'', '+':
		return len("&#34;")
	case 0:
		return len("\uFFFD")
	}
	return 1
}

// clip returns as much of a text as takes at most a number of bytes in HTML, and whether
// that is not all.
func clip(text string, most int) (head string, clipped bool) {
	for i := range len(text) {
		if most -= htmlLength(text[i]); most < 0 {
			for i > 0 && !utf8.RuneStart(text[i]) {
				i--
			}
			return text[:i], true
		}
	}
	return text, false
}

// unquoteHead returns the beginning of the text that a JSON string has, as clip does. Of a
// long string only the beginning is decoded.
func unquoteHead(quoted []byte, most int) (head string, clipped bool) {
	whole := quoted
	if len(quoted) > most {
		whole = append(bytes.Clone(quoted[:most]), '"')
	}
	for range len(`\uXXXX\uXXXX`) { // until the cut is between two characters
		text, err := jsontext.AppendUnquote(nil, whole)
		if err == nil || len(quoted) == len(whole) {
			head, clipped = clip(strings.ToValidUTF8(string(text), "\uFFFD"), most)
			return head, clipped || len(whole) < len(quoted)
		}
		whole = append(whole[:len(whole)-2], '"')
	}
	return "", true
}

// plainText returns a JSON value as people read it: texts without their quotation marks, all
// else with the digits and the order that it has.
func plainText(v jsontext.Value, most int) (text string, clipped bool) {
	if v.Kind() == '"' {
		return unquoteHead(v, most)
	}
	return clip(string(v[:min(len(v), most)]), most)
}
