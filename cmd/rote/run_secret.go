package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/service"
)

// runSecret is a secret for one run: NAME[.FIELD][@HOST[,HOST]]=FILE, where FILE is - for
// standard input. Without hosts, a stored secret of that name has them.
type runSecret struct {
	name, field string
	hosts       []string
	file        string
}

func (f *runSecret) UnmarshalText(text []byte) error {
	left, file, _ := strings.Cut(string(text), "=")
	left, hosts, hasHosts := strings.Cut(left, "@")
	name, field, hasField := strings.Cut(left, ".")
	*f = runSecret{name: name, field: cmp.Or(field, routine.ValueField), file: file}
	if file == "" || !routine.ValidSecretName(name) || hasField && !routine.ValidSecretName(field) {
		return fmt.Errorf("%q is no secret: write NAME=FILE or NAME.FIELD@HOST=FILE, with - for standard input", text)
	}
	if !hasHosts {
		return nil
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if _, err := routine.ParseSecretHost(host); err != nil {
			return err
		}
		f.hosts = append(f.hosts, host)
	}
	return nil
}

// givenSecrets reads the values of --secret.
func givenSecrets(flags []runSecret, in io.Reader) (map[string]service.GivenSecret, error) {
	all := map[string]service.GivenSecret{}
	inputUsed := false
	for _, f := range flags {
		flag := "--secret " + f.name + "." + f.field
		given, ok := all[f.name]
		if !ok {
			given.Fields = map[string]routine.Hidden{}
		}
		if _, twice := given.Fields[f.field]; twice {
			return nil, fmt.Errorf("%s is given twice", flag)
		}
		if f.file == "-" && inputUsed {
			return nil, fmt.Errorf("%s=-: standard input is read for another secret already: give a file", flag)
		}
		inputUsed = inputUsed || f.file == "-"
		value, err := readGivenSecret(f.file, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		given.Fields[f.field] = routine.Hidden(value)
		given.Hosts = append(given.Hosts, f.hosts...)
		all[f.name] = given
	}
	return all, nil
}

func readGivenSecret(file string, in io.Reader) (string, error) {
	if file != "-" {
		return readSecret(file)
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSecret+3))
	value := withoutLineEnd(string(text))
	switch {
	case err != nil:
		return "", err
	case value == "":
		return "", errors.New("standard input is empty")
	case len(value) > maxSecret:
		return "", fmt.Errorf("standard input has more than %d bytes", maxSecret)
	case !utf8.ValidString(value):
		return "", errors.New("standard input is not UTF-8 text")
	}
	return value, nil
}
