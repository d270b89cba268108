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
	var result R
	encoded := make([]string, len(args))
	for i, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			return result, fmt.Errorf("encode argument of %s: %w", function, err)
		}
		encoded[i] = string(b)
	}
	// A new document may come between making the world and using it.
	for attempt := 0; ; attempt++ {
		world, err := p.helperWorld(ctx)
		if err != nil {
			return result, gone(err)
		}
		value, err := evaluate(ctx, p, proto.RuntimeEvaluate{ContextID: world, AwaitPromise: true, ReturnByValue: true,
			Expression: "rote." + function + "(" + strings.Join(encoded, ",") + ")"})
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

// helperWorld is the helper's world in the current document, made when needed.
func (p *page) helperWorld(ctx context.Context) (proto.RuntimeExecutionContextID, error) {
	p.mu.Lock()
	world, loader := p.world, p.state.loader
	p.mu.Unlock()
	if world != 0 {
		return world, nil
	}
	made, err := call[proto.PageCreateIsolatedWorldResult](ctx, p, proto.PageCreateIsolatedWorld{FrameID: proto.PageFrameID(p.target), WorldName: "helper"})
	if err != nil {
		return 0, err
	}
	world = made.ExecutionContextID
	if _, err := evaluate(ctx, p, proto.RuntimeEvaluate{ContextID: world, Expression: helper, ReturnByValue: false}); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.loader == loader {
		p.world = world
	}
	return world, nil
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
