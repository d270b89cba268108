package service

import (
	"fmt"
	"rote/routine"
	"rote/routine/definition"
)

// A call that a caller may make does not give them the right to read what it
// acts on: a token may change routines that it may not read, and cancel
// executions that it may not read. Such a caller is answered what they need to
// refer to the object, and nothing of what another scope guards.

// routineAnswer returns r as the answer to a change that p made. If p may not read
// routines it is withheld.
func routineAnswer(r *routine.Routine, p routine.Principal) *routine.Routine {
	if may(p, toRead, routineObject(r)) == nil {
		return r
	}
	return &routine.Routine{ID: r.ID, ToolName: r.ToolName, OrganizationID: r.OrganizationID, Status: r.Status, Version: r.Version, Withheld: true,
		Definition: routine.Definition{Name: r.Name, IsMCPToolDesignated: r.IsMCPToolDesignated}}
}

// executionAnswer returns e as the answer to a call of p that acted on it. If p may not
// read executions it is withheld.
func executionAnswer(e *routine.Execution, p routine.Principal) *routine.Execution {
	if may(p, toReadExecutions, executionObject(e)) == nil {
		return e
	}
	return &routine.Execution{ID: e.ID, Status: e.Status, OrganizationID: e.OrganizationID, Withheld: true}
}

// standIn is a definition without any problem. It takes the place of a stored
// definition that the caller may not read.
const standIn = `{"name": "routine", "description": "Reads a page.", "operations": [{"type": "navigate", "url": "https://example.com/"}, {"type": "return_html"}]}`

// problemsOfPatch are the problems of a patch for a caller who may not read the
// routine that it changes: those that the text of the patch has by itself, in
// words that cite nothing of the routine, and one that counts the others. found
// are the problems that the patched routine has.
func problemsOfPatch(text []byte, status routine.Status, found []routine.Problem) []routine.Problem {
	if len(found) == 0 {
		return nil
	}
	d, _, err := definition.Parse([]byte(standIn))
	if err != nil {
		return withhold(found, nil)
	}
	r := routine.Routine{Definition: *d, Status: status}
	own, err := applyPatch(&r, text)
	if err != nil {
		own = append(own, routine.AsError(err).Problems...)
	}
	return withhold(found, own)
}

// withhold replaces each of the problems found by the one at the same place
// among own, and counts those without one.
func withhold(found, own []routine.Problem) []routine.Problem {
	type place struct{ pointer, code string }
	shown := map[place]routine.Problem{}
	for _, p := range own {
		shown[place{p.Pointer, p.Code}] = p
	}
	var kept []routine.Problem
	others := 0
	for _, p := range found {
		if known, ok := shown[place{p.Pointer, p.Code}]; ok {
			kept = append(kept, known)
		} else {
			others++
		}
	}
	if others > 0 {
		kept = append(kept, routine.Problem{Code: "withheld", Message: fmt.Sprintf("%d problems lie in parts of the routine that this token may not read", others),
			Hint: "use a token with the scope " + routine.ScopeRoutinesRead.String()})
	}
	return kept
}

// withheldProblems are the warnings and the error of a change to a routine that
// p may not read; hide tells what is shown of problems.
func withheldProblems(warnings []routine.Problem, err error, hide func([]routine.Problem) []routine.Problem) ([]routine.Problem, error) {
	warnings = hide(warnings)
	if e := routine.AsError(err); err != nil && len(e.Problems) > 0 {
		err = routine.Invalid("routine", hide(e.Problems))
	}
	return warnings, err
}
