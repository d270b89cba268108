package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Digest describes the parts of a routine in a few KB of plain text: parameters, each
// kind of operation and what these contain, with the type, the default and the first
// sentence of the description of every field. [Routine] and [Operation] have the rest.
var Digest = sync.OnceValue(func() string {
	d := digest{places: map[string]string{}}
	d.add("parameter", mustLoad("parameter.json"))
	for _, kind := range OperationKinds() {
		schema := mustLoad("operations/" + kind + ".json")
		delete(member(schema, "properties"), "type") // the heading names it
		d.add(kind, schema)
	}
	d.add("endpoint", mustLoad("endpoint.json"))
	d.add("data_sanitizer", member(mustLoad("data_sanitizer.json"), "$defs", "step"))
	return d.text.String()
})

// digest is the text of [Digest] as it grows.
type digest struct {
	text strings.Builder
	// places tells where a field was described, by its line, so that a field that many
	// operations have is described once.
	places map[string]string
}

// add adds an object with its fields, the required ones first. Fields that only repeat
// others in another place, as some of a parameter do, are left out.
func (d *digest) add(name string, schema map[string]any) {
	fmt.Fprintf(&d.text, "%s: %s\n", name, summary(schema))
	properties, required := member(schema, "properties"), texts(schema["required"])
	for _, field := range append(required, without(slices.Sorted(maps.Keys(properties)), required)...) {
		described := member(properties, field)
		if described == nil || described["$ref"] != nil && strings.HasPrefix(described["$ref"].(string), "#") {
			continue
		}
		line := fmt.Sprintf("%s (%s)", field, fieldType(described, slices.Contains(required, field)))
		text := line + ": " + summary(described)
		if place := d.places[text]; place != "" {
			fmt.Fprintf(&d.text, "  %s: as for %s\n", line, place)
			continue
		}
		d.places[text] = name
		fmt.Fprintf(&d.text, "  %s\n", text)
		for _, inner := range slices.Sorted(maps.Keys(member(described, "properties"))) {
			fmt.Fprintf(&d.text, "    %s (%s)\n", inner, fieldType(member(described, "properties", inner), false))
		}
	}
}

// without returns the texts that are not in others.
func without(all, others []string) []string {
	return slices.DeleteFunc(all, func(text string) bool { return slices.Contains(others, text) })
}

// fieldType describes which values a field takes, as in `integer, default 1`.
func fieldType(field map[string]any, required bool) string {
	types := texts(field["type"])
	if one, ok := field["type"].(string); ok {
		types = []string{one}
	}
	parts := []string{strings.Join(types, "|")}
	switch ref, _ := field["$ref"].(string); {
	case ref != "":
		parts[0] = headingOf(ref)
	case parts[0] == "":
		parts[0] = "any"
	}
	if values := texts(field["enum"]); len(values) > 0 {
		parts[0] = strings.Join(values, "|")
	}
	if required {
		parts = append(parts, "required")
	}
	if value, ok := field["default"]; ok && value != nil {
		text, err := json.Marshal(value)
		if err != nil {
			panic("embedded schemas: " + err.Error())
		}
		parts = append(parts, "default "+string(text))
	}
	return strings.Join(parts, ", ")
}

// headingOf returns the heading of the file that a reference leads to.
func headingOf(ref string) string {
	return strings.TrimSuffix(ref[strings.LastIndex(ref, "/")+1:], ".json")
}

// sentenceEnd matches the end of a sentence and the beginning of the next one, but not
// the dots of { ... }.
var sentenceEnd = regexp.MustCompile(`[.]\s+[^\s})]`)

// summary returns the first sentence of a description, without its full stop.
func summary(schema map[string]any) string {
	text, _ := schema["description"].(string)
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return strings.TrimSuffix(text, ".")
}
