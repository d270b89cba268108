package browser

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"

	"github.com/go-rod/rod/lib/proto"
)

// A page calls some of the watched functions for every element that it makes. A
// pause for each call, of half a millisecond, would stop its lists and grids. So
// the page itself judges first who calls.

// lookoutScript judges calls in the page.
//
//go:embed guardstack.js
var lookoutScript string

// hooks are the watched functions that pages call often. What a call of one that
// escapes the page's own judgement leaves behind is stopped when it runs.
var hooks = map[string]bool{
	"EventTarget.prototype.addEventListener": true, "MutationObserver.prototype.observe": true, "IntersectionObserver.prototype.observe": true,
	"ResizeObserver.prototype.observe": true, "PerformanceObserver.prototype.observe": true,
}

// lookOut makes the constant by which a realm judges calls of hooks. Nothing of
// the page leads to it: its name is random, and no object has it.
func (g *guard) lookOut(ctx context.Context, realm proto.RuntimeExecutionContextID) error {
	g.mu.Lock()
	has := g.hasLookout[realm]
	g.hasLookout[realm] = true
	if g.lookout == "" {
		g.lookout = "rote" + rand.Text()
	}
	name := g.lookout
	g.mu.Unlock()
	if has {
		return nil
	}
	expression := fmt.Sprintf("const %s = %s\n//# sourceURL=about:%s", name, lookoutScript, name)
	_, err := evaluate(ctx, g.p, proto.RuntimeEvaluate{ContextID: realm, Expression: expression})
	if _, threw := errors.AsType[*thrown](err); threw || errors.Is(gone(err), errGone) {
		return nil // where there is no such constant, every call is looked at
	}
	return err
}

// condition is the expression that lets a call of a watched function pause the
// page; empty: each does.
func (g *guard) condition(w watch) string {
	if !hooks[w.name] {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	skip := 0
	if w.wrapped { // the page's own function in its place is itself on the stack
		skip = 1
	}
	return fmt.Sprintf("(() => { try { return !%s('about:%s', %d) } catch { return true } })()\n//# sourceURL=about:%s", g.lookout, g.lookout, skip, g.lookout)
}
