package guard

// stackFrame is one call of a call stack.
type stackFrame struct {
	Function string `json:"functionName"`
	ScriptID string `json:"scriptId"`
	Location struct {
		ScriptID string `json:"scriptId"`
	} `json:"location"` // instead of ScriptID while the page is paused
}

// script is the id of the script that the call is in.
func (f stackFrame) script() string {
	if f.ScriptID != "" {
		return f.ScriptID
	}
	return f.Location.ScriptID
}

// stack is a call stack and its parent: the one that started the promise or timer that
// it runs in.
type stack struct {
	Frames []stackFrame `json:"callFrames"`
	Parent *stack       `json:"parent"`
}

// asyncDepth is how many parents V8 keeps. Keeping any costs time; their number makes
// no measurable difference.
const asyncDepth = 32

// nearestScript is the id of the innermost script on the stack other than except; empty if
// there is none.
func nearestScript(s *stack, except string) string {
	for ; s != nil; s = s.Parent {
		for _, f := range s.Frames {
			if id := f.script(); id != except {
				return id
			}
		}
	}
	return ""
}

// causedByScript reports whether a js_evaluate script has caused what has this stack.
func (g *Guard) causedByScript(s *stack) bool {
	id := nearestScript(s, "")
	g.mu.Lock()
	defer g.mu.Unlock()
	return id != "" && g.evaluatedScripts[id]
}
