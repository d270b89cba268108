package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// helper is the code that finds, judges and reads elements. It is evaluated in
// a world of its own, which a hostile page can't bend.
//
//go:embed helper.js
var helper string

// help calls a function of the helper in the current document and decodes what
// it returns. A document that goes away while the function runs is errGone.
func help[R any](ctx context.Context, p *page, function string, args ...any) (R, error) {
	return inHelper[R](ctx, p, "rote."+function, args...)
}

// inHelper calls a function that an expression gives in the helper's world.
func inHelper[R any](ctx context.Context, p *page, function string, args ...any) (R, error) {
	var result R
	encoded := make([]string, len(args))
	for i, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			return result, fmt.Errorf("encode argument of %.30s: %w", function, err)
		}
		encoded[i] = string(b)
	}
	// A new document may come between learning of the world and using it.
	for attempt := 0; ; attempt++ {
		world, err := p.helperWorld(ctx)
		if err != nil {
			return result, gone(err)
		}
		value, err := evaluate(ctx, p, proto.RuntimeEvaluate{ContextID: world, AwaitPromise: true, ReturnByValue: true,
			Expression: function + "(" + strings.Join(encoded, ",") + ")"})
		if attempt < 3 && notLoaded(err) {
			if _, err := evaluate(ctx, p, proto.RuntimeEvaluate{ContextID: world, Expression: helper}); err != nil && !errors.Is(gone(err), errGone) {
				return result, err
			}
			continue
		}
		if errors.Is(gone(err), errGone) {
			p.forgetWorld(world)
			if attempt < 3 && staleWorld(err) {
				continue
			}
			return result, errGone
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

// helperName is the name of the helper's world.
const helperName = "helper"

// helperEverywhere puts the helper into each new document before its scripts
// run, so that it is there without a round trip when the document is.
var helperEverywhere = proto.PageAddScriptToEvaluateOnNewDocument{Source: helper, WorldName: helperName}

// helperWorld is the helper's world in the current document. The document that
// a new page begins with has none yet, and one that may run no scripts (CSP
// sandbox) has one without the helper.
func (p *page) helperWorld(ctx context.Context) (proto.RuntimeExecutionContextID, error) {
	p.mu.Lock()
	world := p.world
	p.mu.Unlock()
	if world != 0 {
		return world, nil
	}
	made, err := call[proto.PageCreateIsolatedWorldResult](ctx, p, proto.PageCreateIsolatedWorld{FrameID: proto.PageFrameID(p.target), WorldName: helperName})
	return made.ExecutionContextID, err
}

// worldEvent keeps track of the helper's world in the main frame.
func (p *page) worldEvent(method string, params json.RawMessage) {
	switch method {
	case "Runtime.executionContextCreated":
		e, ok := decode[struct {
			Context struct {
				ID      proto.RuntimeExecutionContextID
				Name    string
				AuxData struct{ FrameID proto.PageFrameID }
			}
		}](params)
		if ok && e.Context.Name == helperName && p.isMain(e.Context.AuxData.FrameID) {
			p.setWorld(e.Context.ID)
		}
	case "Runtime.executionContextDestroyed":
		if e, ok := decode[proto.RuntimeExecutionContextDestroyed](params); ok {
			p.forgetWorld(e.ExecutionContextID)
		}
	case "Runtime.executionContextsCleared":
		p.setWorld(0)
	}
}

func (p *page) setWorld(world proto.RuntimeExecutionContextID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.world = world
}

func (p *page) forgetWorld(world proto.RuntimeExecutionContextID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.world == world {
		p.world = 0
	}
}

// errGone: the document went away under an evaluation.
var errGone = errors.New("the document was replaced")

// gone turns the protocol's ways to say so into errGone.
func gone(err error) error {
	var e *cdp.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, text := range []string{"Cannot find context", "Execution context was destroyed", "Inspected target navigated or closed", "uniqueContextId not found", "No frame for given id"} {
		if strings.Contains(e.Message, text) {
			return errGone
		}
	}
	return err
}

// notLoaded tells that the world is there and the helper is not.
func notLoaded(err error) bool {
	var t *thrown
	return errors.As(err, &t) && strings.HasPrefix(t.text, "ReferenceError: rote is not defined")
}

// staleWorld tells that nothing has run: the world was gone before.
func staleWorld(err error) bool {
	var e *cdp.Error
	return errors.As(err, &e) && strings.Contains(e.Message, "Cannot find context")
}

// remote is the value of an evaluation. Unlike rod's it keeps the value's JSON
// as it came.
type remote struct {
	Type        string          `json:"type"`
	Subtype     string          `json:"subtype"`
	Value       json.RawMessage `json:"value"`
	Special     string          `json:"unserializableValue"`
	ObjectID    string          `json:"objectId"`
	Description string          `json:"description"`
}

// thrown is an exception of evaluated code.
type thrown struct{ text string }

func (t *thrown) Error() string { return t.text }

// evaluate runs an expression; *thrown when it throws.
func evaluate(ctx context.Context, p *page, m proto.Request) (remote, error) {
	answer, err := call[struct {
		Result    remote `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Line      int    `json:"lineNumber"`
			Column    int    `json:"columnNumber"`
			Exception remote `json:"exception"`
		} `json:"exceptionDetails"`
	}](ctx, p, m)
	if err != nil || answer.Exception == nil {
		return answer.Result, err
	}
	x := answer.Exception
	text := x.Exception.Description
	if text == "" {
		text = strings.TrimSpace(x.Text + " " + string(x.Exception.Value))
	}
	first, _, _ := strings.Cut(text, "\n")
	return remote{}, &thrown{fmt.Sprintf("%s (line %d, column %d)", first, x.Line+1, x.Column+1)}
}
