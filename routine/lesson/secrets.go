package lesson

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
	"rote/routine/lesson/parameters"
	"rote/routine/operation"
	"rote/routine/placeholder"
	"rote/routine/service"
)

// SecretSource returns the secrets of the operator that the lessons of a caller may use, by
// name. They win over stored secrets of the same name.
type SecretSource func(p routine.Principal) map[string]service.GivenSecret

// secretsOf returns the secrets of the operator for a caller.
func (s *Lessons) secretsOf(p routine.Principal) map[string]service.GivenSecret {
	if s.secrets == nil {
		return nil
	}
	return s.secrets(p)
}

// refuseLiteral returns an error if an operation types a literal text into a field for a
// password, a code or the number of a card: it would be saved with the routine. The text is
// a secret then. An operation that was saved like this is not refused.
func (l *lesson) refuseLiteral(k *keptOperation) error {
	if k.fromStoredRoutine || k.operation.Type() != "input_text" || k.element == nil || k.element.Field == nil || !k.element.Field.Secret {
		return nil
	}
	literal := typedLiteral(k.operation)
	if literal == "" {
		return nil
	}
	l.session.Hide(literal)
	return routine.Errorf(routine.CodeInvalid, `the field takes a password, a code or the number of a card, and a literal text would be saved with the routine: `+
		`write "text":"{{pin}}" and give its value in values, as in {"pin":{"secret":"NAME"}} for a stored secret`)
}

// typedLiteral returns the text that an operation types; empty if it has placeholders.
func typedLiteral(o routine.Operation) string {
	literal := ""
	eachSite(o, func(s operation.Site, names []string) {
		if s.Pointer == "/text" && len(names) == 0 && !operation.HasToken(s.Text) {
			literal = s.Text
		}
	})
	return literal
}

// hideLiteral makes a parameter of a literal text that an operation of a recording would type into
// a field for a password, a code or the number of a card, which the recording did not tell.
func (l *lesson) hideLiteral(k *keptOperation, d routine.ElementDescription) {
	if k.operation.Type() != "input_text" || d.Field == nil || !d.Field.Secret {
		return
	}
	literal := typedLiteral(k.operation)
	if literal == "" {
		return
	}
	l.session.Hide(literal)
	name := parameters.Name(cmp.Or(d.Field.Label, "password"), func(name string) bool {
		return slices.ContainsFunc(l.declared, func(p routine.Parameter) bool { return p.Name == name })
	})
	l.declared = append(slices.Clone(l.declared), parameters.Declare(name, nil, d.Field, true))
	l.imported.Parameters = l.declared
	k.raw = jsonobject.Replace(k.raw, []string{"text"}, jsonobject.Member{Name: "text", Value: routine.RawJSON("{{" + name + "}}")})
	k.operation = parsedOperation(k.raw)
}

// secretParameter returns the declaration of a parameter whose value is a stored secret: a
// secret text without rules or examples, because a rule that the value breaks or meets would
// tell what the value is.
func secretParameter(p routine.Parameter, from string) routine.Parameter {
	return routine.Parameter{Name: p.Name, Type: routine.TypeString, Required: p.Required, Description: p.Description, Secret: true,
		FromSecret: from, Extra: p.Extra}
}

// declareSecrets declares each parameter whose value is a stored secret as a secret, and warns
// if it was declared in another way.
func (d *draft) declareSecrets() {
	for i, p := range d.definition.Parameters {
		from := d.fromSecret[p.Name]
		if from == "" {
			continue
		}
		secret := secretParameter(p, from)
		d.definition.Parameters[i] = secret
		p.FromSecret = from // which is not new to the author
		if routine.JSONText(p) != routine.JSONText(secret) {
			d.warnings = append(d.warnings, routine.Problem{Pointer: fmt.Sprintf("/parameters/%d", i), Code: "secret_without_rules",
				Message: fmt.Sprintf("the value of %q is a stored secret: the parameter becomes a secret text without rules, default and examples", p.Name),
				Hint:    "to keep its declaration, give it a value of your own in values before you save"})
		}
	}
}

// refuseRules returns a problem if a request declares rules for a parameter whose value is a
// stored secret.
func refuseRules(asked declaration, from string) *routine.Problem {
	for _, field := range slices.Sorted(maps.Keys(asked.fields)) {
		allowed := field == "name" || field == "description" || field == "required" || field == "x-secret" && string(asked.fields[field]) == "true" ||
			field == "x-from-secret" && string(asked.fields[field]) == routine.JSONText(from)
		if !allowed {
			return &routine.Problem{Pointer: "/" + routine.EscapePointer(field), Code: "stored_secret",
				Message: fmt.Sprintf("the value of %q is a stored secret: only description and required can be declared for it", asked.name),
				Hint:    "leave this field out"}
		}
	}
	if asked.from != nil {
		return &routine.Problem{Pointer: "/from", Code: "stored_secret",
			Message: fmt.Sprintf("the value of %q is a stored secret: it cannot replace a text", asked.name), Hint: "choose another name"}
	}
	return nil
}

// eachSite calls see with each text of an operation and the names of the parameters in it.
func eachSite(o routine.Operation, see func(s operation.Site, names []string)) {
	op, err := operation.Decode(o)
	if err != nil {
		return
	}
	operation.EachTemplate(op, func(s operation.Site) {
		t, _ := placeholder.Parse(s.Text, s.Place)
		var names []string
		for _, token := range t.Tokens() {
			if token.Source == placeholder.Parameter {
				names = append(names, token.Name)
			}
		}
		see(s, names)
	})
}
