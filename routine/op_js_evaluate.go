package routine

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"rote/routine/javascript"
	"rote/routine/placeholder"
)

type opJSEvaluate struct {
	JS             string  `json:"js" fill:"script"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	SessionKey     string  `json:"session_storage_key" fill:"text"`
}

func (o *opJSEvaluate) storesKey() string { return o.SessionKey }
func (o *opJSEvaluate) limit() (time.Duration, string) {
	return seconds(o.TimeoutSeconds), "timeout_seconds"
}

func (o *opJSEvaluate) check() []Problem {
	var problems []Problem
	for _, p := range javascript.Check(harmlessScript(o.JS)) {
		problems = append(problems, Problem{Pointer: "/js", Line: p.Line, Column: p.Column, Code: p.Code, Message: p.Message, Hint: p.Hint})
	}
	return problems
}

// harmlessScript is the script with a number as long as the token in the place
// of each parameter: what the rules can be decided on before the values are
// known, with the places of faults unmoved. Filling never changes a script's
// structure, so what holds for it holds for every run.
func harmlessScript(script string) string {
	t, _ := placeholder.Parse(script, placeholder.Script)
	filled, err := t.FillText(func(tok placeholder.Token) (any, bool) {
		return json.Number(strings.Repeat("1", len(tok.Raw))), true
	})
	if err != nil {
		return script
	}
	return filled
}

func (o *opJSEvaluate) Do(ctx context.Context, r *Run) error {
	e, err := r.page.Evaluate(ctx, o.JS, seconds(o.TimeoutSeconds))
	if len(e.Console) > 0 {
		r.detail("console", e.Console)
	}
	if err != nil {
		return err
	}
	if o.SessionKey == "" {
		return nil
	}
	text := string(e.JSON)
	if e.JSON == nil {
		text = "null" // undefined, and what JSON cannot say
	}
	return r.store(ctx, o.SessionKey, text, true)
}
