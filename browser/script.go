package browser

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/guard"
	"rote/routine"
	"rote/routine/javascript"
)

// Limits of what a script may write to the console.
const (
	maxConsoleLines = 100
	maxConsoleLine  = 1000
)

// probeTime is how long a page has to answer after a script was terminated.
const probeTime = 2 * time.Second

// consoleOutput is what the page writes to its console.
type consoleOutput struct {
	lines  []string     // those of the script that runs; nil if none does
	script scriptSource // the last script that ran, whose exceptions are in the trace
	// bytes counts what all pages of the run have written, and for each message some. The
	// first page keeps it.
	bytes int
}

// Evaluate runs an author's script in the page's main world, watched by the page's guard
// unless the script is proved to only read.
func (p *page) Evaluate(ctx context.Context, s routine.Script) (routine.Evaluation, error) {
	if err := p.awaitRest(ctx); err != nil {
		return routine.Evaluation{}, err
	}
	if err := p.checkExposed(ctx, "a script may not run"); err != nil {
		return routine.Evaluation{}, err
	}
	p.mu.Lock()
	p.console.lines = []string{}
	p.mu.Unlock()
	value, err := p.script(ctx, s)
	p.mu.Lock()
	e := routine.Evaluation{JSON: jsonOf(value), Lost: lossWarning(value), Console: p.console.lines}
	p.console.lines = nil
	p.mu.Unlock()
	e.LeftoversStopped = p.hasStoppedLeftovers()
	if t, ok := errors.AsType[*scriptThrown](err); ok {
		e.Failed = t.by.place
		err = routine.Errorf(routine.CodeScriptError, "the script threw %s%s", t.text, t.by)
	}
	return e, err
}

// scriptThrown is the exception of an author's script.
type scriptThrown struct {
	text string
	by   thrownBy
}

func (t *scriptThrown) Error() string { return t.text }

func (p *page) script(ctx context.Context, s routine.Script) (cdp.RemoteObject, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, s.Limit, routine.ScriptTimeout(s.Limit))
	defer cancel()
	var v cdp.RemoteObject
	var err error
	// A script that only reads runs unwatched, unless it could run a getter or other
	// code that an earlier script has left behind.
	name := "about:" + strings.ToLower(rand.Text()) // random, because page code can read it from a stack
	if s.Facts.Reads && !p.hasLeftovers() {
		v, err = p.run(bounded, s, name)
	} else {
		v, err = p.runWatched(bounded, s, name)
	}
	switch t := (*scriptThrown)(nil); {
	case err != nil && p.errBlocked() != nil:
		return cdp.RemoteObject{}, p.errBlocked()
	case err != nil && bounded.Err() != nil:
		return cdp.RemoteObject{}, context.Cause(bounded)
	case errors.As(err, &t):
		return cdp.RemoteObject{}, t
	case errors.Is(cdp.AsGone(err), cdp.ErrGone):
		return cdp.RemoteObject{}, routine.Errorf(routine.CodeScriptError, "the page went away while the script ran")
	case err != nil:
		return cdp.RemoteObject{}, p.failure(ctx, err)
	}
	return v, nil
}

// maxScriptText bounds the JSON of an object that a script returns, in characters. It is
// checked in the page, which does not send a longer text.
const maxScriptText = 32 << 20

// run runs a script with a source URL and encodes its value as JSON. It terminates a
// script that takes too long. An exception is returned as a *scriptThrown.
func (p *page) run(ctx context.Context, s routine.Script, name string) (cdp.RemoteObject, error) {
	source := scriptSource{name: name}
	expression := s.Text
	if p.hasLeftovers() {
		expression, source.before = inNewTask(javascript.Expression(s.Text)), newTaskLines
	}
	p.mu.Lock()
	p.console.script = source
	p.mu.Unlock()
	begun := time.Now()
	v, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: expression + "\n//# sourceURL=" + name, AwaitPromise: true, UserGesture: true,
		Timeout: proto.RuntimeTimeDelta(s.Limit.Milliseconds())})
	if err == nil && v.ObjectID != "" {
		was := v
		v, err = p.stringify(ctx, v.ObjectID)
		v.Subtype, v.Class = was.Subtype, cmp.Or(was.Class, was.Type)
	}
	if terminated(err) || isInternalError(err) && time.Since(begun) >= s.Limit {
		<-ctx.Done() // the limit of the evaluation has ended a moment before ctx
		err = context.Cause(ctx)
	}
	if ctx.Err() != nil && err != nil {
		p.terminateScript()
	}
	if t, ok := errors.AsType[*cdp.ExceptionError](err); ok {
		by := source.place(t.ExceptionDetails)
		// What the script or a function that it calls throws has the script on its
		// stack. If the script does not compile, the stack contains at most paused
		// code, such as a function that an earlier script has left.
		if t.Text == "Uncaught" && t.Exception.Class == "SyntaxError" && by.place.Line == 0 {
			by = source.placeOfSyntaxError(t.ExceptionDetails)
		}
		err = &scriptThrown{exceptionText(t.ExceptionDetails), by}
	}
	return v, err
}

// stringifyScript is the function that encodes JSON in the page.
//
//go:embed stringify.js
var stringifyScript string

// keptStringify is the name of a constant in each document that holds the function of
// stringifyScript. It is random and a property of no object, so page code cannot reach it.
var keptStringify = "rote" + rand.Text()

// stringify encodes an object as JSON in the page. Functions and other values without
// JSON give undefined.
func (p *page) stringify(ctx context.Context, object string) (cdp.RemoteObject, error) {
	v, err := cdp.Evaluate(ctx, p, proto.RuntimeCallFunctionOn{ObjectID: proto.RuntimeRemoteObjectID(object), ReturnByValue: true,
		FunctionDeclaration: fmt.Sprintf(`function %s() {
			const s = typeof %s === 'function' ? %[2]s(this) : JSON.stringify(this);
			return s?.length > %d ? s.length : s;
		}`, guard.Stringifier, keptStringify, maxScriptText)})
	if v.Type == "number" {
		return cdp.RemoteObject{}, routine.Errorf(routine.CodeResultTooLarge, "the script's value has %s characters of JSON, the limit is %d: return less",
			v.Value, maxScriptText)
	}
	if err != nil || v.Type != "string" {
		return cdp.RemoteObject{}, err
	}
	text, err := cdp.Unquote(v.Value)
	if err != nil {
		return cdp.RemoteObject{}, err
	}
	return cdp.RemoteObject{Type: "json", Value: json.RawMessage(*text)}, nil
}

// jsonOf is the JSON of a value; nil for undefined.
func jsonOf(v cdp.RemoteObject) json.RawMessage {
	switch {
	case v.Type == "json":
		return v.Value
	case v.Type == "string":
		if text, err := cdp.Unquote(v.Value); err == nil {
			return routine.RawJSON(*text) // the protocol escapes more than necessary
		}
	case v.Special == "-0":
		return json.RawMessage("0")
	case strings.HasSuffix(v.Special, "n") && v.Type == "bigint":
		return json.RawMessage(strings.TrimSuffix(v.Special, "n"))
	case v.Special != "": // null for NaN and the infinities, like JSON.stringify
		return json.RawMessage("null")
	}
	return v.Value
}

// emptyItems matches the JSON of a list whose items have no JSON: an array or a DOM list.
var emptyItems = regexp.MustCompile(`^(\[(\{\},?)+\]|\{("\d+":\{\},?)+\})$`)

// lossWarning is a warning about what JSON could not represent of a script's value; empty if
// nothing relevant was lost.
func lossWarning(v cdp.RemoteObject) string {
	switch {
	case v.Type == "undefined":
		return "undefined, stored as null: is a return missing?"
	case v.Type == "" && v.Class != "":
		return "of type " + v.Class + ", which has no JSON: return data"
	case v.Type == "json" && string(v.Value) == "{}" && v.Subtype != "":
		return "of type " + v.Class + ", whose JSON is {}: return its text, attributes or entries"
	case v.Type == "json" && len(v.Value) <= maxEmpty && emptyItems.Match(v.Value):
		return "a list (" + v.Class + ") of what has no JSON, such as elements: return their texts or attributes"
	}
	return ""
}

// maxEmpty bounds the JSON that is matched against empty, in bytes.
const maxEmpty = 16 << 10

func terminated(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Execution was terminated")
}

// internalError is the JSON-RPC code for an internal error.
const internalError = -32603

// isInternalError reports whether V8 could not report the outcome of an evaluation, for
// instance when it was terminated while the script was catching another exception.
func isInternalError(err error) bool {
	var e *cdp.Error
	return errors.As(err, &e) && e.Code == internalError
}

// terminateScript terminates the script that the page is running. If the page does not answer
// afterwards, it counts as crashed: its next call fails instead of hanging.
func (p *page) terminateScript() {
	if !p.interruptScript(context.Background()) {
		p.crash()
	}
}

// interruptScript terminates the script that the page is running, and reports whether the
// page answers within probeTime. It may answer later: no termination ends what the browser
// itself does for the page, such as the layout of a large document.
func (p *page) interruptScript(ctx context.Context) bool {
	p.Send(proto.RuntimeTerminateExecution{})
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := p.Await(ctx, p.Send(proto.RuntimeEvaluate{Expression: "1+1"}))
	return err == nil || ctx.Err() == nil
}

// noteConsole records what a running script writes to the console.
func (p *page) noteConsole(e *proto.RuntimeConsoleAPICalled) {
	line := lineOf(e)
	if len(line) > maxConsoleLine {
		line = strings.ToValidUTF8(line[:maxConsoleLine], "") + "…"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.console.lines != nil && len(p.console.lines) < maxConsoleLines {
		p.console.lines = append(p.console.lines, line)
	}
}

// lineOf formats a call of a console function as one line.
func lineOf(e *proto.RuntimeConsoleAPICalled) string {
	var words []string
	for _, a := range e.Args {
		switch {
		case a.Type == proto.RuntimeRemoteObjectTypeString:
			words = append(words, a.Value.Str())
		case a.Description != "":
			words = append(words, cmp.Or(previewed(a.Preview), a.Description))
		case a.Value.Nil():
			words = append(words, cmp.Or(string(a.Subtype), string(a.Type))) // null, undefined
		default:
			words = append(words, a.Value.String())
		}
	}
	return string(e.Type) + ": " + strings.Join(words, " ")
}
