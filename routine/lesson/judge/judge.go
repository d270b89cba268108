// Package judge compares a run of a routine with the lesson in which the routine was made.
package judge

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/placeholder"
)

// Check is one line of the judgement.
type Check struct {
	Check string `json:"check"`
	// Passed is false if the routine is not proved; Warning reports whether it only has to
	// be looked at.
	Passed  bool   `json:"passed"`
	Warning bool   `json:"warning,omitempty"`
	Message string `json:"message"`
}

// Outcome is the result of the operations of a lesson, or of a run of them.
type Outcome struct {
	Result   *routine.Result // nil if there is none
	Warnings []string
	Records  []routine.OperationRecord
	URL      string // of the page at the end; empty if it is not known
	Seconds  float64
	Values   map[string]any // of the parameters
}

// The names of the checks of a proof.
const (
	CheckStatus      = "status"
	checkWarnings    = "warnings"
	checkResult      = "result_shape"
	checkNotEmpty    = "not_empty"
	checkURL         = "final_url"
	checkMatches     = "matches"
	checkDuration    = "duration"
	CheckOtherValues = "other_values"
	CheckLast        = "last_operation"
	CheckFormer      = "former_result"
)

func Passed(check, format string, args ...any) Check {
	return Check{Check: check, Passed: true, Message: fmt.Sprintf(format, args...)}
}

func Warned(check, format string, args ...any) Check {
	return Check{Check: check, Passed: true, Warning: true, Message: fmt.Sprintf(format, args...)}
}

func Failed(check, format string, args ...any) Check {
	return Check{Check: check, Message: fmt.Sprintf(format, args...)}
}

// Run compares a completed run with what the lesson saw. The values of the results may
// differ, their form may not. Without results it does not compare them, because only the first
// operations were run.
func Run(lesson, proof Outcome, results bool) []Check {
	checks := []Check{Passed(CheckStatus, "completed in %.1f s", proof.Seconds), judgeWarnings(lesson, proof)}
	if results {
		checks = append(checks, Result(lesson.Result, proof.Result))
		if Empty(proof.Result) && !Empty(lesson.Result) {
			checks = append(checks, Failed(checkNotEmpty, "the result is empty, in the lesson it was not"))
		}
		if proof.URL != "" && lesson.URL != "" && blanked(lesson) != blanked(proof) {
			checks = append(checks, Warned(checkURL, "the run ends at %s, the lesson at %s",
				routine.ShownURL(proof.URL), routine.ShownURL(lesson.URL)))
		}
	}
	checks = append(checks, judgeMatches(lesson, proof)...)
	if proof.Seconds > 3*lesson.Seconds && proof.Seconds > 2 {
		checks = append(checks, Warned(checkDuration, "the run took %.1f s, the operations of the lesson %.1f s", proof.Seconds, lesson.Seconds))
	}
	return checks
}

// OtherValues compares a run with other values with the run with those of the lesson.
func OtherValues(proof, other Outcome) []Check {
	what := ShowValues(other.Values)
	if c := judgeWarnings(proof, other); !c.Passed {
		return []Check{Failed(CheckOtherValues, "%s: %s", what, c.Message)}
	}
	if c := Result(proof.Result, other.Result); !c.Passed && !Empty(other.Result) {
		return []Check{Failed(CheckOtherValues, "%s: %s", what, c.Message)}
	}
	switch {
	case Data(other.Result) == Data(proof.Result) && formOf(proof.Result).kind == "null":
		return []Check{Passed(CheckOtherValues, "%s: completed; the routine returns nothing that could differ", what)}
	case Data(other.Result) == Data(proof.Result):
		return []Check{Warned(CheckOtherValues, "%s: %s", what, SameResult)}
	case Empty(other.Result):
		return []Check{Warned(CheckOtherValues, "%s: the result is empty; take values that have a result", what)}
	}
	return []Check{Passed(CheckOtherValues, "%s: %s, different", what, Shape(other.Result))}
}

// SameResult ends the message of a check of other values that changed nothing.
const SameResult = "the very same result"

// ShowValues returns values for a message, as in: query "chair".
func ShowValues(values map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+" "+routine.Show(values[name]))
	}
	return routine.Truncate(strings.Join(parts, ", "), 200)
}

// faults are parts of the warnings of runs that do not do what they should.
var faults = []string{"Could not resolve placeholder", "holds another text than was typed", "nothing of the text arrived"}

// judgeWarnings fails if the run has one of the warnings in faults, or an error status, that
// the lesson did not have.
func judgeWarnings(lesson, proof Outcome) Check {
	var others []string
	for _, w := range proof.Warnings {
		if slices.Contains(lesson.Warnings, w) {
			continue
		}
		if slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(w, f) }) {
			return Failed(checkWarnings, "%s", w)
		}
		others = append(others, w)
	}
	for i, r := range proof.Records {
		status := StatusOf(r)
		if status < 400 || i < len(lesson.Records) && StatusOf(lesson.Records[i]) == status {
			continue
		}
		return Failed(checkWarnings, "operation %d (%s) was answered with HTTP status %d", i+1, r.Type, status)
	}
	if len(others) > 0 {
		return Warned(checkWarnings, "new: %s", routine.Truncate(strings.Join(others, "; "), 400))
	}
	return Passed(checkWarnings, "none that the lesson did not have")
}

// StatusOf returns the HTTP status of the document or the answer that an operation got; 0 if
// there is none.
func StatusOf(r routine.OperationRecord) int {
	if response, ok := r.Details["response"].(map[string]any); ok {
		return wholeNumber(response["status"])
	}
	return wholeNumber(r.Details["status"])
}

// wholeNumber returns a number of a record, which may come out of a store.
func wholeNumber(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

// judgeMatches warns of selectors that match another number of elements than in the lesson.
func judgeMatches(lesson, proof Outcome) []Check {
	var checks []Check
	for i, r := range proof.Records {
		if i >= len(lesson.Records) {
			break
		}
		was, now := wholeNumber(lesson.Records[i].Details["matches"]), wholeNumber(r.Details["matches"])
		if was != now && was > 0 && now > 0 {
			checks = append(checks, Warned(checkMatches, "the selector of operation %d matches %d elements, in the lesson %d", i+1, now, was))
		}
	}
	return checks
}

// blanked returns the final URL of an outcome without the values of its parameters.
func blanked(o Outcome) string {
	u := routine.DecodedURL(o.URL)
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		if text := placeholder.Format(o.Values[name]); text != "" {
			u = strings.ReplaceAll(u, text, "{"+name+"}")
		}
	}
	return u
}

// Result fails if a result has another form than that of the lesson.
func Result(lesson, proof *routine.Result) Check {
	was, now := formOf(lesson), formOf(proof)
	switch {
	case was.kind != now.kind:
		return Failed(checkResult, "the result is %s, in the lesson it was %s", now, was)
	case was.kind == "file" && was.contentType != now.contentType:
		return Failed(checkResult, "the file is %s, in the lesson it was %s", now.contentType, was.contentType)
	case was.kind == "file" && was.magic != now.magic:
		return Failed(checkResult, "the file begins with %q, in the lesson with %q: its content is of another kind", now.magic, was.magic)
	}
	for _, key := range was.always {
		if !slices.Contains(now.always, key) && now.length > 0 {
			return Failed(checkResult, "the result is %s: the key %s, which it had in the lesson, is missing", now, quotedKey(key))
		}
	}
	for _, key := range now.always {
		if !slices.Contains(was.keys, key) && was.length > 0 {
			return Failed(checkResult, "the result is %s: the key %s was not there in the lesson", now, quotedKey(key))
		}
	}
	return Passed(checkResult, "%s", now)
}

// form is the form of a result, which stays the same while its values change.
type form struct {
	// kind is file, or the JSON type: null, boolean, number, string, object or array.
	kind string
	// length is the number of items of an array, or 1.
	length int
	// keys are those of an object or of the first objects of an array, always those that
	// each of them has.
	keys, always []string
	contentType  string
	magic        string // with which a file begins
}

// maxExamined is how many items of an array determine its form.
const maxExamined = 20

func formOf(r *routine.Result) form {
	if r == nil {
		return form{kind: "null"}
	}
	if r.IsBase64 {
		kind, _, _ := mime.ParseMediaType(r.ContentType)
		return form{kind: "file", length: 1, contentType: kind, magic: magicOf(r.Data)}
	}
	var v any
	if routine.DecodeJSON(r.Data, &v) != nil {
		return form{kind: "null"}
	}
	f := form{kind: jsonType(v), length: 1}
	switch v := v.(type) {
	case []any:
		f.length = len(v)
		f.keys, f.always = keysOf(v[:min(len(v), maxExamined)])
	case map[string]any:
		f.keys, f.always = keysOf([]any{v})
	}
	return f
}

// keysOf returns the keys that any of the objects has, and those that all of them have.
func keysOf(items []any) (keys, always []string) {
	count := map[string]int{}
	for _, item := range items {
		object, _ := item.(map[string]any)
		for k := range object {
			count[k]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(count)) {
		keys = append(keys, k)
		if count[k] == len(items) {
			always = append(always, k)
		}
	}
	return keys, always
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// quotedKey is a key in JSON quotes, for a message.
func quotedKey(k string) string {
	return routine.JSONText(routine.Truncate(routine.OneLine(routine.PlainText(k)), 30))
}

// plainKey matches the keys that are shown without quotes.
var plainKey = regexp.MustCompile(`^[\w.-]{1,40}$`)

// String returns the form in one line, as in items[23] of {id,name,price}.
func (f form) String() string {
	keys := ""
	if len(f.keys) > 0 {
		var shown []string
		for i, k := range f.keys {
			if i == 12 {
				shown = append(shown, "…")
				break
			}
			if !plainKey.MatchString(k) { // a site may write anything in its keys
				k = quotedKey(k)
			}
			shown = append(shown, k)
		}
		keys = routine.Truncate("{"+strings.Join(shown, ",")+"}", 200)
	}
	switch {
	case f.kind == "array" && keys != "":
		return fmt.Sprintf("items[%d] of %s", f.length, keys)
	case f.kind == "array":
		return fmt.Sprintf("items[%d]", f.length)
	case keys != "":
		return keys
	case f.kind == "file":
		return "a file " + f.contentType
	}
	return f.kind
}

// Shape is the form of a result in one line.
func Shape(r *routine.Result) string { return formOf(r).String() }

// magicOf returns the first bytes of a file, by which programs tell its kind; empty if it
// begins like a text.
func magicOf(data json.RawMessage) string {
	var encoded string
	if json.Unmarshal(data, &encoded) != nil {
		return ""
	}
	start, err := base64.StdEncoding.DecodeString(encoded[:min(len(encoded), 8)])
	if err != nil {
		return ""
	}
	start = start[:min(len(start), 4)]
	if strings.HasPrefix(string(start), "%PDF") || slices.ContainsFunc(start, func(b byte) bool { return b < '\t' || b > '~' }) {
		return string(start)
	}
	return ""
}

// Data returns the data of a result.
func Data(r *routine.Result) string {
	if r == nil {
		return ""
	}
	return string(r.Data)
}

// Empty reports whether a result has nothing in it: no items, no members, no text.
func Empty(r *routine.Result) bool {
	switch strings.TrimSpace(Data(r)) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}
