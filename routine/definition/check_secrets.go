package definition

import (
	"fmt"
	"slices"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
)

// HoldsSecrets reports whether the page of a run may show a secret: the value of a secret
// parameter, a stored secret, or a cookie, which scripts of the page may not be able to read.
func HoldsSecrets(d *routine.Definition) bool {
	if len(SecretsOf(d)) > 0 || slices.ContainsFunc(d.Parameters, func(p routine.Parameter) bool { return p.Secret }) {
		return true
	}
	cookies := false
	for _, o := range d.Operations {
		op, err := operation.Decode(o)
		if err != nil {
			return true // a newer version has saved it
		}
		operation.EachTemplate(op, func(s operation.Site) {
			t, _ := placeholder.Parse(s.Text, s.Place)
			cookies = cookies || slices.ContainsFunc(t.Tokens(), func(t placeholder.Token) bool { return t.Source == placeholder.Cookie })
		})
	}
	return cookies
}

// SecretsOf returns the stored secrets to which a definition refers, each once: those of
// placeholders in the order of the operations, then those of parameters.
func SecretsOf(d *routine.Definition) []routine.SecretReference {
	var all []routine.SecretReference
	add := func(ref routine.SecretReference) {
		if !slices.Contains(all, ref) {
			all = append(all, ref)
		}
	}
	for _, o := range d.Operations {
		if op, err := operation.Decode(o); err == nil { // a stored definition decodes
			operation.EachSecret(op, add)
		}
	}
	for _, p := range d.Parameters {
		if ref, ok := routine.ParseSecretReference(p.FromSecret); ok {
			add(ref)
		}
	}
	return all
}

// secretPlaces reports the tokens of a site of operation i that stand for a stored secret
// where none may be filled in: those of secrets, and those of parameters whose value a secret
// may supply.
func (c *checker) secretPlaces(pointer string, i int, s operation.Site, t *placeholder.Template) {
	for n, token := range t.Tokens() {
		supplied := token.Source == placeholder.Parameter && c.fromSecret[token.Name]
		if !supplied && !token.Source.FromSecret() {
			continue
		}
		code := token.Source != placeholder.Secret && !supplied
		if operation.TakesSecret(c.kinds[i].Name, s, t, n, code) {
			continue
		}
		if c.problems.full() {
			c.problems.count++
			continue
		}
		f := finding{within: token.Offset + 1, Problem: routine.Problem{Pointer: pointer, Code: placeholder.CodeNotAllowed,
			Message: routine.Truncate(token.Raw, maxShownToken) + " is not allowed here", Hint: placeholder.SecretHint}}
		switch {
		case s.Key:
			f.within = -f.within
		case s.Place == placeholder.Script:
			f.script = s.Text
		}
		if supplied {
			f.Message += ", because a stored secret can supply its value"
		} else if code {
			f.Hint = placeholder.CodeHint
		}
		c.put(&c.problems, f)
	}
}

// maxShownToken bounds how many characters of a token a message has.
const maxShownToken = 160

// storedSecret checks x-from-secret, and warns of a default that names a stored secret:
// placeholders in values are not filled in.
func (d *parameterCheck) storedSecret() {
	field := d.node.member("x-from-secret")
	if field != nil && !field.bad {
		d.c.fromSecret[d.Name] = true
		at := d.base + "/x-from-secret"
		secret := d.node.member("x-secret")
		switch {
		case !d.Secret && (secret == nil || !secret.bad):
			d.c.add(routine.Problem{Pointer: at, Code: "conflict",
				Message: "only a secret parameter can have its value from a stored secret", Hint: `add "x-secret": true`})
		case d.Type != routine.TypeString:
			d.c.add(routine.Problem{Pointer: at, Code: "conflict",
				Message: fmt.Sprintf("a stored secret is text, and the type of the parameter is %s", d.Type), Hint: `write "type": "string"`})
		case d.Default != nil:
			d.c.add(routine.Problem{Pointer: at, Code: "conflict", Message: "a parameter has either a default or a value from a stored secret", Hint: "remove default"})
		}
	}
	n := d.node.member("default")
	if n == nil || n.bad || n.kind != '"' {
		return
	}
	t, _ := placeholder.Parse(n.text, placeholder.Text)
	for _, token := range t.Tokens() {
		if !token.Source.FromSecret() {
			continue
		}
		hint := "write the placeholder into an operation"
		if token.Source == placeholder.Secret {
			hint = fmt.Sprintf(`write "x-secret": true and "x-from-secret": %q instead of default`, token.Name)
		}
		d.c.put(&d.c.warnings, finding{within: token.Offset + 1, Problem: routine.Problem{Pointer: d.base + "/default", Code: "literal_placeholder",
			Message: routine.Truncate(token.Raw, maxShownToken) + " is not filled in here: it stays as it is written", Hint: hint}})
		return
	}
}
