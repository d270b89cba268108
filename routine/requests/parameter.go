package requests

import (
	"regexp"
	"strconv"
	"strings"

	"rote/routine"
)

var (
	schemePrefix = regexp.MustCompile(`^(?i:bearer|basic|token|jwt|apikey) `)
	notInName    = regexp.MustCompile(`[^a-z0-9]+`)
)

// parameter makes a parameter of a value that was not found and that must not be a literal.
func (t *tracer) parameter(l leaf, secret bool) template {
	prefix := ""
	if l.place == inHeader {
		prefix = schemePrefix.FindString(l.value)
	}
	value := l.value[len(prefix):]
	name, known := t.params[value]
	if !known {
		name = t.unusedName(parameterName(l.name))
		t.params[value] = name
		t.out.Values[name] = value
		p := routine.Parameter{Name: name, Type: routine.TypeString, Required: true, Secret: secret,
			Description: "The value of " + shownName(t.mask.text(l.name)) + " in request " + strconv.Itoa(t.out.Request.Number)}
		t.out.Parameters = append(t.out.Parameters, p)
	}
	if secret {
		t.note("{{"+name+"}}", "not found: likely computed by a script; a click path is steadier. It may be secret, so it is a parameter")
	} else {
		t.note("{{"+name+"}}", "has braces, which cannot be written in an operation, so it is a parameter")
	}
	all := template{{text: "{{" + name + "}}", token: true}}
	if l.kind == '0' {
		all[0].number = true
	}
	if prefix != "" {
		all = append(template{{text: prefix}}, all...)
	}
	return all
}

// parameterName is a name for a parameter, made of that of a header or field.
func parameterName(name string) string {
	made := strings.Trim(notInName.ReplaceAllString(strings.Join(words(name), "_"), "_"), "_")
	made = strings.TrimPrefix(made, "x_")
	if len(made) > 40 {
		made = strings.TrimRight(made[:40], "_")
	}
	switch {
	case made == "":
		return "value"
	case made[0] >= '0' && made[0] <= '9':
		return "value_" + made
	}
	return made
}
