package lesson

import (
	"encoding/json"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/lesson/parameters"
)

// The bounds of the answer to a SaveRequest: it stays below 32 KiB, whatever the operations
// and the page are. Sizes are in bytes of JSON, lengths in characters.
const (
	maxShownDefinition = 12 << 10
	maxShownPatch      = 6 << 10
	maxProposals       = 15
	maxPointers        = 10
	maxReplaced        = 20
	maxExcerpt         = 120
	maxSaveWarnings    = 15
	maxChecks          = 12
	maxCheckMessage    = 300
	maxProofNearest    = 5
)

// bound shortens what is too long for an answer, and says so.
func (s *Saved) bound() {
	if len(s.Definition) > maxShownDefinition {
		s.Definition = shortDefinition(s.Definition)
		s.Next += " Long texts of the definition are shortened here; what is saved is whole."
	}
	if len(s.Patch) > maxShownPatch {
		s.Patch = nil
		s.Next += " The difference from the version before is too long to show: the history of the routine has it."
	}
	s.Proposals = s.Proposals[:min(len(s.Proposals), maxProposals)]
	for i := range s.Proposals {
		s.Proposals[i].In = s.Proposals[i].In[:min(len(s.Proposals[i].In), maxPointers)]
	}
	s.Replaced = s.Replaced[:min(len(s.Replaced), maxReplaced)]
	for i, r := range s.Replaced {
		s.Replaced[i].From, s.Replaced[i].To = excerpts(r.From, r.To)
	}
	s.Warnings = s.Warnings[:min(len(s.Warnings), maxSaveWarnings)]
	for i := range s.Warnings {
		w := &s.Warnings[i]
		w.Message, w.Hint = routine.Truncate(w.Message, maxCheckMessage), routine.Truncate(w.Hint, maxCheckMessage)
	}
	if s.Proof != nil {
		s.Proof.bound()
	}
}

func (p *Proof) bound() {
	if more := len(p.Checks) - maxChecks; more > 0 { // those that failed are never left out: a proof ends with them
		kept := p.Checks[:0:0]
		for _, c := range p.Checks {
			if len(kept) < maxChecks || !c.Passed {
				kept = append(kept, c)
			}
		}
		p.Checks = kept
	}
	for i := range p.Checks {
		p.Checks[i].Message = routine.Truncate(p.Checks[i].Message, maxCheckMessage)
	}
	if p.Failure != nil {
		p.Failure.Message = routine.Truncate(p.Failure.Message, maxCheckMessage)
		p.Failure.Summary = routine.Truncate(p.Failure.Summary, maxSummary)
	}
	p.Nearest = p.Nearest[:min(len(p.Nearest), maxProofNearest)]
	for i := range p.Nearest {
		e := &p.Nearest[i]
		e.Selector, e.Text = routine.Truncate(e.Selector, 2*maxSummary), routine.Truncate(e.Text, maxSummary)
		e.Where, e.Problem = routine.Truncate(e.Where, 2*maxSummary), routine.Truncate(e.Problem, 2*maxSummary)
	}
}

// shortDefinition shortens the texts of a definition until it is short enough; nil if that
// does not suffice.
func shortDefinition(definition json.RawMessage) json.RawMessage {
	for _, most := range []int{1000, 300, 100} {
		short := parameters.ReplaceValues(definition, func(_ string, value json.RawMessage) json.RawMessage {
			var text string
			if json.Unmarshal(value, &text) != nil || utf8.RuneCountInString(text) <= most {
				return nil
			}
			return routine.RawJSON(routine.Truncate(text, most))
		})
		if len(short) <= maxShownDefinition {
			return short
		}
	}
	return nil
}

// excerpts returns the parts in which two JSON texts differ, with a little of what is around.
func excerpts(from, to json.RawMessage) (json.RawMessage, json.RawMessage) {
	if len(from) <= maxExcerpt && len(to) <= maxExcerpt {
		return from, to
	}
	a, b := unquoted(from), unquoted(to)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	cut := func(r []rune) json.RawMessage {
		start := max(0, same-maxExcerpt/3)
		text := string(r[start:min(len(r), start+maxExcerpt)])
		if start > 0 {
			text = "…" + text
		}
		if start+maxExcerpt < len(r) {
			text += "…"
		}
		return routine.RawJSON(text)
	}
	return cut(a), cut(b)
}

// unquoted is the text of a JSON string, or the JSON of another value.
func unquoted(value json.RawMessage) []rune {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return []rune(string(value))
	}
	return []rune(text)
}
