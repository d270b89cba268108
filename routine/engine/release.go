package engine

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
	"rote/routine/spelling"
)

// secretUse is what the running operation has of secrets.
type secretUse struct {
	// refs are the stored secrets that it asked for, in order, and values those that were
	// read. Each is read once, so that a one-time code is the same everywhere in the operation.
	refs   []routine.SecretReference
	values map[routine.SecretReference]routine.SecretValue
	// judged are the rules of all stored secrets of the operation together, which are known
	// before any is read; nil: it has none.
	judged *routine.Release
	// host is the host to which the secrets would go, if it is known before they are read.
	host string
	// release is the permission to give out all secrets of the operation; nil: it has none.
	release *routine.Release
}

// judgeSecrets judges all stored secrets of an operation by their rules before any is read, so
// that an operation that is refused uses up no one-time code. CodeSecretMissing,
// CodeSecretDenied, CodeSecretUnavailable.
func (r *runner) judgeSecrets(ctx context.Context, op operation.Action) (err error) {
	operation.EachTemplate(op, func(s operation.Site) {
		if err != nil || !strings.Contains(s.Text, "{{") {
			return
		}
		t, _ := placeholder.Parse(s.Text, s.Place)
		if err = r.checkPlace(s, t); err != nil {
			return
		}
		for _, token := range t.Tokens() {
			if ref, stored := r.storedSecret(token); stored && err == nil && !slices.Contains(r.use.refs, ref) {
				r.use.refs = append(r.use.refs, ref)
				err = r.judge(ctx, ref)
			}
		}
	})
	return err
}

// judge adds the rules of a secret to those of the running operation.
func (r *runner) judge(ctx context.Context, ref routine.SecretReference) error {
	if r.reader == nil {
		return routine.MissingSecret("", ref)
	}
	release, err := r.reader.SecretRules(ctx, ref)
	switch {
	case err != nil:
		return err
	case release.Rules == nil:
		return routine.Internal("read rules of secret", errNoRules)
	}
	if err := r.permits(release); err != nil {
		return err
	}
	r.use.judged, err = combine(r.use.judged, &release)
	return err
}

// checkDestination returns CodeSecretDenied if the running operation makes a request to a host
// that may not have its secrets, or from a page of one. It judges the part of the URL that is
// known before its secrets are read. The page judges all of it again.
func (r *runner) checkDestination(ctx context.Context) error {
	requested, ok := operation.RequestURL(r.op)
	known, _, _ := strings.Cut(requested, "?")
	if !ok || strings.Contains(known, "{{") {
		return nil
	}
	address, err := r.Page.URL(ctx)
	if err != nil {
		return err
	}
	page, err := url.Parse(address)
	if err != nil {
		return nil // the page says what is wrong
	}
	to, err := page.Parse(known)
	if err != nil {
		return nil
	}
	r.use.host = to.Host
	for _, u := range []*url.URL{to, page} {
		if u.Host != "" && !r.use.judged.Rules.Allows(u.String()) {
			return routine.Errorf(routine.CodeSecretDenied, "the request to %s was not sent from %s: secret %s is not for %s, only for %s. "+
				"Change the URL or the page, or let somebody who knows the value add the host", routine.ShownURL(to.String()), routine.ShownURL(address),
				r.use.judged.Secret, u.Host, strings.Join(r.use.judged.Rules.Hosts, ", "))
		}
	}
	return nil
}

// checkPlace returns CodeSecretDenied if a template has a stored secret where none may be
// filled in.
func (r *runner) checkPlace(s operation.Site, t *placeholder.Template) error {
	for i, token := range t.Tokens() {
		ref, stored := r.storedSecret(token)
		if stored && !operation.TakesSecret(r.Record.Type, s, t, i, ref.Code) {
			hint := placeholder.SecretHint
			if ref.Code {
				hint = placeholder.CodeHint
			}
			return routine.Errorf(routine.CodeSecretDenied, "%s is not allowed in %s: %s", token.Raw, s.Pointer, hint)
		}
	}
	return nil
}

// storedSecret returns the stored secret that a token stands for; false if it stands for
// something else. A parameter stands for one if the call gives no value for it.
func (r *runner) storedSecret(t placeholder.Token) (routine.SecretReference, bool) {
	if t.Source == placeholder.Parameter {
		ref, ok := r.fromSecret[t.Name]
		return ref, ok
	}
	return routine.SecretReferenceOf(t)
}

// readSecret reads a stored secret for the running operation. From now on its value is hidden
// in everything that the run gives. CodeSecretMissing, CodeSecretDenied,
// CodeSecretUnavailable, CodeTimeout.
func (r *runner) readSecret(ctx context.Context, ref routine.SecretReference) (string, error) {
	u := &r.use
	if v, ok := u.values[ref]; ok {
		return string(v.Text), nil
	}
	if err := r.checkDestination(ctx); err != nil {
		return "", err
	}
	if ref.Sent {
		r.showWait(ref.Name)
	}
	v, err := r.reader.ReadSecret(ctx, ref)
	if err != nil {
		return "", err
	}
	text := string(v.Text)
	r.hideStored(text)
	if text == "" {
		return "", routine.Errorf(routine.CodeSecretMissing, "secret %s has no value for %s", ref.Name, ref)
	}
	if v.Release.Rules == nil {
		return "", routine.Internal("read secret", errNoRules)
	}
	if len(v.Release.Texts) == 0 {
		v.Release.Texts = []routine.Hidden{v.Text}
	}
	if err := r.permits(v.Release); err != nil {
		return "", err
	}
	if u.release, err = combine(u.release, &v.Release); err != nil {
		return "", err
	}
	if u.values == nil {
		u.values = map[routine.SecretReference]routine.SecretValue{}
	}
	u.values[ref] = v
	if r.texts != nil {
		r.texts[ref] = text
	}
	return text, nil
}

// permits returns CodeSecretDenied if the rules of a secret do not allow the running
// operation at all. Where it goes is checked by the page.
func (r *runner) permits(release routine.Release) error {
	typed := r.Record.Type == "input_text"
	switch {
	case typed && release.Rules.Field == routine.FieldNone:
		return routine.Errorf(routine.CodeSecretDenied, "secret %s may not be typed: its field_rule is none", release.Secret)
	case !typed && !release.Rules.Requests && !release.Code:
		return routine.Errorf(routine.CodeSecretDenied, "secret %s may not be sent in requests: ask its owner to allow requests, or type it with input_text",
			release.Secret)
	}
	return nil
}

// useParameter adds the value of a secret parameter to what the running operation gives out.
func (r *runner) useParameter(value any) {
	if text := placeholder.Format(value); text != "" {
		r.use.release, _ = combine(r.use.release, &routine.Release{Texts: []routine.Hidden{routine.Hidden(text)}}) // without rules nothing is refused
	}
}

// combine returns the permission for a text with the secrets of a and b: all rules of both
// must hold. a may be nil. CodeSecretDenied if they have no host in common.
func combine(a, b *routine.Release) (*routine.Release, error) {
	if a == nil {
		only := *b
		return &only, nil
	}
	both := *a
	both.Texts = slices.Concat(a.Texts, b.Texts)
	switch {
	case b.Rules == nil:
		return &both, nil
	case a.Rules == nil:
		both.Secret, both.Rules, both.Username, both.Code = b.Secret, b.Rules, b.Username, b.Code
		return &both, nil
	}
	both.Username, both.Code = a.Username && b.Username, a.Code && b.Code
	names := strings.Split(a.Secret, " and ")
	if !slices.Contains(names, b.Secret) {
		both.Secret = a.Secret + " and " + b.Secret
	}
	rules := *a.Rules
	rules.Hosts = commonHosts(a.Rules.Hosts, b.Rules.Hosts)
	if len(rules.Hosts) == 0 {
		return nil, routine.Errorf(routine.CodeSecretDenied, "secrets %s have no host in common: use them in different fields or requests", both.Secret)
	}
	rules.Field = stricter(a.Rules.Field, b.Rules.Field)
	rules.Requests = (a.Rules.Requests || a.Code) && (b.Rules.Requests || b.Code)
	rules.Confine = a.Rules.Confine || b.Rules.Confine
	both.Rules = &rules
	return &both, nil
}

// commonHosts returns the hosts that both lists have.
func commonHosts(a, b []string) []string {
	var common []string
	for _, host := range a {
		h, err := routine.ParseSecretHost(host)
		if err == nil && slices.ContainsFunc(b, func(other string) bool {
			o, err := routine.ParseSecretHost(other)
			return err == nil && o == h
		}) {
			common = append(common, host)
		}
	}
	return common
}

// stricter returns the rule that allows fewer fields.
func stricter(a, b routine.FieldRule) routine.FieldRule {
	for _, rule := range []routine.FieldRule{routine.FieldNone, routine.FieldPassword} {
		if a == rule || b == rule {
			return rule
		}
	}
	return routine.FieldAny
}

// hideStored makes the value of a stored secret hidden in everything that the run gives,
// also in its data, files and session values.
func (r *runner) hideStored(text string) {
	r.hide(text)
	if text != "" {
		r.stored = r.stored.with(spelling.All(text))
	}
}

// destination returns the host to which an operation would give a secret: that of its request,
// or else that of the page. It is empty if there is none.
func (r *runner) destination(ctx context.Context, op operation.Action) string {
	address, err := r.Page.URL(ctx)
	if err != nil {
		return ""
	}
	page, err := url.Parse(address)
	if err != nil {
		return ""
	}
	requested, ok := operation.RequestURL(op)
	if !ok {
		return page.Host
	}
	if to, err := page.Parse(requested); err == nil {
		return to.Host
	}
	return ""
}

// recordUses records, for the audit, what became of the stored secrets that the operation asked for.
// host is where they would go, and err the error of the operation.
func (r *runner) recordUses(host string, err error) {
	what := "sent"
	if r.Record.Type == "input_text" {
		what = "typed"
	}
	for _, ref := range r.use.refs {
		use := routine.SecretUse{At: r.now(), What: what, Name: ref.Name, Field: ref.UsedField(), Outcome: "ok", Host: r.hidden.text(host), Operation: r.Record.Index + 1}
		if err != nil {
			use.Outcome, use.Reason = string(routine.CodeOf(err)), r.hidden.text(routine.AsError(err).Message)
		}
		r.uses = append(r.uses, use)
	}
}
