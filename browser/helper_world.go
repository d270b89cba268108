package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// Our own code in pages, the helper, runs in an isolated world that a hostile page cannot
// manipulate. It finds, checks, reads and acts on elements, observes where a press lands,
// and makes requests with the page's rights.
var (
	//go:embed dom.js
	domSource string
	//go:embed visible.js
	visibleSource string
	//go:embed point.js
	pointSource string
	//go:embed bring.js
	bringSource string
	//go:embed field.js
	fieldSource string
	//go:embed files.js
	filesSource string
	//go:embed actionability.js
	actionabilitySource string
	//go:embed motion.js
	motionSource string
	//go:embed endless_motion.js
	endlessMotionSource string
	//go:embed press.js
	pressSource string
	//go:embed lostclick.js
	lostClickSource string
	//go:embed typing.js
	typingSource string
	//go:embed shortcut.js
	shortcutSource string
	//go:embed request.js
	requestSource string
)

// withoutComments returns a script without its indentation, its empty lines and the lines
// that are comments, because each page gets a copy of it. No template literal of the script
// may span lines.
func withoutComments(script string) string {
	var kept []string
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// helperScript is the code of the helper. It may be evaluated twice. Its value is a
// primitive, so that the page keeps no object for us.
var helperScript = "if (!globalThis.rote) { const tellRun = globalThis." + tellRun + ";\n" + withoutComments(helperSource()) + "\n} 0"

func helperSource() string {
	return strings.Join([]string{domSource, visibleSource, pointSource, bringSource, fieldSource, filesSource, actionabilitySource, motionSource,
		endlessMotionSource, pressSource, lostClickSource, typingSource, shortcutSource, clipboardSource, "Object.assign(rote, " + requestSource + ");"}, "\n")
}

// helperName is the name of the helper's world.
const helperName = "helper"

// helperEverywhere adds the helper to each new document before its scripts run, which
// saves a round trip.
var helperEverywhere = cdp.Prepare(proto.PageAddScriptToEvaluateOnNewDocument{Source: helperScript, WorldName: helperName})

// Our code in the page's own world is added to each new document in the same way: what
// operations use there later, in constants that the page cannot reach, and the methods that
// write to the clipboard. Frames with a session of their own only need the latter.
var (
	pageCodeEverywhere = cdp.Prepare(proto.PageAddScriptToEvaluateOnNewDocument{Source: "const " + keptStringify + " = " + withoutComments(stringifyScript) +
		";\nconst " + keptRequest + " = " + withoutComments(requestSource) + ";\n" + clipboardScript})
	clipboardEverywhere = cdp.Prepare(proto.PageAddScriptToEvaluateOnNewDocument{Source: clipboardScript})
)

// viewer is a page or a view of a frame.
type viewer interface{ viewed() *frameView }

// help calls a function of the helper in the current document and decodes its result. It
// fails with cdp.ErrGone if the document is replaced while the function runs.
func help[R any](ctx context.Context, in viewer, function string, args ...any) (R, error) {
	return inHelper[R](ctx, in, "rote."+function, args...)
}

// inHelper calls the function that an expression evaluates to in the helper's world. On a
// page that may be paused it runs in a task of its own, which uses a timer of the page.
func inHelper[R any](ctx context.Context, in viewer, function string, args ...any) (R, error) {
	return callHelper[R](ctx, in, in.viewed().p.hasLeftovers, function, args...)
}

// inHelperWithoutTimer is inHelper for a function that returns no promise. It also
// works when script execution is disabled in the page, which stops its timers.
func inHelperWithoutTimer[R any](ctx context.Context, in viewer, function string, args ...any) (R, error) {
	return callHelper[R](ctx, in, func() bool { return false }, function, args...)
}

// callHelper implements inHelper; inTask reports whether the function runs in a task of
// its own.
func callHelper[R any](ctx context.Context, in viewer, inTask func() bool, function string, args ...any) (R, error) {
	var result R
	v := in.viewed()
	called, err := helperCall(function, args)
	if err != nil {
		return result, err
	}
	// The document may be replaced between looking up the world and using it.
	for attempt := 0; ; attempt++ {
		id, made, err := v.worldOrNew(ctx)
		if err != nil {
			return result, cdp.AsGone(err)
		}
		expression := called
		if inTask() {
			expression = inNewTask(called)
		}
		if made { // as the same text as for new documents, so that V8 compiles it once
			v.Send(proto.RuntimeEvaluate{ContextID: id, Expression: helperScript}).Forget()
		}
		value, err := cdp.Evaluate(ctx, v, proto.RuntimeEvaluate{ContextID: id, AwaitPromise: true, ReturnByValue: true, Expression: expression})
		if attempt < 3 && notLoaded(err) {
			if _, err := cdp.Evaluate(ctx, v, proto.RuntimeEvaluate{ContextID: id, Expression: helperScript}); err != nil && !errors.Is(cdp.AsGone(err), cdp.ErrGone) {
				return result, err
			}
			continue
		}
		if errors.Is(cdp.AsGone(err), cdp.ErrGone) {
			v.forget(id)
			if attempt < 3 && staleWorld(err) {
				continue
			}
			return result, cdp.ErrGone
		}
		if err != nil {
			return result, err
		}
		if value.Value == nil {
			return result, nil // undefined
		}
		return result, json.Unmarshal(value.Value, &result)
	}
}

// helperCall is the expression that calls a function with these arguments.
func helperCall(function string, args []any) (string, error) {
	encoded := make([]string, len(args))
	for i, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			return "", fmt.Errorf("encode argument of %.30s: %w", function, err)
		}
		encoded[i] = string(b)
	}
	return function + "(" + strings.Join(encoded, ",") + ")", nil
}

// notLoaded reports whether the world exists without the helper.
func notLoaded(err error) bool {
	var t *cdp.ExceptionError
	return errors.As(err, &t) && strings.HasPrefix(t.Error(), "ReferenceError: rote is not defined")
}

// staleWorld reports whether nothing has run because the world no longer existed.
func staleWorld(err error) bool {
	var e *cdp.Error
	return errors.As(err, &e) && strings.Contains(e.Message, "Cannot find context")
}
