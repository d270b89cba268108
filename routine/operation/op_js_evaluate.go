package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/javascript/facts"
)

// opJSEvaluate is the operation js_evaluate. Its fields are described in
// schemas/operations/js_evaluate.json.
type opJSEvaluate struct {
	JS             string  `json:"js" fill:"script"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	SessionKey     string  `json:"session_storage_key" fill:"text"`
}

func (o *opJSEvaluate) storesKey() string { return o.SessionKey }
func (o *opJSEvaluate) script() string    { return o.JS }
func (o *opJSEvaluate) limit() (time.Duration, string) {
	return routine.Seconds(o.TimeoutSeconds), "timeout_seconds"
}

func (o *opJSEvaluate) Do(ctx context.Context, r *Run) error {
	e, err := r.Page.Evaluate(ctx, routine.Script{Text: o.JS, Limit: routine.Seconds(o.TimeoutSeconds), Facts: facts.Prove(o.JS)})
	if len(e.Console) > 0 {
		r.SetDetail("console", e.Console)
	}
	r.FailedAt = e.Failed
	if errors.Is(err, routine.ErrOperationLimit) {
		err = routine.ScriptTimeout(routine.Seconds(o.TimeoutSeconds))
		if e.LeftoversStopped {
			err = routine.Errorf(routine.CodeTimeout, "%w. It may wait for code of an earlier js_evaluate (a timer, a callback, an async function), "+
				"which was stopped because that script had ended: await it in the script that starts it", err)
		}
	}
	if err != nil {
		return err
	}
	if o.SessionKey == "" {
		return nil
	}
	if e.Lost != "" {
		r.Warn(fmt.Sprintf("what the script returns for %s is %s", routine.Quote(routine.Truncate(o.SessionKey, 80)), e.Lost))
	}
	text := string(e.JSON)
	if e.JSON == nil {
		text = "null" // undefined, and what JSON cannot say
	}
	return r.store(ctx, o.SessionKey, text, true)
}
