package routine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// otherNames maps names that people and language models know from other tools to
// rote's names for the same thing.
var otherNames = map[string][]string{
	"action": {"type"}, "op": {"type"}, "kind": {"type"}, "command": {"type"}, "operation": {"type"}, "step": {"type"},
	// kinds of operations
	"goto": {"navigate"}, "go_to": {"navigate"}, "open": {"navigate"}, "visit": {"navigate"}, "load": {"navigate"},
	"wait": {"sleep"}, "delay": {"sleep", "timeout_seconds"}, "pause": {"sleep"},
	"fill": {"input_text"}, "type": {"input_text"}, "type_text": {"input_text"}, "enter_text": {"input_text"}, "send_keys": {"input_text"},
	"set_value": {"input_text"},
	"keypress":  {"press"}, "press_key": {"press"}, "tap": {"click"}, "get": {"fetch"}, "post": {"fetch"}, "request": {"fetch"}, "http": {"fetch"},
	"http_request": {"fetch"}, "api_call": {"fetch"},
	"wait_for_navigation": {"wait_for_url"}, "evaluate": {"js_evaluate"}, "execute_script": {"js_evaluate"}, "run_script": {"js_evaluate"},
	"extract": {"return_html"}, "get_html": {"return_html"}, "content": {"return_html"}, "output": {"return", "session_storage_key"},
	// their fields
	"css": {"selector"}, "css_selector": {"selector"}, "xpath": {"selector"}, "locator": {"selector"}, "element": {"selector"}, "target": {"selector"},
	"value": {"text", "default"}, "input": {"text", "input_text"}, "content_type": {"headers"},
	"script": {"js", "js_evaluate"}, "code": {"js"}, "javascript": {"js", "js_evaluate"}, "expression": {"js"}, "function": {"js"},
	"regex": {"url_regex", "pattern"}, "url_pattern": {"url_regex"}, "url": {"url_regex"}, "href": {"url"}, "uri": {"url"},
	"seconds": {"timeout_seconds"}, "duration": {"timeout_seconds"}, "time": {"timeout_seconds"}, "ms": {"timeout_ms", "timeout_seconds"},
	"milliseconds": {"timeout_ms", "timeout_seconds"},
	"save_as":      {"session_storage_key"}, "store_as": {"session_storage_key"}, "store_in": {"session_storage_key"}, "result_key": {"session_storage_key"},
	"key":    {"session_storage_key"},
	"clicks": {"click_count"}, "clear_first": {"clear"},
	"file": {"filename", "x-files"}, "path": {"filename"}, "data": {"body"}, "payload": {"body"}, "json": {"body"},
	"files": {"x-files"}, "attachment": {"x-files"}, "attachments": {"x-files"}, "upload": {"x-files"}, "document": {"x-files"},
	// parameters
	"text": {"string"}, "str": {"string"}, "password": {"string"}, "int": {"integer"}, "float": {"number"}, "double": {"number"}, "decimal": {"number"},
	"bool":   {"boolean"},
	"choice": {"enum"}, "select": {"enum"}, "timestamp": {"datetime"}, "date_time": {"datetime"},
	"options": {"enum_values"}, "choices": {"enum_values"}, "enum": {"enum_values"}, "values": {"enum_values"}, "allowed_values": {"enum_values"},
	"min": {"min_value"}, "minimum": {"min_value"}, "max": {"max_value"}, "maximum": {"max_value"}, "secret": {"x-secret"}, "sensitive": {"x-secret"},
	"default_value": {"default"},
	// a routine
	"steps": {"operations"}, "actions": {"operations"}, "params": {"parameters"}, "inputs": {"parameters"}, "arguments": {"parameters"},
	"title": {"name"}, "public": {"is_public"},
}

// underscores replaces what separates the words of a name.
var underscores = strings.NewReplacer("-", "_", " ", "_")

// Nearest returns the candidate that was probably meant by name, or an empty string if
// none is close: "timeout_ms" for "timeout", "selector" for "selecter" and for
// "xpath".
func Nearest(name string, candidates []string) string {
	fold := underscores.Replace(strings.ToLower(Truncate(name, 64)))
	for _, other := range otherNames[fold] {
		if slices.Contains(candidates, other) {
			return other
		}
	}
	sorted := slices.Sorted(slices.Values(candidates[:min(len(candidates), MaxSuggestionCandidates)]))
	best, least := "", len(fold)/3+1
	part, leastOfParts := "", 1<<10
	for _, c := range sorted {
		lower := strings.ReplaceAll(strings.ToLower(c), "-", "_")
		contains := len(fold) >= 3 && len(c) >= 3 && (strings.Contains(lower, fold) || strings.Contains(fold, lower))
		if !contains && differentLength(fold, lower) >= least { // the distance is at least that
			continue
		}
		d := distance(fold, lower)
		if d < least {
			best, least = c, d
		}
		if contains && d < leastOfParts {
			part, leastOfParts = c, d
		}
	}
	return cmp.Or(best, part)
}

// DidYouMean returns a hint that names the candidate nearest to name, as in: did you
// mean "selector"? It returns an empty string if none is close.
func DidYouMean(name string, candidates []string) string {
	near := Nearest(name, candidates)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}

// MaxSuggestionCandidates bounds how many candidates a search for a suggestion
// compares.
const MaxSuggestionCandidates = 100

// maxCompared bounds how many bytes of two texts are compared, which bounds the cost.
const maxCompared = 64

// differentLength returns the difference of the lengths that distance compares.
func differentLength(a, b string) int {
	d := min(len(a), maxCompared) - min(len(b), maxCompared)
	return max(d, -d)
}

// distance counts the insertions, deletions, replacements and swaps of adjacent
// characters that turn a into b (optimal string alignment). It compares the first
// maxCompared bytes only.
func distance(a, b string) int {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	rows := [3][maxCompared + 1]int{}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := &rows[(i+2)%3], &rows[i%3], &rows[(i+1)%3]
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
