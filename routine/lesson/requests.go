package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/lesson/parameters"
	"rote/routine/operation"
	"rote/routine/requests"
)

// RequestList is a list of the page's requests for data.
type RequestList struct{ requests.Listing }

// Requests lists the requests for data that the page of a lesson of p has made, with the
// shapes of what was sent and answered. CodeInvalid if q.Since is no operation; the codes of
// Snapshot.
func (s *Lessons) Requests(ctx context.Context, p routine.Principal, id string, q RequestsQuery) (*RequestList, error) {
	ctx, l, release, err := s.acquireWithPage(ctx, p, id, "a list of requests")
	if err != nil {
		return nil, err
	}
	defer release()
	if q.Since < 0 || q.Since > len(l.kept) {
		return nil, routine.Errorf(routine.CodeInvalid, "since is the number of an operation, and there is no operation %d: the lesson has %d", q.Since, len(l.kept))
	}
	log, err := l.page.Requests(ctx, 0)
	if err != nil {
		return nil, l.checkPage(ctx, err)
	}
	list := requests.Query{Find: q.Find, During: l.requestedDuring, Secrets: l.session.Secrets()}
	if q.Since > 0 {
		list.After = l.kept[q.Since-1].lastRequest
	}
	return &RequestList{requests.List(log, list)}, nil
}

// requestedDuring names the operation during which a request was made.
func (l *lesson) requestedDuring(number int) string {
	for i, k := range l.kept {
		if number < k.firstRequest || number > k.lastRequest {
			continue
		}
		if k.operation.Type() == "navigate" {
			return "at load"
		}
		return fmt.Sprintf("by operation %d", i+1)
	}
	return ""
}

// RequestOperation is one request of the page as operations.
type RequestOperation struct {
	Number int `json:"request"`
	// Operations are to be done in this order: those that the request needs before it, the
	// request itself, and a return that makes its answer the result.
	Operations []json.RawMessage `json:"operations"`
	// Notes say where the values of the placeholders come from.
	Notes    []string `json:"notes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Parameters are those that need a value because nothing on the page has it.
	Parameters []routine.Parameter `json:"parameters,omitempty"`
	// LeftOut are headers of the page without which the answer was the same. Kept are those
	// of which it is not known whether the site needs them.
	LeftOut []string `json:"left_out,omitempty"`
	Kept    []string `json:"kept,omitempty"`
	// Tried is what a run of the operations in a fresh context showed; nil if they were not
	// tried. NotTried says why.
	Tried    *RequestTrial `json:"tried,omitempty"`
	NotTried string        `json:"not_tried,omitempty"`
	// Shape and Sample describe the answer that the page got, with secrets masked.
	Shape  string `json:"shape,omitempty"`
	Sample string `json:"sample,omitempty"`
}

// RequestTrial is what the operations of a request did in a fresh context.
type RequestTrial struct {
	// Status and Shape are those of the answer. Same reports whether both are as the page
	// got them.
	Status int    `json:"status"`
	Shape  string `json:"shape,omitempty"`
	Same   bool   `json:"same"`
	// PageStatus is that of the answer that the page got.
	PageStatus int `json:"page_status"`
	// Requests counts the requests that were sent to find this out.
	Requests int `json:"requests"`
	// Error says why there is no answer.
	Error string `json:"error,omitempty"`
}

// Request turns a request of the page of a lesson of p into a fetch operation, with the
// operations that it needs before it. If none of them changes anything on the site, they
// are tried in a fresh context. CodeNotFound also if there is no such request; CodeInvalid
// if it cannot be an operation; the codes of Snapshot.
func (s *Lessons) Request(ctx context.Context, p routine.Principal, id string, number int) (*RequestOperation, error) {
	ctx, l, release, err := s.acquireWithPage(ctx, p, id, fmt.Sprintf("request %d", number))
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeoutCause(ctx, callTime, errCallTime)
	defer cancel()
	log, err := l.page.Requests(ctx, 0)
	if err != nil {
		return nil, l.checkPage(ctx, err)
	}
	from := l.origins(ctx)
	traced, err := requests.Trace(log, number, from)
	if err != nil {
		return nil, err
	}
	t := &requestTrial{lesson: l, log: log, from: from, traced: traced}
	answer := t.run(ctx)
	if ctx.Err() != nil {
		return nil, routine.CauseOf(ctx)
	}
	return answer, nil
}

// origins are the values that the requests of the lesson may have been made of.
func (l *lesson) origins(ctx context.Context) requests.Origins {
	from := requests.Origins{Secrets: l.session.Secrets()}
	known := map[string]bool{}
	for i, k := range l.kept {
		for _, p := range k.parameters {
			if v := k.values[p.Name]; isScalar(v) {
				known[p.Name] = true
				from.Typed = append(from.Typed, requests.Typed{Name: p.Name, Value: v, Operation: i + 1})
			}
		}
		if text := literalText(k.operation); text != "" {
			from.Typed = append(from.Typed, requests.Typed{Value: text, Operation: i + 1})
		}
		if k.storedKey != "" {
			from.Keys = append(from.Keys, k.storedKey)
		}
		if k.pageValues.URL != "" {
			from.Pages = append(from.Pages, k.pageValues)
		}
	}
	for _, p := range l.parameters {
		from.Keys = append(from.Keys, p.Name)
		if ref, ok := routine.ParseSecretReference(l.given[p.Name].from); ok {
			if text, used := l.session.StoredSecret(ref); used {
				from.Typed = append(from.Typed, requests.Typed{Name: p.Name, Value: text})
			}
			continue
		}
		if v := parameters.Value(p, l.given[p.Name].value); isScalar(v) && !known[p.Name] {
			from.Typed = append(from.Typed, requests.Typed{Name: p.Name, Value: v})
		}
	}
	if now, err := l.page.PageValues(ctx); err == nil {
		from.Pages = append(from.Pages, now)
	}
	return from
}

// isScalar reports whether the value of a parameter can be a part of a request.
func isScalar(v any) bool {
	switch v.(type) {
	case string, json.Number, bool:
		return true
	}
	return false
}

// literalText is the text that an operation types, if it has no placeholder.
func literalText(o routine.Operation) string {
	var fields struct {
		Text string `json:"text"`
	}
	if o.Type() != "input_text" || json.Unmarshal(o.Raw(), &fields) != nil || operation.HasToken(fields.Text) {
		return ""
	}
	return fields.Text
}

// Text is the operations for a reader.
func (r *RequestOperation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d as operations, in this order:\n", routine.PageTextNotice, r.Number)
	for _, o := range r.Operations {
		fmt.Fprintf(&b, "%s\n", o)
	}
	lines := []string{strings.Join(r.Notes, " · ")}
	for _, p := range r.Parameters {
		lines = append(lines, fmt.Sprintf(`Needs a value that you know: "values":{"%s":"…"}, or the name of a stored secret: {"secret":"NAME"}.`, p.Name))
	}
	for _, w := range r.Warnings {
		lines = append(lines, "Warning: "+w+".")
	}
	if len(r.LeftOut) > 0 {
		lines = append(lines, "Left out as not needed: "+strings.Join(r.LeftOut, ", ")+" (the same answer without them in a fresh context).")
	}
	lines = append(lines, r.trialText())
	if r.Sample != "" {
		lines = append(lines, "The page's answer begins: "+r.Sample)
	}
	for _, line := range lines {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// trialText says what a run in a fresh context showed.
func (r *RequestOperation) trialText() string {
	kept := ""
	if len(r.Kept) > 0 { // of which it is not known
		kept = " Kept, perhaps not needed: " + strings.Join(r.Kept, ", ") + "."
	}
	t := r.Tried
	switch {
	case t == nil:
		return "Not tried: " + r.NotTried + "." + kept
	case t.Error != "":
		return "Tried in a fresh context: " + t.Error + " It may need operations before it, such as those that log in." + kept
	}
	text := fmt.Sprintf("Tried in a fresh context: %d", t.Status)
	switch {
	case t.Same && t.Shape != "":
		text += ", same shape " + routine.Truncate(t.Shape, maxTrialShape)
	case t.Same:
		text += ", as on the page"
	case t.Status != t.PageStatus:
		text += fmt.Sprintf(", but the page got %d: it may need operations before it, such as those that log in", t.PageStatus)
	default:
		text += ", but another shape"
		if t.Shape != "" {
			text += " " + routine.Truncate(t.Shape, maxTrialShape)
		}
		text += ": it may need operations before it, such as those that log in"
	}
	if t.Requests > 1 {
		text += fmt.Sprintf(" (%d requests were sent to find this out)", t.Requests)
	}
	return text + "." + kept
}

// maxTrialShape bounds the shape in the text about a trial, in characters.
const maxTrialShape = 120

// sameDataRequest is the number of the request whose answer has the data that an extraction
// found; 0 if there is none.
func (l *lesson) sameDataRequest(ctx context.Context, x *routine.Extraction) int {
	if x == nil || len(x.Rows) == 0 {
		return 0
	}
	log, err := l.page.Requests(ctx, 0)
	if err != nil {
		return 0 // only a hint
	}
	return requests.WithData(log, x.Rows[0], l.session.Secrets())
}
