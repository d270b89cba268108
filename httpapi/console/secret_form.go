package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/service"
)

// secretForm is the form of a secret without its values, which are read from the posted form
// only and never shown.
type secretForm struct {
	Name   string
	Shared bool
	// Names are those of new fields, with empty ones for more.
	Names []string
	// Delete are the names of the stored fields that are marked to be deleted.
	Delete                                              []string
	References, Hosts, FieldRule, Routines, Description string
	Requests, Confine                                   bool
	// Version is the version that the person has seen; 0: the secret is new.
	Version int
}

// FieldRules are the choices of FieldRule.
func (secretForm) FieldRules() []routine.FieldRule {
	return []routine.FieldRule{routine.FieldPassword, routine.FieldAny, routine.FieldNone}
}

// Deletes reports whether a stored field is marked to be deleted.
func (f secretForm) Deletes(name string) bool { return slices.Contains(f.Delete, name) }

// formOfSecret returns the form with the settings of a stored secret.
func formOfSecret(info *service.SecretInfo) secretForm {
	return secretForm{Name: info.Name, Shared: !info.Project, Names: []string{"", ""}, Hosts: strings.Join(info.Hosts, "\n"), FieldRule: string(info.Field),
		Routines: strings.Join(info.Routines, "\n"), Description: info.Description, Requests: info.Requests, Confine: info.Confine, Version: info.Version}
}

func readSecretForm(posted url.Values) secretForm {
	version, err := strconv.Atoi(posted.Get("version"))
	if err != nil {
		version = 0 // as of no secret that exists
	}
	shared := posted.Get("project") == "false"
	return secretForm{Name: posted.Get("name"), Shared: shared, Names: posted["field_name"], Delete: posted["delete"], References: posted.Get("references"),
		Hosts: posted.Get("hosts"), FieldRule: posted.Get("field_rule"), Routines: posted.Get("routines"), Description: posted.Get("description"),
		Requests: posted.Get("requests") != "", Confine: posted.Get("confine") != "", Version: version}
}

// storedValuePrefix begins the names of the inputs for new values of stored fields.
const storedValuePrefix = "value."

// change returns the text of the JSON object that SaveSecret reads, with the values of the
// posted form. Values that are left empty are not changed.
func (f *secretForm) change(posted url.Values) ([]byte, *formFault) {
	fields := map[string]any{}
	for _, name := range f.Delete {
		fields[name] = nil
	}
	for input := range posted {
		if name, ok := strings.CutPrefix(input, storedValuePrefix); ok && posted.Get(input) != "" {
			fields[name] = posted.Get(input)
		}
	}
	values := posted["field_value"]
	for i, name := range f.Names {
		name = strings.TrimSpace(name)
		given := i < len(values) && values[i] != ""
		switch {
		case given && name == "":
			return nil, fieldFault("fields", "A value has no name. Write the name of its field before it, and the value again.")
		case given:
			fields[name] = values[i]
		}
	}
	body := map[string]any{"project": !f.Shared, "hosts": nonNil(strings.Fields(f.Hosts)), "field_rule": f.FieldRule, "requests": f.Requests, "confine": f.Confine,
		"routines": nonNil(strings.Fields(f.Routines)), "description": f.Description}
	if slices.Contains(f.Delete, routine.TOTPField) {
		delete(fields, routine.TOTPField)
		body["totp"] = nil
	}
	if key := posted.Get("totp"); key != "" {
		body["totp"] = strings.TrimSpace(key)
	}
	references, fault := f.readReferences()
	if fault != nil {
		return nil, fault
	}
	if len(references) > 0 {
		body["references"] = references
	}
	if len(fields) > 0 {
		body["fields"] = fields
	}
	return encodeForm(posted, body)
}

// readReferences reads the lines NAME=REFERENCE.
func (f *secretForm) readReferences() (map[string]string, *formFault) {
	references := map[string]string{}
	for line := range strings.Lines(f.References) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, reference, ok := strings.Cut(line, "=")
		if !ok {
			return nil, fieldFault("references", "Each line is a field, = and a reference, as in password=vault:shop#password.")
		}
		references[strings.TrimSpace(name)] = strings.TrimSpace(reference)
	}
	return references, nil
}

// encodeForm returns a body with the values of a posted form as JSON. JSON cannot have texts
// that are not UTF-8, which no browser sends.
func encodeForm(posted url.Values, body map[string]any) ([]byte, *formFault) {
	for _, values := range posted {
		if slices.ContainsFunc(values, func(text string) bool { return !utf8.ValidString(text) }) {
			return nil, &formFault{Message: "The form is not UTF-8.", status: http.StatusBadRequest}
		}
	}
	text, err := routine.EncodeJSON(body)
	if err != nil {
		return nil, &formFault{Message: "The form cannot be written as JSON: a value in it is not valid.", status: http.StatusBadRequest}
	}
	return text, nil
}

// nonNil returns a list that is not null in JSON.
func nonNil(list []string) []string { return append([]string{}, list...) }

// secretFieldOf returns the field of the form to which a pointer into its JSON belongs.
func secretFieldOf(pointer string) string {
	setting, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	switch setting {
	case "value", "fields":
		return "fields"
	case "totp", "references", "hosts", "field_rule", "routines", "description":
		return setting
	}
	return ""
}
