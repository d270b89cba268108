package operation

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"rote/routine"
)

// opInputText is the operation input_text. Its fields are described in
// schemas/operations/input_text.json.
type opInputText struct {
	Selector  string          `json:"selector" fill:"selector"`
	Text      string          `json:"text" fill:"text"`
	Clear     bool            `json:"clear"`
	TimeoutMS routine.Integer `json:"timeout_ms"`
	// Files names the parameter whose files are handed in instead of a text.
	Files    string `json:"x-files"`
	Optional bool   `json:"x-optional"`
}

func (o *opInputText) subject() string { return o.Selector }
func (o *opInputText) limit() (time.Duration, string) {
	return o.TimeoutMS.Milliseconds(), "timeout_ms"
}
func (o *opInputText) isOptional() bool              { return o.Optional }
func (o *opInputText) setTimeout(ms routine.Integer) { o.TimeoutMS = ms }

func (o *opInputText) check() []routine.Problem {
	if o.Files == "" || o.Text == "" {
		return nil
	}
	return []routine.Problem{{Pointer: "/text", Code: "conflict", Message: "an input_text with x-files types no text", Hint: `write "text": ""`}}
}

func (o *opInputText) Do(ctx context.Context, r *Run) error {
	t := routine.Typing{Selector: o.Selector, Text: o.Text, Clear: o.Clear, Release: r.Release}
	if o.Files != "" {
		t.Files, _ = r.Parameters[o.Files].([]routine.InputFile)
		uploaded := make([]string, len(t.Files))
		for i, f := range t.Files {
			uploaded[i] = f.String()
		}
		r.SetDetail("uploaded", uploaded)
		if len(t.Files) == 0 {
			return nil // the parameter is optional and has no value
		}
	}
	if t.Release == nil && r.Secrets.ContainsSecret(o.Text) { // of an HttpOnly cookie, for instance
		t.Release = &routine.Release{Texts: []routine.Hidden{routine.Hidden(o.Text)}}
	}
	found, err := r.Page.Type(ctx, t)
	if err != nil && len(found.Options) > 0 {
		r.SetDetail("options", found.Options)
	}
	if err != nil && found.Final {
		return err
	}
	if err != nil {
		return withLimit(err, o.TimeoutMS)
	}
	r.noteFound(o.Selector, found)
	if found.Left {
		r.Warn(fmt.Sprintf("the page left when %q got the focus, before the text was typed", o.Selector))
	}
	if found.Differs {
		r.Warn(o.difference(found, r.shownValue(found, o.Text)))
	}
	return nil
}

// difference describes how the text of the element differs from what was typed. value
// is that text as it may be shown.
func (o *opInputText) difference(f routine.Match, value string) string {
	switch {
	case f.Arrived == routine.ArrivedNothing && f.Value == "":
		return fmt.Sprintf("nothing of the text arrived in %s, which is empty: the page refused it", o.Selector)
	case f.Arrived == routine.ArrivedNothing:
		return fmt.Sprintf("nothing of the text arrived in %s, which still holds %s: the page refused it", o.Selector, value)
	case f.Arrived == routine.ArrivedAdded:
		return fmt.Sprintf("%s holds %s: the whole text arrived and the page added to it, as an input mask does", o.Selector, value)
	}
	return fmt.Sprintf("%s holds another text than was typed, %s: the page changed or refused part of it", o.Selector, value)
}

// maxShownValue is how many characters of a field's value a warning shows.
const maxShownValue = 200

// shownValue returns the value of a field as a warning shows it. It is masked if the
// field hides it, if a secret was typed, or if it contains a secret that the page has
// formatted.
func (r *Run) shownValue(f routine.Match, typed string) string {
	if f.Secret || r.Secrets.ContainsFormattedSecret(f.Value) || r.Secrets.ContainsSecret(typed) {
		return routine.Masked
	}
	return strconv.Quote(routine.Truncate(f.Value, maxShownValue))
}
