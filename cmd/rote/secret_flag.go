package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/service"
)

// secretFlag names a file with a secret, such as a password, that lessons may use for
// some hosts: NAME@HOST[,HOST]=FILE. PROJECT/NAME or ORGANIZATION/PROJECT/NAME names its
// project; without one it is that of the local user.
type secretFlag struct {
	organization, project, name string
	hosts                       []string
	file                        string
}

// plainHTTP begins a host of a secret that is reached without encryption.
const plainHTTP = "http://"

func (f *secretFlag) UnmarshalText(text []byte) error {
	name, rest, hasHost := strings.Cut(string(text), "@")
	hosts, file, hasFile := strings.Cut(rest, "=")
	if !hasHost || !hasFile || file == "" {
		return fmt.Errorf("%q is no secret: write NAME@HOST=FILE, as in PIN@bank.example=/run/secrets/pin", text)
	}
	parts := strings.Split(name, "/")
	*f = secretFlag{name: parts[len(parts)-1], hosts: strings.Split(hosts, ","), file: file}
	switch len(parts) {
	case 3:
		f.organization, f.project = parts[0], parts[1]
	case 2:
		f.project = parts[0]
	}
	if len(parts) > 3 || !routine.ValidSecretName(f.name) {
		return fmt.Errorf("%q is no name of a secret: write a letter and then letters, digits, _ and -, with the project before it if needed, as in shop/PIN", name)
	}
	for _, host := range f.hosts {
		if _, err := routine.ParseSecretHost(host); err != nil {
			return err
		}
	}
	return nil
}

// maxSecret limits the bytes of a secret.
const maxSecret = 64 << 10

// projectKey identifies the project of secrets.
type projectKey struct{ organization, project string }

// readSecrets reads the files of flags. The line break at the end of a file is dropped.
func readSecrets(flags []secretFlag, g *globals) (lesson.SecretSource, error) {
	secrets := map[projectKey]map[string]service.GivenSecret{}
	for _, f := range flags {
		project := projectKey{cmp.Or(f.organization, g.Organization), cmp.Or(f.project, g.Project)}
		if secrets[project] == nil {
			secrets[project] = map[string]service.GivenSecret{}
		}
		if _, twice := secrets[project][f.name]; twice {
			return nil, fmt.Errorf("--secret %s is given twice for the project %s", f.name, project.project)
		}
		value, err := readSecret(f.file)
		if err != nil {
			return nil, fmt.Errorf("--secret %s: %w", f.name, err)
		}
		given := service.GivenSecret{Field: routine.FieldAny, Fields: map[string]routine.Hidden{routine.ValueField: routine.Hidden(value)}}
		for _, host := range f.hosts {
			given.Hosts = append(given.Hosts, host)
			if !strings.HasPrefix(host, plainHTTP) {
				given.Hosts = append(given.Hosts, plainHTTP+host) // the flag does not tell them apart
			}
		}
		secrets[project][f.name] = given
	}
	return func(p routine.Principal) map[string]service.GivenSecret {
		return secrets[projectKey{p.OrganizationID, p.ProjectID}]
	}, nil
}

// readSecret returns the text of a file without the line break at its end.
func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case value == "":
		return "", errors.New("the file " + path + " is empty")
	case len(value) > maxSecret:
		return "", fmt.Errorf("the file %s has more than %d bytes", path, maxSecret)
	case !utf8.ValidString(value):
		return "", errors.New("the file " + path + " is not UTF-8 text")
	}
	return value, nil
}
