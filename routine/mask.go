package routine

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"rote/routine/placeholder"
)

// secrets hides the values of "x-secret" parameters, and of the HttpOnly cookies
// that placeholders have read, in what a run tells of itself: records, warnings,
// errors. The data is the routine's own answer and stays as it is.
type secrets []string

// minSecret is the shortest value that is looked for inside longer text; a
// shorter one would blot out the text and is hidden only where it stands alone.
const minSecret = 3

// secretsOf are the spellings under which a secret value can appear.
func secretsOf(ps []Parameter, v Values) secrets {
	var all []string
	for _, p := range ps {
		if text := placeholder.Format(v[p.Name]); p.Secret && text != "" {
			all = append(all, spellings(text)...)
		}
	}
	return secrets{}.with(all)
}

func secretTokens(ps []Parameter) map[string]bool {
	names := map[string]bool{}
	for _, p := range ps {
		if p.Secret {
			names[p.Name] = true
		}
	}
	return names
}

// with is s with more texts. Longest first, so that none is hidden in part.
func (s secrets) with(texts []string) secrets {
	if len(texts) == 0 {
		return s
	}
	all := append(slices.Clone(s), texts...)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(all)
}

func (s secrets) text(t string) string {
	for _, secret := range s {
		if t == secret {
			return masked
		}
		if len(secret) >= minSecret {
			t = strings.ReplaceAll(t, secret, masked)
		}
	}
	return s.cut(t)
}

// cut hides the beginning of a secret where clip has cut a text.
func (s secrets) cut(t string) string {
	parts := strings.Split(t, "…")
	for i, part := range parts[:len(parts)-1] {
		for _, secret := range s {
			n := min(len(secret)-1, len(part))
			for n >= minSecret && !strings.HasSuffix(part, secret[:n]) {
				n--
			}
			if n >= minSecret {
				parts[i] = part[:len(part)-n] + masked
				break
			}
		}
	}
	return strings.Join(parts, "…")
}

// tree is x with its texts masked. Details hold these types and no others.
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
		for k, t := range x {
			out[k] = s.text(t)
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
func (s secrets) result(r *Result) {
	if len(s) == 0 {
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
	for i := range r.OperationsMetadata {
		r.OperationsMetadata[i] = s.record(r.OperationsMetadata[i])
	}
}

// record is o masked; it shares nothing that changes with o.
func (s secrets) record(o OperationRecord) OperationRecord {
	if o.Error != nil {
		o.Error = new(s.text(*o.Error))
	}
	denied := slices.Clone(o.EgressDenied)
	for i := range denied {
		denied[i].Host = s.text(denied[i].Host)
	}
	o.EgressDenied = denied
	if o.Details != nil {
		o.Details = s.tree(o.Details).(map[string]any)
	}
	return o
}

// err is the run's error with its message masked; the cause goes to logs only
// when the error is internal, and then the message says nothing.
func (s secrets) err(err error) error {
	var e *Error
	if len(s) == 0 || !errors.As(err, &e) || e.Code == CodeInternal {
		return err
	}
	return &Error{Code: e.Code, Message: s.text(e.Message), Problems: e.Problems, RetryAfter: e.RetryAfter}
}
