package lesson

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/javascript"
	"rote/routine/lesson/candidate"
	"rote/routine/lesson/jsonobject"
	"rote/routine/placeholder"
)

// scriptSelector is a selector in a script and where that has it, in bytes. For an id that
// begins at the call.
type scriptSelector struct {
	selector   string
	start, end int
}

var (
	// selectorCall ends with a call whose argument is a selector, idCall with one whose
	// argument is an id.
	selectorCall = regexp.MustCompile(`\.(querySelector|querySelectorAll|closest|matches)\(\s*$`)
	idCall       = regexp.MustCompile(`\.getElementById\(\s*$`)
	// plainID is an id that needs no escape in a selector.
	plainID = regexp.MustCompile(`^[A-Za-z_][\w-]*$`)
)

const (
	// maxScriptSelectors bounds the selectors of a script that are looked for.
	maxScriptSelectors = 10
	// maxMendedScript bounds a script for which there are candidates, in bytes: each of
	// them has the whole script.
	maxMendedScript = 64 << 10
)

// scriptSelectorPlaces returns the selectors that a script has as literals without
// placeholders, in order.
func scriptSelectorPlaces(script string) []scriptSelector {
	var all []scriptSelector
	for _, s := range placeholder.ScriptStrings(script) {
		text := javascript.Unescape([]byte(script[s.Start+1 : s.End-1]))
		if strings.Contains(text, "{{") {
			continue
		}
		before := script[max(0, s.Start-60):s.Start]
		switch call := idCall.FindStringIndex(before); {
		case selectorCall.MatchString(before):
			all = append(all, scriptSelector{text, s.Start, s.End})
		case call != nil && plainID.MatchString(text):
			all = append(all, scriptSelector{"#" + text, s.Start - (len(before) - call[0]), s.End})
		}
	}
	return all
}

// scriptSelectors returns the selectors of a script, each once.
func scriptSelectors(script string) []scriptSelector {
	var found []scriptSelector
	for _, s := range scriptSelectorPlaces(script) {
		if !slices.ContainsFunc(found, func(f scriptSelector) bool { return f.selector == s.selector }) && len(found) < maxScriptSelectors {
			found = append(found, s)
		}
	}
	return found
}

// withScriptSelector returns a script with another selector at all places of one.
func withScriptSelector(script, was, now string) string {
	for _, s := range slices.Backward(scriptSelectorPlaces(script)) {
		if s.selector != was {
			continue
		}
		text := routine.JSONText(now)
		if script[s.start] == '.' { // of getElementById
			text = ".querySelector(" + text
		}
		script = script[:s.start] + text + script[s.end:]
	}
	return script
}

// scriptCandidates proposes other selectors for those of a script that match nothing now.
func (s *search) scriptCandidates(ctx context.Context, o routine.Operation) []candidate.Candidate {
	var fields struct {
		Script string `json:"js"`
	}
	_ = json.Unmarshal(o.Raw(), &fields) // a stored operation is well-formed
	if len(fields.Script) > maxMendedScript {
		return nil
	}
	var all []candidate.Candidate
	for _, lost := range scriptSelectors(fields.Script) {
		d, err := s.page.Describe(ctx, lost.selector, routine.UseRead, s.secrets)
		if err != nil || d.Matches > 0 {
			continue
		}
		found, err := s.page.FindElements(ctx, routine.ElementQuery{Lost: lost.selector, Use: routine.UseRead, Secrets: s.secrets})
		if err != nil {
			continue
		}
		for _, c := range candidate.ForElement(candidate.LostElement{Operation: o, Selector: lost.selector}, found) {
			script := withScriptSelector(fields.Script, lost.selector, c.Selector)
			if c.Operation, err = jsonobject.Set(o.Raw(), "js", routine.RawJSON(script)); err == nil {
				c.Why = "the script looks for " + lost.selector + ", which matches nothing now; " + c.Why
				all = append(all, c)
			}
		}
	}
	return candidate.Best(all)
}
