package engine

import (
	"context"
	"maps"

	"rote/routine"
)

// Session runs operations on a page one at a time, each by the code of a run: for an author
// who decides what to do next after each of them. Session values, storage and secrets carry
// over from one operation to the next, and after a failure the page stays as it is. One
// goroutine uses a session at a time.
type Session struct{ r *runner }

// NewSession returns a session on a page, which the caller closes. The progress and the
// records of o are not used.
func NewSession(page routine.Page, o Options) *Session {
	r := newRunner(page, Options{MaxResult: o.MaxResult, Now: o.Now, LargeText: o.LargeText, Secrets: o.Secrets, Session: o.Session})
	r.evidenceOf = func(ctx context.Context, i routine.Inspection) *routine.Evidence {
		return nearestEvidence(ctx, page, i)
	}
	r.texts = map[routine.SecretReference]string{}
	return &Session{r}
}

// Done is what one operation of a session did. Secrets are masked in it, except in the data
// of the result and in the stored text.
type Done struct {
	Record   routine.OperationRecord
	Warnings []string
	// Result has the data that the operation made the result; nil if it set none.
	Result *routine.Result
	// StoredKey is the key of the session value that the operation stored, and Stored its
	// text; both are empty if it stored none.
	StoredKey, Stored string
	// Files are those that the pages were sent meanwhile.
	Files []routine.File
	// Nearest are the elements that could have been meant, if the operation failed.
	Nearest []routine.Element
	// Script is the line at which the operation's script failed; nil if that is not known.
	Script *routine.ScriptLine
	// SecretUses are the uses and the refusals of stored secrets, as in an Outcome.
	SecretUses []routine.SecretUse
}

// Do runs one operation with the values of parameters. If it fails, the message of the
// error is that of a run, without the number of the operation. Secret parameters stay
// hidden in all later answers. It does not wait for a download that the operation may still
// start: see TakeFiles. A panic is an internal error.
func (s *Session) Do(ctx context.Context, ps []routine.Parameter, values routine.Values, o routine.Operation) (Done, error) {
	r := s.r
	r.setValues(ps, values)
	r.Result, r.evidence, r.files, r.uses, r.shownBytes = NewResult(), nil, nil, nil, 0
	err := r.recoverPanic(func() error { return r.step(ctx, 0, o, false) })
	if exposed := r.concealAll(); exposed != nil && err == nil {
		err = exposed
	}
	return s.done(), r.hidden.err(err)
}

// TakeFiles returns what the last operation did together with the files that the pages were
// sent since it ended. They become its result, unless it has set one. A download that is
// under way is awaited; with wait, also one that may still start, for half a second.
// CodeResultTooLarge; CodeNetworkError if a download was interrupted.
func (s *Session) TakeFiles(ctx context.Context, wait bool) (Done, error) {
	r := s.r
	err := r.recoverPanic(func() error { return r.takeFiles(ctx, wait) })
	return s.done(), r.hidden.err(err)
}

// done returns what the last operation did.
func (s *Session) done() Done {
	r := s.r
	r.hidden.result(r.Result)
	d := Done{Warnings: r.Result.Warnings, Files: r.files, SecretUses: r.uses}
	if len(r.Result.OperationsMetadata) > 0 {
		d.Record = r.Result.OperationsMetadata[0]
	}
	if r.Result.Data != nil {
		d.Result = r.Result
	}
	if stored, ok := d.Record.Details["stored"].(map[string]any); ok {
		d.StoredKey, _ = stored["key"].(string)
		d.Stored = r.Conceal(r.Values[d.StoredKey])
	}
	if r.evidence != nil {
		d.Nearest, d.Script = r.evidence.Elements, r.evidence.Script
	}
	return d
}

// Secrets returns the texts that must not be shown, in all their spellings.
func (s *Session) Secrets() []string { return s.r.hidden.texts }

// HideCookies hides also the values of those cookies of the saved session that the page was given
// since the last operation.
func (s *Session) HideCookies(ctx context.Context) { s.r.hideNewCookies(ctx) }

// StoredSecret returns the text of a stored secret that an operation of the session has used,
// to recognize it in what the page does. It must not be shown.
func (s *Session) StoredSecret(ref routine.SecretReference) (string, bool) {
	text, ok := s.r.texts[ref]
	return text, ok
}

// Mask returns a text with the secrets in it masked.
func (s *Session) Mask(text string) string { return s.r.hidden.text(text) }

// CopySecrets hides in s what other hides.
func (s *Session) CopySecrets(other *Session) {
	s.r.hidden = s.r.hidden.with(other.r.hidden.texts)
	s.r.stored = s.r.stored.with(other.r.stored.texts)
	maps.Copy(s.r.texts, other.r.texts)
	maps.Copy(s.r.secret, other.r.secret)
}

// Detach forgets the page and the session values. After that s only masks texts.
func (s *Session) Detach() {
	s.r.Page, s.r.evidenceOf, s.r.Values, s.r.Result, s.r.files = nil, nil, nil, nil, nil
}

// Hide makes texts secrets from now on.
func (s *Session) Hide(texts ...string) { s.r.hide(texts...) }

// Values returns a copy of the session values by key.
func (s *Session) Values() map[string]string {
	values := maps.Clone(s.r.Values)
	for key, text := range values {
		values[key] = s.r.Conceal(text)
	}
	return values
}

// nearest is a page that can name the elements that an operation could have meant and
// remains usable.
type nearest interface {
	Nearest(context.Context, routine.Inspection) ([]routine.Element, error)
}

// nearestEvidence returns, as evidence, the elements that an operation could have meant. It
// does not stop the page. It returns the evidence without elements if the page cannot name
// them or does not answer.
func nearestEvidence(ctx context.Context, page routine.Page, i routine.Inspection) *routine.Evidence {
	e := &routine.Evidence{}
	if p, ok := page.(nearest); ok {
		if elements, err := p.Nearest(ctx, i); err == nil {
			e.Elements = elements
		}
	}
	return e
}
