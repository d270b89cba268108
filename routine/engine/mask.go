package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"rote/routine"
	"rote/routine/placeholder"
	"rote/routine/spelling"
)

// secrets hides the values of secret parameters, and of the HttpOnly cookies that a
// run has read, in everything that the run reports: records, warnings and errors. The
// result's data is not masked: it is the routine's own answer.
//
// Texts are compared without regard to case, white space and escapes. Next to a "…"
// the remaining part of a truncated secret is recognized too. Numbers are compared by
// value, and host names in punycode in their decoded form. The zero value hides
// nothing. A value of this type never changes.
type secrets struct {
	// texts are the secrets in all their spellings.
	texts []string
	*maskIndex
}

// minSecret is the length in bytes of the shortest secret that is masked inside a
// longer text. A shorter one would mask most of the text, so it is masked only if it
// is the whole text.
const minSecret = 3

// secretsOf returns the values of the secret parameters as secrets.
func secretsOf(ps []routine.Parameter, v routine.Values) secrets {
	return secrets{}.with(secretTexts(ps, v))
}

// secretTexts returns the values of the secret parameters in all their spellings.
func secretTexts(ps []routine.Parameter, v routine.Values) []string {
	var all []string
	for _, p := range ps {
		if files, ok := v[p.Name].([]routine.InputFile); ok && p.Secret {
			for _, f := range files {
				all = append(all, spelling.All(f.Name)...)
			}
		} else if text := placeholder.Format(v[p.Name]); p.Secret && text != "" {
			all = append(all, spelling.All(text)...)
		}
	}
	return all
}

// with returns s extended by texts, longest first so that no secret is masked only in
// part.
func (s secrets) with(texts []string) secrets {
	all := append(slices.Clone(s.texts), texts...)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	all = slices.Compact(all)
	if len(all) == len(s.texts) {
		return s
	}
	return secrets{all, newMaskIndex(all)}
}

// size returns the number of bytes of all spellings.
func (s secrets) size() int {
	n := 0
	for _, t := range s.texts {
		n += len(t)
	}
	return n
}

// tree returns x with its texts masked. The details of records have these types only.
// Keys of a map of texts come from outside, as those of headers do, and are masked
// too.
func (s secrets) tree(x any) any {
	switch x := x.(type) {
	case string:
		return s.text(x)
	case []string:
		out := make([]string, len(x))
		for i, t := range x {
			out[i] = s.text(t)
		}
		return out
	case map[string]string:
		out := make(map[string]string, len(x))
		for _, k := range slices.Sorted(maps.Keys(x)) {
			name := s.text(k)
			for _, taken := out[name]; taken; _, taken = out[name] {
				name += routine.Masked
			}
			out[name] = s.text(x[k])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			out[k] = s.tree(v)
		}
		return out
	}
	return x
}

// result masks everything in r except its data.
func (s secrets) result(r *routine.Result) {
	if s.maskIndex == nil {
		return
	}
	pointed := func(t *string) {
		if t != nil {
			*t = s.text(*t)
		}
	}
	pointed(r.Error)
	for i, w := range r.Warnings {
		r.Warnings[i] = s.text(w)
	}
	for _, t := range r.PlaceholderResolution {
		pointed(t)
	}
	r.Filename, r.ContentType, r.Outline = s.text(r.Filename), s.text(r.ContentType), s.text(r.Outline)
	for i := range r.OperationsMetadata {
		r.OperationsMetadata[i] = s.record(r.OperationsMetadata[i])
	}
}

// record returns o masked. The result shares nothing mutable with o.
func (s secrets) record(o routine.OperationRecord) routine.OperationRecord {
	if o.Error != nil {
		o.Error = new(s.text(*o.Error))
	}
	denied := slices.Clone(o.EgressDenied)
	for i := range denied {
		d := &denied[i]
		d.Host, d.Address, d.Reason = s.text(d.Host), s.text(d.Address), s.text(d.Reason)
	}
	o.EgressDenied = denied
	if o.Details != nil {
		o.Details = s.tree(o.Details).(map[string]any)
	}
	return o
}

// err returns a run's error with its texts masked. It keeps the cause only if that is
// for the log, as for an internal error.
func (s secrets) err(err error) error {
	if s.maskIndex == nil || err == nil {
		return err
	}
	e := routine.AsError(err)
	shown := &routine.Error{Code: e.Code, Message: s.text(e.Message), Problems: slices.Clone(e.Problems), RetryAfter: e.RetryAfter}
	for i := range shown.Problems {
		p := &shown.Problems[i]
		p.Message, p.Hint = s.text(p.Message), s.text(p.Hint)
	}
	if cause := routine.HiddenCause(err); cause != nil {
		shown.Cause = errors.New(s.text(cause.Error()))
	}
	return shown
}

// lettersAndDigits returns the letters and digits of a text in lower case: "12-34 Ab" becomes
// "1234ab". Input masks put other characters between them.
func lettersAndDigits(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, text)
}
