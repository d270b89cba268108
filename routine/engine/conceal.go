package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

var errNoRules = errors.New("a stored secret has no rules")

// Conceal returns a text that the run stores, with the values of stored secrets masked. JSON
// stays JSON.
func (r *runner) Conceal(text string) string {
	if r.stored.maskIndex == nil {
		return text
	}
	if raw := json.RawMessage(text); json.Valid(raw) {
		return string(r.stored.json(raw))
	}
	return r.stored.text(text)
}

// concealData masks the stored secrets in the data of the result. CodeSecretExposed if the
// data is a file that is no text and has one; the result has no data then.
func (r *runner) concealData() error {
	result := r.Result
	if r.stored.maskIndex == nil || result.Data == nil {
		return nil
	}
	if !result.IsBase64 {
		result.Data = r.stored.json(result.Data)
		return nil
	}
	var encoded string
	if err := json.Unmarshal(result.Data, &encoded); err != nil {
		return routine.Internal("read the result", err)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return routine.Internal("read the result", err)
	}
	shown, err := r.stored.file(result.Filename, data)
	if err != nil {
		r.dropData()
		return err
	}
	if !bytes.Equal(shown, data) {
		result.Data, result.Size = routine.RawJSON(shown), new(int64(len(shown))) // bytes become base64
	}
	return nil
}

func (r *runner) dropData() {
	result := r.Result
	result.Data, result.IsBase64, result.ContentType, result.Filename, result.Size = nil, false, "", "", nil
}

// concealFile masks the stored secrets in a file that the page was sent. CodeSecretExposed.
func (r *runner) concealFile(f *routine.File) error {
	if r.stored.maskIndex == nil {
		return nil
	}
	data, err := r.stored.file(f.Name, f.Data)
	f.Data, f.Size = data, int64(len(data))
	return err
}

// concealAll masks the stored secrets in the data and the files of a run that has ended, also
// in those from before they were read. CodeSecretExposed. If it cannot, nothing of them is left.
func (r *runner) concealAll() error {
	err := r.recoverPanic(r.concealDataAndFiles)
	if routine.CodeOf(err) == routine.CodeInternal {
		r.dropData()
		r.files = nil
	}
	return err
}

func (r *runner) concealDataAndFiles() error {
	err := r.concealData()
	var shown []routine.File
	for _, f := range r.files {
		if fileErr := r.concealFile(&f); fileErr != nil {
			err = fileErr
			continue
		}
		shown = append(shown, f)
	}
	r.files = shown
	return err
}

// json returns a JSON value with secrets masked in its texts, names and numbers. A number
// with a secret becomes a text.
func (s secrets) json(value json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	d, e := jsontext.NewDecoder(bytes.NewReader(value), options...), jsontext.NewEncoder(&out, options...)
	masked := false
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) && !masked {
			return value
		}
		if errors.Is(err, io.EOF) {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
		}
		if err == nil {
			switch token.Kind() {
			case '"':
				if text := token.String(); s.text(text) != text {
					token, masked = jsontext.String(s.text(text)), true
				}
			case '0':
				if number := token.String(); s.text(number) != number {
					token, masked = jsontext.String(s.text(number)), true
				}
			}
			err = e.WriteToken(token)
		}
		if err != nil { // of JSON that was valid; nothing of it may be shown
			return routine.RawJSON(routine.Masked)
		}
	}
}

// file returns the content of a file with secrets masked, if it is text. If it is none and has
// a secret, the error is CodeSecretExposed.
func (s secrets) file(name string, data []byte) ([]byte, error) {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		text := string(data)
		if shown := s.text(text); shown != text {
			return []byte(shown), nil
		}
		return data, nil
	}
	for _, text := range s.texts {
		if len(text) < minSecret {
			continue
		}
		for _, spelled := range [][]byte{[]byte(text), inUTF16(text, binary.LittleEndian), inUTF16(text, binary.BigEndian)} {
			if bytes.Contains(data, spelled) {
				return nil, routine.Errorf(routine.CodeSecretExposed, "the file %s contains a stored secret, which cannot be masked in it: do not download it",
					routine.Quote(s.text(name)))
			}
		}
	}
	return data, nil
}

// inUTF16 returns a text in UTF-16.
func inUTF16(text string, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(strings.ToValidUTF8(text, "\uFFFD"))) {
		out = order.AppendUint16(out, unit)
	}
	return out
}
