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

// parameters returns the -p values as a JSON object of strings. The service
// accepts a string for a number. Values are limited to limit bytes.
func (c *runCommand) parameters(in io.Reader, limit int64) (json.RawMessage, error) {
	r := valueReader{in: in, limit: limit}
	if c.Routine == "-" {
		r.inputUse = "the routine"
	}
	values, err := parameterTexts(c.Param, r)
	if err != nil {
		return nil, err
	}
	return json.Marshal(values)
}

// parameterTexts returns the values of -p by name.
func parameterTexts(params []string, r valueReader) (map[string]string, error) {
	values := map[string]string{}
	for _, p := range params {
		name, text, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("-p %s: write name=value, name=@FILE or name=-", p)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("-p %s is given twice", name)
		}
		value, err := r.resolve(name, text)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, nil
}

// valueReader reads parameter values from files and standard input.
type valueReader struct {
	in       io.Reader
	limit    int64  // bytes
	inputUse string // what standard input was used for, or empty
}

// resolve returns the value for text: standard input for "-", the content of a
// file for "@FILE", text starting with "@" for "@@…", and otherwise text
// itself.
func (r *valueReader) resolve(name, text string) (string, error) {
	value, source, err := text, "", error(nil)
	switch {
	case text == "-":
		source = "standard input"
		value, err = r.readInput(name)
	case strings.HasPrefix(text, "@@"):
		value = text[1:]
	case text == "@":
		return "", fmt.Errorf("-p %s=@: name a file after @; write @@ for a value that begins with @", name)
	case strings.HasPrefix(text, "@"):
		source = text[1:]
		value, err = r.readFile(source)
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

// readInput reads the value of a parameter from standard input, which can be
// read only once.
func (r *valueReader) readInput(name string) (string, error) {
	if r.inputUse != "" {
		return "", fmt.Errorf("standard input is already %s", r.inputUse)
	}
	r.inputUse = "the value of " + name
	return r.readAll(r.in)
}

func (r *valueReader) readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return r.readAll(f)
}

var errTooLarge = errors.New("too large")

// readAll reads all of from and removes one line break at the end, which
// editors and echo add.
func (r *valueReader) readAll(from io.Reader) (string, error) {
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
