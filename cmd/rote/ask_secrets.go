package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"rote/routine"
)

// askSecrets returns the values of the fields of a secret by name. On a terminal it asks for
// each and does not show the answers. Otherwise standard input has one line for each field,
// in their order.
func askSecrets(secret string, fields []string, s streams) (map[string]string, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	read := linesOf(s.in, fields)
	if f, ok := s.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		read = func(field string) (string, error) {
			fmt.Fprintf(s.err, "%s of secret %s (not shown): ", promptOf(field), secret)
			text, err := term.ReadPassword(int(f.Fd()))
			fmt.Fprintln(s.err)
			return string(text), err
		}
	}
	values := map[string]string{}
	for _, field := range fields {
		if _, twice := values[field]; twice {
			return nil, fmt.Errorf("the field %s is named twice: name it once", field)
		}
		value, err := read(field)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s of secret %s: %w", field, secret, err)
		case value == "":
			return nil, fmt.Errorf("%s of secret %s is empty: nothing was changed", field, secret)
		case !utf8.ValidString(value):
			return nil, fmt.Errorf("%s of secret %s is not UTF-8 text", field, secret)
		}
		values[field] = value
	}
	return values, nil
}

// promptOf returns how a field is asked for.
func promptOf(field string) string {
	switch field {
	case totpField:
		return "Key of one-time codes (otpauth://… or base32)"
	case routine.ValueField:
		return "Value"
	}
	return strings.ToUpper(field[:1]) + field[1:]
}

// linesOf returns a function that returns the lines of in, one for each of the fields. A single
// field gets all of in, which may have several lines, without the last line break.
func linesOf(in io.Reader, fields []string) func(string) (string, error) {
	lines := bufio.NewReader(io.LimitReader(in, int64(len(fields)+1)*(routine.MaxSecretBytes+2)))
	few := fmt.Errorf("standard input has too few lines: it needs one for each of %s", strings.Join(fields, ", "))
	if len(fields) == 1 {
		return func(string) (string, error) {
			text, err := io.ReadAll(lines)
			if err == nil && len(text) == 0 {
				err = few
			}
			return withoutLineEnd(string(text)), err
		}
	}
	return func(field string) (string, error) {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return "", few
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if _, err := lines.Peek(1); err == nil && field == fields[len(fields)-1] {
			return "", fmt.Errorf("standard input has more lines than fields (%s): set a field that has several lines in a call of its own, with --field %s",
				strings.Join(fields, ", "), field)
		}
		return withoutLineEnd(line), nil
	}
}

func withoutLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}
