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
)

// secrets hides the values of "x-secret" parameters, and of the HttpOnly cookies
// that a run has read, in what the run tells of itself: records, warnings, errors.
// The data is the routine's own answer and stays as it is.
//
// Texts are compared without regard to case, white space and escapes. What is cut
// off before or after a "…" is recognized by the part that is left. Numbers are
// compared by their value, and host names in punycode by what they spell. The zero
// value hides nothing. A value never changes.
type secrets struct {
	// texts are the secrets in all their spellings.
	texts []string
	*maskIndex
}

// minSecret is the shortest value, in bytes, that is looked for inside longer text.
// A shorter one would hide most of the text, so it is hidden only where it is all of
// the text.
const minSecret = 3

// secretsOf are the values of the secret parameters.
func secretsOf(ps []routine.Parameter, v routine.Values) secrets {
	var all []string
	for _, p := range ps {
		if files, ok := v[p.Name].([]routine.InputFile); ok && p.Secret {
			for _, f := range files {
				all = append(all, spellings(f.Name)...)
			}
		} else if text := placeholder.Format(v[p.Name]); p.Secret && text != "" {
			all = append(all, spellings(text)...)
		}
	}
	return secrets{}.with(all)
}

func secretTokens(ps []routine.Parameter) map[string]bool {
	names := map[string]bool{}
	for _, p := range ps {
		if p.Secret {
			names[p.Name] = true
		}
	}
	return names
}

// with is s with more texts.
func (s secrets) with(texts []string) secrets {
	all := append(slices.Clone(s.texts), texts...)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	all = slices.Compact(all)
	if len(all) == len(s.texts) {
		return s
	}
	return secrets{all, newMaskIndex(all)}
}

// size is the number of bytes of all spellings.
func (s secrets) size() int {
	n := 0
	for _, t := range s.texts {
		n += len(t)
	}
	return n
}

// tree is x with its texts masked. Details hold these types and no others. The names
// in a map of texts come from outside, as those of headers do, and are masked too.
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

// result masks all that r tells beside its data.
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
	r.Filename, r.ContentType = s.text(r.Filename), s.text(r.ContentType)
	for i := range r.OperationsMetadata {
		r.OperationsMetadata[i] = s.record(r.OperationsMetadata[i])
	}
}

// record is o masked; it shares nothing that changes with o.
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

// err is the run's error with its texts masked. The cause is kept only where logs
// show it: when the error is internal.
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

// barely is a text without what masks put between its characters: only letters and
// digits, in lower case.
func barely(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, text)
}
