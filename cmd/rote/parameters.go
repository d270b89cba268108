package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// parameters returns the -p values as a JSON object of strings; Bind accepts a
// string for a number that it spells. No value is longer than limit bytes.
func (c *runCommand) parameters(in io.Reader, limit int64) (json.RawMessage, error) {
	r := valueReader{in: in, limit: limit}
	if c.Routine == "-" {
		r.inputUse = "the routine"
	}
	values := map[string]string{}
	for _, p := range c.Param {
		name, text, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("-p %s: write name=value, name=@FILE or name=-", p)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("-p %s is given twice", name)
		}
		value, err := r.value(name, text)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return json.Marshal(values)
}

// valueReader reads the values of parameters that are not on the command line.
type valueReader struct {
	in       io.Reader
	limit    int64  // bytes
	inputUse string // what standard input has been used for; empty: nothing
}

// value is what text stands for: "-" is standard input, "@FILE" the file, "@@…"
// a text that begins with "@", and any other text itself.
func (r *valueReader) value(name, text string) (string, error) {
	value, source, err := text, "", error(nil)
	switch {
	case text == "-":
		source = "standard input"
		value, err = r.input(name)
	case strings.HasPrefix(text, "@@"):
		value = text[1:]
	case text == "@":
		return "", fmt.Errorf("-p %s=@: name a file after @; write @@ for a value that begins with @", name)
	case strings.HasPrefix(text, "@"):
		source = text[1:]
		value, err = r.file(source)
	}
	switch {
	case errors.Is(err, errTooLarge):
		return "", fmt.Errorf("-p %s: %s is larger than --max-body (%d bytes)", name, source, r.limit)
	case err != nil:
		return "", fmt.Errorf("-p %s: %w", name, err)
	case !utf8.ValidString(value):
		return "", fmt.Errorf("-p %s: %s is not UTF-8 text", name, source)
	}
	return value, nil
}

// input reads the value of a parameter from standard input, which can be read
// once only.
func (r *valueReader) input(name string) (string, error) {
	if r.inputUse != "" {
		return "", fmt.Errorf("standard input is already %s", r.inputUse)
	}
	r.inputUse = "the value of " + name
	return r.read(r.in)
}

func (r *valueReader) file(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return r.read(f)
}

var errTooLarge = errors.New("too large")

// read reads all of from, without the line break at its end that editors and
// echo add.
func (r *valueReader) read(from io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(from, r.limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(text)) > r.limit {
		return "", errTooLarge
	}
	value := strings.TrimSuffix(string(text), "\n")
	if len(value) < len(text) {
		value = strings.TrimSuffix(value, "\r")
	}
	return value, nil
}
