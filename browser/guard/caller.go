package guard

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// Pages call some of the watched functions for every element that they create. A
// pause of half a millisecond for each call would make lists and grids unusable, so
// a breakpoint condition in the page first finds out who calls.

// callerCheckScript is the function that finds out who calls.
//
//go:embed caller.js
var callerCheckScript string

// hooks are the watched functions that pages call often. If a script evades the
// condition, the handler that it registers is stopped when it runs.
var hooks = map[string]bool{
	"EventTarget.prototype.addEventListener": true, "MutationObserver.prototype.observe": true, "IntersectionObserver.prototype.observe": true,
	"ResizeObserver.prototype.observe": true, "PerformanceObserver.prototype.observe": true,
}

// addCallerCheck defines the constant with that function in a realm. Page code cannot reach
// it: its name is random, and it is a property of no object.
func (g *Guard) addCallerCheck(ctx context.Context, realm proto.RuntimeExecutionContextID) error {
	g.mu.Lock()
	has := g.hasCallerCheck[realm]
	g.hasCallerCheck[realm] = true
	if g.callerCheck == "" {
		g.callerCheck = "rote" + rand.Text()
	}
	name := g.callerCheck
	g.mu.Unlock()
	if has {
		return nil
	}
	expression := fmt.Sprintf("const %s = %s\n//# sourceURL=about:%s", name, callerCheckScript, name)
	_, err := cdp.Evaluate(ctx, g.page, proto.RuntimeEvaluate{ContextID: realm, Expression: expression})
	if _, threw := errors.AsType[*cdp.ExceptionError](err); threw || errors.Is(cdp.AsGone(err), cdp.ErrGone) {
		return nil // without the constant, every call pauses the page
	}
	return err
}

// condition is the breakpoint condition of a watched function; empty if every call
// pauses the page.
func (g *Guard) condition(w watch) string {
	if !hooks[w.name] {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	skip := 0
	if w.wrapped { // the page's replacement is itself on the stack
		skip = 1
	}
	return fmt.Sprintf("(() => { try { return !%[1]s('about:%[1]s', %[2]d) } catch { return true } })()\n//# sourceURL=about:%[1]s", g.callerCheck, skip)
}
