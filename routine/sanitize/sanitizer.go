// Package sanitize reduces a response before it is stored: by JSONPath, from HTML to
// text or Markdown, or to a length. Every step ends when its context does, and takes
// time linear in the size of the text.
package sanitize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// Step is one step of a data_sanitizer. It reduces a response to the part that an
// agent needs.
type Step struct {
	Type     string   `json:"type"`
	Path     string   `json:"path"`
	Paths    []string `json:"paths"`
	MaxChars int      `json:"max_chars"`

	compiled []*jsonPath // from path or paths; nil for a faulty one
}

// UnmarshalJSON accepts max_chars in any spelling of a whole number.
func (s *Step) UnmarshalJSON(text []byte) error {
	type plain Step
	read := struct {
		*plain
		MaxChars routine.Integer `json:"max_chars"`
	}{plain: (*plain)(s)}
	err := json.Unmarshal(text, &read)
	s.MaxChars = int(read.MaxChars)
	return err
}

// Parse reads data_sanitizer: one step, or a list of steps to apply in order. A step
// that is null had a faulty shape, which the schema check has reported.
func Parse(raw json.RawMessage) ([]*Step, []routine.Problem) {
	var steps []*Step
	at := func(int) string { return "/data_sanitizer" }
	switch routine.FirstByte(raw) {
	case '{':
		raw = append(append(json.RawMessage{'['}, raw...), ']')
	case '[':
		at = func(i int) string { return "/data_sanitizer/" + strconv.Itoa(i) }
	default:
		return nil, nil
	}
	if err := json.Unmarshal(raw, &steps); err != nil {
		return nil, []routine.Problem{{Pointer: "/data_sanitizer", Code: "type", Message: "cannot be read: " + err.Error()}}
	}
	var problems []routine.Problem
	for i, s := range steps {
		if s != nil {
			problems = append(problems, s.prepare(at(i))...)
		}
	}
	return steps, problems
}

// sanitizerFields are the fields of each type of step.
var sanitizerFields = map[string][]string{
	"json_path": {"path", "paths"}, "drop": {"paths"}, "truncate": {"max_chars"}, "html_to_text": {}, "html_to_markdown": {},
}

// prepare compiles the step's paths and checks that it has the fields that its type
// needs.
func (s *Step) prepare(pointer string) []routine.Problem {
	var problems []routine.Problem
	add := func(at, code, hint, format string, args ...any) {
		problems = append(problems, routine.Problem{Pointer: pointer + at, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	fields, known := sanitizerFields[s.Type]
	if !known {
		return nil // the schema check has reported it
	}
	given := map[string]bool{"path": s.Path != "", "paths": len(s.Paths) > 0, "max_chars": s.MaxChars > 0}
	needed := len(fields) > 0
	for _, f := range []string{"path", "paths", "max_chars"} {
		belongs := strings.Contains(" "+strings.Join(fields, " ")+" ", " "+f+" ")
		needed = needed && !(belongs && given[f])
		if given[f] && !belongs {
			hint := "leave it out"
			if s.Type == "drop" && f == "path" {
				hint = `did you mean "paths"? It is a list`
			}
			add("/"+f, "unknown_field", hint, "%s has no field %q", s.Type, f)
		}
	}
	if needed {
		add("", "required", "", "%s needs the field %q", s.Type, strings.Join(fields, `" or "`))
	}
	if s.Type == "json_path" && given["path"] && given["paths"] {
		add("/paths", "conflict", "", "give path or paths, not both")
	}
	problems = append(problems, s.compilePaths(pointer)...)
	return problems
}

// compilePaths compiles the step's paths.
func (s *Step) compilePaths(pointer string) []routine.Problem {
	paths, at := s.Paths, func(i int) string { return pointer + "/paths/" + strconv.Itoa(i) }
	if s.Path != "" && s.Type == "json_path" {
		paths, at = []string{s.Path}, func(int) string { return pointer + "/path" }
	}
	var problems []routine.Problem
	for i, p := range paths {
		if p == "" {
			s.compiled = append(s.compiled, nil)
			continue // the schema check has reported it
		}
		x, hint, err := compileJSONPath(p)
		if err == nil && s.Type == "drop" && len(x.expr) < 2 {
			err, hint = errAll, "leave the data_sanitizer out and do not store the response"
		}
		if err != nil {
			problems = append(problems, routine.Problem{Pointer: at(i), Code: "json_path", Message: "is no JSONPath: " + err.Error(), Hint: hint})
		}
		s.compiled = append(s.compiled, x)
	}
	return problems
}

// Apply returns the result of the step for a text of valid UTF-8. It calls warn for
// likely mistakes. It ends soon after ctx, with the context's cause. limit bounds the
// output of json_path and drop in bytes; 0: maxPathText.
func (s *Step) Apply(ctx context.Context, text []byte, limit int64, warn func(string)) ([]byte, error) {
	switch s.Type {
	case "json_path":
		return s.pick(ctx, text, limit, warn)
	case "drop":
		return s.drop(ctx, text, limit)
	case "truncate":
		return truncate(text, s.MaxChars), nil
	case "html_to_text":
		return htmlText(ctx, text)
	case "html_to_markdown":
		return htmlMarkdown(ctx, text)
	}
	return nil, routine.Errorf(routine.CodeInternal, "sanitizer %q", s.Type)
}

// truncate returns the first n characters.
func truncate(text []byte, n int) []byte {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return text[:end]
}

// pick returns what the paths select: with path the value itself if path can select
// only one, else a list; with paths an object that has such a value for each path.
func (s *Step) pick(ctx context.Context, text []byte, limit int64, warn func(string)) ([]byte, error) {
	search, err := s.index(ctx, text)
	if err != nil {
		return nil, err
	}
	found := make([][]jsonNodeID, len(s.compiled))
	for i, x := range s.compiled {
		if found[i], err = search.find(x); err != nil {
			return nil, err
		}
		if len(found[i]) == 0 {
			if why := search.explainNoMatch(x); why != "" {
				warn(why)
			}
		}
	}
	return search.write(limit, func(w *jsonWriter) {
		if s.Path != "" {
			w.selected(s.compiled[0], found[0])
			return
		}
		w.out = append(w.out, '{')
		written := make(map[string]bool, len(s.Paths))
		for i, p := range s.Paths {
			if written[p] {
				continue
			}
			written[p] = true
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.out = append(append(w.out, routine.JSONText(p)...), ':')
			w.selected(s.compiled[i], found[i])
		}
		w.out = append(w.out, '}')
	})
}

// drop removes what the paths select.
func (s *Step) drop(ctx context.Context, text []byte, limit int64) ([]byte, error) {
	search, err := s.index(ctx, text)
	if err != nil {
		return nil, err
	}
	for _, x := range s.compiled {
		if err := search.remove(x); err != nil {
			return nil, err
		}
	}
	return search.write(limit, func(w *jsonWriter) {
		w.out = make([]byte, 0, min(len(text), int(w.limit)))
		w.node(rootNode)
	})
}

// index indexes a JSON response.
func (s *Step) index(ctx context.Context, text []byte) (*pathSearch, error) {
	doc, err := readJSON(ctx, text)
	var known *routine.Error
	if errors.As(err, &known) {
		return nil, known
	}
	if err != nil {
		begins := routine.Show(string(text[:min(len(text), 1000)]))
		return nil, routine.Errorf(routine.CodeValueMissing, "data_sanitizer %s needs a JSON response (%v); this one begins %s", s.Type, err, begins)
	}
	return newPathSearch(ctx, doc), nil
}
