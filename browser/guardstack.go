package browser

// frame is a place in a call stack.
type frame struct {
	Function string `json:"functionName"`
	ScriptID string `json:"scriptId"`
	Location struct {
		ScriptID string `json:"scriptId"`
	} `json:"location"` // instead of ScriptID while the page is paused
}

func (f frame) script() string {
	if f.ScriptID != "" {
		return f.ScriptID
	}
	return f.Location.ScriptID
}

// stack is a call stack and, in parent, the one that has set off the promise or
// timer that it runs in.
type stack struct {
	Frames []frame `json:"callFrames"`
	Parent *stack  `json:"parent"`
}

// asyncDepth is how many such parents are kept. What costs is that they are
// kept at all; one or many makes no measurable difference.
const asyncDepth = 32

// nearest is the script of the innermost frame, outside of except; empty when
// there is none.
func nearest(s *stack, except string) string {
	for ; s != nil; s = s.Parent {
		for _, f := range s.Frames {
			if id := f.script(); id != except {
				return id
			}
		}
	}
	return ""
}

// isOurs tells that a script of js_evaluate has caused what has this stack.
func (g *guard) isOurs(s *stack) bool {
	id := nearest(s, "")
	g.mu.Lock()
	defer g.mu.Unlock()
	return id != "" && g.ours[id]
}
