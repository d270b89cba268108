package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

// patchStep is one operation of a JSON Patch (RFC 6902).
type patchStep struct {
	Op, Path string
	Value    json.RawMessage
}

const (
	// shownChanges limits the changes that are told in words, and shownValue the characters
	// of a value in them. The texts below them have everything.
	shownChanges, shownValue = 40, 120
)

// patchInWords tells what a JSON Patch changes in a version, as in: operation 3, selector:
// "#search" → "#serch".
func patchInWords(old *routine.Version, patch json.RawMessage) ([]string, error) {
	var steps []patchStep
	var doc any
	text := routine.RawJSON(struct {
		*routine.Definition
		Status routine.Status `json:"routine_status"`
	}{old.Definition, old.Status})
	if err := routine.DecodeJSON(patch, &steps); err != nil {
		return nil, routine.Internal("read the difference of versions", err)
	}
	if err := routine.DecodeJSON(text, &doc); err != nil {
		return nil, routine.Internal("read a version", err)
	}
	var words []string
	for i, s := range steps {
		if i == shownChanges {
			return append(words, fmt.Sprintf("and %d more changes", len(steps)-i)), nil
		}
		var value any
		if len(s.Value) > 0 {
			if err := routine.DecodeJSON(s.Value, &value); err != nil {
				return nil, routine.Internal("read a value of a difference", err)
			}
		}
		path := pointerSteps(s.Path)
		before, found := valueAt(doc, path)
		place := placeInWords(path)
		switch {
		case s.Op == "remove":
			words = append(words, fmt.Sprintf("%s is removed: %s", place, shownJSON(before)))
		case s.Op == "add" && (!found || isItem(path)):
			words = append(words, fmt.Sprintf("%s is added: %s", place, shownJSON(value)))
		default:
			words = append(words, fmt.Sprintf("%s: %s → %s", place, shownJSON(before), shownJSON(value)))
		}
		doc = changed(doc, path, s.Op, value)
	}
	return words, nil
}

// shownJSON returns a value as the words quote it.
func shownJSON(v any) string {
	return routine.Truncate(routine.PlainText(routine.JSONText(v)), shownValue)
}

func pointerSteps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	steps := strings.Split(pointer[1:], "/")
	for i, s := range steps {
		steps[i] = routine.UnescapePointer(s)
	}
	return steps
}

// isItem reports whether a path ends with the index of an item, where adding inserts.
func isItem(path []string) bool {
	if len(path) == 0 {
		return false
	}
	last := path[len(path)-1]
	_, err := strconv.Atoi(last)
	return err == nil || last == "-"
}

// placeInWords names a place of a definition: operation 3, endpoint, url.
func placeInWords(path []string) string {
	words := slices.Clone(path)
	singular := map[string]string{"operations": "operation", "parameters": "parameter", "tags": "tag"}
	if len(path) > 1 && singular[path[0]] != "" {
		number := "at the end"
		if n, err := strconv.Atoi(path[1]); err == nil {
			number = strconv.Itoa(n + 1)
		}
		words = append([]string{singular[path[0]] + " " + number}, path[2:]...)
	}
	return routine.PlainText(strings.Join(words, ", "))
}

// valueAt returns the value at a path of a decoded document.
func valueAt(doc any, path []string) (any, bool) {
	for _, step := range path {
		switch at := doc.(type) {
		case map[string]any:
			member, found := at[step]
			if !found {
				return nil, false
			}
			doc = member
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			doc = at[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// changed returns a decoded document after one step of a patch, for the values before the
// steps that follow.
func changed(doc any, path []string, op string, value any) any {
	if len(path) == 0 {
		return value
	}
	step, rest := path[0], path[1:]
	switch at := doc.(type) {
	case map[string]any:
		if len(rest) == 0 && op == "remove" {
			delete(at, step)
		} else {
			at[step] = changed(at[step], rest, op, value)
		}
	case []any:
		i, err := strconv.Atoi(step)
		switch {
		case len(rest) == 0 && op == "add" && (err != nil || i >= len(at)):
			return append(at, value)
		case err != nil || i < 0 || i >= len(at):
		case len(rest) == 0 && op == "add":
			return slices.Insert(at, i, value)
		case len(rest) == 0 && op == "remove":
			return slices.Delete(at, i, i+1)
		default:
			at[i] = changed(at[i], rest, op, value)
		}
	}
	return doc
}
