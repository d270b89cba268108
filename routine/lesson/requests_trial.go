package lesson

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/engine"
	"rote/routine/requests"
)

const (
	// trialTime bounds the trial of a request in fresh contexts.
	trialTime = 20 * time.Second
	// maxExtraRequests bounds the requests that find out which headers are needed.
	maxExtraRequests = 6
)

// requestTrial tries the operations of a request in a fresh context, and finds out which of
// its headers the site needs. It sends only requests that change nothing on the site.
type requestTrial struct {
	lesson *lesson
	log    routine.RequestLog
	from   requests.Origins
	traced *requests.Traced
	sent   int // requests, without those of a navigation
}

// fetched is the answer to a fetch operation of a trial.
type fetched struct {
	status int
	text   string
	err    error
}

// run tries the request and describes it.
func (t *requestTrial) run(ctx context.Context) *RequestOperation {
	r := t.traced.Request
	answer := &RequestOperation{Number: r.Number, Shape: t.traced.Shape, Sample: t.traced.Sample}
	answer.Kept = slices.DeleteFunc(slices.Clone(t.traced.Optional), func(name string) bool { return slices.Contains(t.traced.Credentials, name) })
	if answer.NotTried = t.unfit(); answer.NotTried == "" {
		bounded, cancel := context.WithTimeout(ctx, trialTime)
		defer cancel()
		t.try(bounded, answer)
	}
	answer.Operations = append(slices.Clone(t.traced.Before), t.traced.Operation, t.traced.Return)
	answer.Notes, answer.Warnings, answer.Parameters = t.traced.Notes, t.traced.Warnings, t.traced.Parameters
	return answer
}

// unfit says why the request must not be tried; empty if it can be.
func (t *requestTrial) unfit() string {
	if len(t.traced.Acting) > 0 {
		return strings.Join(t.traced.Acting, ", ") + " may change something on the site"
	}
	return ""
}

// operations are the operations of a traced request up to the fetch itself.
func (t *requestTrial) operations(traced *requests.Traced) []routine.Operation {
	var all []routine.Operation
	for _, raw := range append(slices.Clone(traced.Before), traced.Operation) {
		var o routine.Operation
		if json.Unmarshal(raw, &o) == nil { // they are from package requests
			all = append(all, o)
		}
	}
	return all
}

// try runs the request in a fresh context and describes what came of it. If the answer
// differs from the page's, it tries once more from the page that had sent it.
func (t *requestTrial) try(ctx context.Context, answer *RequestOperation) {
	session, closePage, got := t.fresh(ctx, t.traced)
	if !t.asOnPage(got) && ctx.Err() == nil && !t.from.Navigate {
		from := t.from
		from.Navigate = true
		if traced, err := requests.Trace(t.log, t.traced.Request.Number, from); err == nil && len(traced.Before) > len(t.traced.Before) {
			again, closeAgain, second := t.fresh(ctx, traced)
			if t.asOnPage(second) {
				closePage()
				t.from, t.traced, session, closePage, got = from, traced, again, closeAgain, second
			} else {
				closeAgain()
			}
		}
	}
	defer closePage()
	same := t.asOnPage(got)
	if same && len(t.traced.Optional) > 0 {
		t.minimise(ctx, session, got, answer)
	}
	answer.Tried = &RequestTrial{Status: got.status, Same: same, PageStatus: t.traced.Request.Status, Requests: t.sent,
		Shape: requests.Shape([]byte(got.text), t.from.Secrets)}
	if got.err != nil {
		answer.Tried.Error = requests.MaskError(session.Mask(routine.AsError(got.err).Message), t.from.Secrets)
	}
}

// asOnPage reports whether an answer has the status and the shape of the one that the page
// got.
func (t *requestTrial) asOnPage(got fetched) bool {
	r := t.traced.Request
	return got.err == nil && got.status == r.Status && (r.AnswerLost || requests.SameShape([]byte(got.text), r.Answer))
}

// fresh runs the operations of a request on a page of its own, which the caller closes.
func (t *requestTrial) fresh(ctx context.Context, traced *requests.Traced) (session *engine.Session, closePage func(), got fetched) {
	page, session, err := t.lesson.freshPage(ctx)
	if err != nil {
		return t.lesson.session, func() {}, fetched{err: err}
	}
	for _, o := range t.operations(traced) {
		if got = t.do(ctx, session, o); got.err != nil {
			break
		}
	}
	return session, page.Close, got
}

// do runs one operation. The answer is that of a fetch.
func (t *requestTrial) do(ctx context.Context, session *engine.Session, o routine.Operation) fetched {
	values := routine.Values{}
	for _, typed := range t.from.Typed {
		if typed.Name != "" && t.lesson.given[typed.Name].from == "" { // a stored secret is read where its rules are known
			values[typed.Name] = typed.Value
		}
	}
	for name, v := range t.traced.Values {
		values[name] = v
	}
	declared := append(slices.Clone(t.lesson.parameters), t.traced.Parameters...)
	if o.Type() == "fetch" {
		t.sent++
	}
	done, err := session.Do(ctx, declared, values, o)
	t.lesson.lessons.service.RecordLessonUses(ctx, t.lesson.owner, done.SecretUses)
	got := fetched{text: done.Stored, err: err}
	if response, ok := done.Record.Details["response"].(map[string]any); ok {
		got.status, _ = response["status"].(int)
	}
	return got
}

// minimise leaves out the headers without which the answer is the same: first all of them,
// then one after the other.
func (t *requestTrial) minimise(ctx context.Context, session *engine.Session, want fetched, answer *RequestOperation) {
	var fetch routine.Operation
	if json.Unmarshal(t.traced.Operation, &fetch) != nil {
		return
	}
	names, sent := t.traced.Optional, t.sent
	without := func(out []string) bool {
		got := t.do(ctx, session, withoutHeaders(fetch, out))
		return got.err == nil && got.status == want.status && requests.SameShape([]byte(got.text), []byte(want.text))
	}
	var out, unknown []string
	if without(names) {
		out = names
	} else if len(names) > 1 {
		for _, name := range names {
			switch with := append(slices.Clone(out), name); {
			case t.sent-sent >= maxExtraRequests || ctx.Err() != nil:
				unknown = append(unknown, name)
			case without(with):
				out = with
			}
		}
	}
	answer.Kept = unknown
	if len(out) == 0 {
		return
	}
	from := t.from
	from.WithoutHeaders = out
	if traced, err := requests.Trace(t.log, t.traced.Request.Number, from); err == nil {
		t.traced, answer.LeftOut = traced, out
	}
}

// withoutHeaders is a fetch operation without some of its headers.
func withoutHeaders(o routine.Operation, names []string) routine.Operation {
	var fields, endpoint, headers map[string]json.RawMessage
	if json.Unmarshal(o.Raw(), &fields) != nil || json.Unmarshal(fields["endpoint"], &endpoint) != nil || json.Unmarshal(endpoint["headers"], &headers) != nil {
		return o
	}
	for _, name := range names {
		delete(headers, name)
	}
	endpoint["headers"] = routine.RawJSON(headers)
	fields["endpoint"] = routine.RawJSON(endpoint)
	return routine.NewOperation(o.Type(), routine.RawJSON(fields))
}
