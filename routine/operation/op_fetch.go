package operation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/sanitize"
)

// opFetch is the operation fetch. Its fields are described in
// schemas/operations/fetch.json.
type opFetch struct {
	Endpoint   endpoint        `json:"endpoint"`
	SessionKey string          `json:"session_storage_key" fill:"text"`
	Sanitizer  json.RawMessage `json:"data_sanitizer"`
}

func (o *opFetch) subject() string   { return o.Endpoint.Method + " " + o.Endpoint.URL }
func (o *opFetch) storesKey() string { return o.SessionKey }

func (o *opFetch) request() *endpoint { return &o.Endpoint }
func (o *opFetch) check() []routine.Problem {
	problems := o.Endpoint.check()
	_, faults := sanitize.Parse(o.Sanitizer)
	return append(problems, faults...)
}

func (o *opFetch) Do(ctx context.Context, r *Run) error {
	response, err := r.fetch(ctx, &o.Endpoint)
	if err != nil {
		return err
	}
	if response.Status >= 400 {
		r.Warn(routine.DescribeStatus(response.URL, response.Status))
	}
	if o.SessionKey == "" {
		return nil
	}
	text, err := r.sanitize(ctx, o.Sanitizer, response.Body)
	if err != nil {
		return err
	}
	return r.store(ctx, o.SessionKey, text, true)
}

// maxLightText is the size in bytes up to which several runs may sanitize texts at the
// same time. Runs take turns with larger ones, because the work needs several times
// the text's memory.
const maxLightText = 1 << 20

// sanitize applies the data_sanitizer to a response and returns the text to store. Stored secrets
// are masked before, because a step could change one in a way in which it is not found.
func (r *Run) sanitize(ctx context.Context, sanitizer json.RawMessage, body []byte) (string, error) {
	steps, _ := sanitize.Parse(sanitizer)
	if len(steps) > 0 && len(body) > maxLightText {
		release, err := r.LargeText(ctx)
		if err != nil {
			return "", err
		}
		defer release()
	}
	// As Response.text() has it: no byte-order mark, no invalid UTF-8.
	text := bytes.TrimPrefix(body, []byte("\ufeff"))
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("�"))
	}
	if len(steps) > 0 {
		text = []byte(r.Secrets.Conceal(string(text)))
	}
	for _, s := range steps {
		var err error
		if text, err = s.Apply(ctx, text, r.MaxResult, r.Warn); err != nil {
			return "", err
		}
	}
	return string(text), nil
}

// fetch makes the endpoint's request and notes both heads in the record.
func (r *Run) fetch(ctx context.Context, e *endpoint) (routine.Response, error) {
	f := e.fetch()
	f.Release = r.Release
	r.SetDetail("request", map[string]any{"method": f.Method, "url": f.URL, "headers": maskHeaders(f.Headers)})
	response, err := r.Page.Fetch(ctx, f, r.MaxResult)
	if err != nil {
		return response, err
	}
	r.SetDetail("response", map[string]any{"status": response.Status, "url": response.URL,
		"headers": maskHeaders(response.Headers), "bytes": len(response.Body)})
	return response, nil
}

// warnings warns of the sanitizer's paths, in which nothing is filled in, too.
func (o *opFetch) warnings() []routine.Problem {
	problems := o.Endpoint.warnings()
	if !bytes.Contains(o.Sanitizer, []byte("{{")) {
		return problems
	}
	steps, _ := sanitize.Parse(o.Sanitizer)
	for _, s := range steps {
		if s == nil {
			continue
		}
		for _, path := range append([]string{s.Path}, s.Paths...) {
			if HasToken(path) {
				return append(problems, routine.Problem{Pointer: "/data_sanitizer", Code: "literal_placeholder",
					Message: fmt.Sprintf("placeholders are not filled in here: %s stays as it is written", routine.Truncate(path, 60))})
			}
		}
	}
	return problems
}

// checkCost counts every string of the sanitizer for a path.
func (o *opFetch) checkCost() int {
	return jsonPathEffort*bytes.Count(o.Sanitizer, []byte{'"'})/2 + o.Endpoint.checkCost()
}
