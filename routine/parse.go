package routine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Parse is the only door for a definition. It reads text strictly, checks shape
// and meaning, and reports every problem at once, sorted by place: as an
// [Error] with CodeInvalid, or, for what is only doubtful, as warnings beside
// the definition.
func Parse(text []byte) (*Definition, []Problem, error) {
	return parse(text, 0, len(text))
}

// ParseBody is Parse for the body of a validate call: the routine itself, or an
// object whose key routine_json holds the routine, as an object or as a string
// of JSON. Lines count in the body, or inside that string.
func ParseBody(body []byte) (*Definition, []Problem, error) {
	if len(body) > MaxDefinitionBytes {
		return parse(body, 0, len(body))
	}
	var wrapper struct {
		Routine json.RawMessage `json:"routine_json"`
	}
	tree, problem := readStrict(trimBOM(body))
	object, _ := tree.(map[string]any)
	inner, wrapped := object["routine_json"]
	if problem != nil || !wrapped {
		return parse(body, 0, len(body))
	}
	if text, ok := inner.(string); ok {
		return Parse([]byte(text))
	}
	if err := json.Unmarshal(trimBOM(body), &wrapper); err != nil {
		return parse(body, 0, len(body))
	}
	start := valueOffset(body, "/routine_json")
	return parse(body, start, start+len(bytes.TrimSpace(wrapper.Routine)))
}

// parse checks the definition at full[start:end]; places count in full.
func parse(full []byte, start, end int) (*Definition, []Problem, error) {
	if size := end - start; size > MaxDefinitionBytes {
		return nil, nil, &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the definition has %d bytes, the limit is %d", size, MaxDefinitionBytes)}
	}
	if start == 0 {
		start = len(full) - len(trimBOM(full))
	}
	text := full[start:end]
	tree, problem := readStrict(text)
	if problem != nil {
		problem.offset += start
		problem.Line, problem.Column = lineColumn(full, problem.offset)
		return nil, nil, invalid("routine", []Problem{*problem})
	}
	c := &checker{}
	c.check(text, tree)
	locate(full, start, c.problems)
	locate(full, start, c.warnings)
	sortProblems(c.problems)
	sortProblems(c.warnings)
	if len(c.problems) > 0 {
		return nil, c.warnings, invalid("routine", c.problems)
	}
	return &c.definition, c.warnings, nil
}

func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
}

// trimBOM leaves out a leading byte-order mark, which editors on Windows write.
func trimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// checker collects what is wrong with one definition.
type checker struct {
	definition         Definition
	problems, warnings []Problem
	decoded            []operation // nil where the shape was wrong
}

func (c *checker) add(p Problem)  { c.problems = append(c.problems, p) }
func (c *checker) warn(p Problem) { c.warnings = append(c.warnings, p) }

func (c *checker) check(text []byte, tree any) {
	object, ok := tree.(map[string]any)
	if !ok {
		c.add(Problem{Code: "type", Message: fmt.Sprintf("a routine must be an object, not %s", show(tree))})
		return
	}
	c.problems = append(c.problems, checkShape(loadShapes().routine, tree, "", "a routine")...)
	c.unknownTop(object)
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		c.add(Problem{Code: "json_syntax", Message: err.Error()})
		return
	}
	c.top(fields)
	c.parameters(fields["parameters"], object["parameters"])
	c.operations(fields["operations"], object["operations"])
	c.flow()
	c.names()
}

// top decodes the plain fields. One whose shape was wrong keeps its default:
// the problem is on record already.
func (c *checker) top(fields map[string]json.RawMessage) {
	d := &c.definition
	*d = Definition{Incognito: true, IsMCPToolDesignated: true, Tags: []string{}, Parameters: []Parameter{}}
	for name, into := range map[string]any{"name": &d.Name, "description": &d.Description, "incognito": &d.Incognito,
		"is_public": &d.IsPublic, "is_mcp_tool_designated": &d.IsMCPToolDesignated, "tags": &d.Tags} {
		if raw, ok := fields[name]; ok {
			_ = json.Unmarshal(raw, into)
		}
	}
	if d.Tags == nil {
		d.Tags = []string{}
	}
}

// unknownTop warns of fields that a routine does not have: they are dropped, so
// a misspelt one would be lost without a word.
func (c *checker) unknownTop(object map[string]any) {
	properties := loadShapes().routine.Properties
	known := make([]string, 0, len(properties))
	for name := range properties {
		known = append(known, name)
	}
	for name := range object {
		if _, ok := properties[name]; ok || strings.HasPrefix(name, "x-") {
			continue
		}
		p := Problem{Pointer: "/" + escapePointer(name), Code: "unknown_field", Message: fmt.Sprintf("a routine has no field %q: it is ignored", name)}
		if near := nearest(name, known); near != "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		c.warn(p)
	}
}

// operations checks each operation against its own kind's schema, then decodes
// and checks what the schema cannot say.
func (c *checker) operations(raw json.RawMessage, tree any) {
	var raws []json.RawMessage
	if json.Unmarshal(raw, &raws) != nil {
		return
	}
	trees, _ := tree.([]any)
	c.decoded = make([]operation, len(raws))
	c.definition.Operations = make([]Operation, len(raws))
	for i, raw := range raws {
		object, _ := trees[i].(map[string]any)
		name, _ := object["type"].(string)
		k, ok := kindNamed(name)
		if !ok {
			continue // the routine's own schema has said so
		}
		base := "/operations/" + strconv.Itoa(i)
		if shape := checkShape(loadShapes().kinds[k.name], object, base, k.name); len(shape) > 0 {
			c.problems = append(c.problems, shape...)
			continue
		}
		o := Operation{raw: append(json.RawMessage(nil), raw...), typ: k.name}
		op, err := o.decode()
		if err != nil {
			c.add(Problem{Pointer: base, Code: "type", Message: err.Error()})
			continue
		}
		c.decoded[i], c.definition.Operations[i] = op, o
		if checked, ok := op.(checked); ok {
			for _, p := range checked.check() {
				p.Pointer = base + p.Pointer
				c.add(p)
			}
		}
	}
}

// parameters checks the declarations, each default and example against its own
// rules among them.
func (c *checker) parameters(raw json.RawMessage, tree any) {
	var raws []json.RawMessage
	if raw == nil || json.Unmarshal(raw, &raws) != nil {
		return
	}
	trees, _ := tree.([]any)
	seen := map[string]bool{}
	for i, raw := range raws {
		base := "/parameters/" + strconv.Itoa(i)
		object, ok := trees[i].(map[string]any)
		if !ok {
			continue // the routine's own schema has said so
		}
		if c.faulty(base) {
			continue
		}
		var p Parameter
		if err := json.Unmarshal(raw, &p); err != nil {
			c.add(Problem{Pointer: base, Code: "type", Message: err.Error()})
			continue
		}
		if seen[p.Name] {
			c.add(Problem{Pointer: base + "/name", Code: "duplicate_parameter", Message: fmt.Sprintf("another parameter is named %q: rename one", p.Name)})
		}
		seen[p.Name] = true
		c.definition.Parameters = append(c.definition.Parameters, p)
		for _, problem := range p.checkDeclaration(object) {
			problem.Pointer = base + problem.Pointer
			c.add(problem)
		}
	}
}

// faulty tells whether the shape of the value at pointer was wrong.
func (c *checker) faulty(pointer string) bool {
	return slices.ContainsFunc(c.problems, func(p Problem) bool {
		return p.Pointer == pointer || strings.HasPrefix(p.Pointer, pointer+"/")
	})
}

// sortedNames of a set, for messages that are the same every time.
func sortedNames(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
