package engine_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/engine"
	"rote/routine/routinetest"
)

// vault is a reader of secrets for tests. It counts the reads.
type vault struct {
	texts map[string]string // by placeholder
	rules map[string]*routine.SecretRules
	fails error
	reads []string
}

const planted = `p4ss "wörd"/&<2026>`

func newVault() *vault {
	return &vault{texts: map[string]string{"{{secret:shop.password}}": planted, "{{secret:shop.username}}": "ada.lovelace", "{{totp:shop}}": "493817",
		"{{secret:bank}}": "bank-s3cret", "{{secret:none}}": "never-typed", "{{secret:typed}}": "typed-only"},
		rules: map[string]*routine.SecretRules{
			"shop":  {Hosts: []string{"shop.test", "*.shop.test"}, Field: routine.FieldPassword, Requests: true},
			"bank":  {Hosts: []string{"bank.test"}, Field: routine.FieldAny, Requests: true},
			"none":  {Hosts: []string{"shop.test"}, Field: routine.FieldNone, Requests: true},
			"typed": {Hosts: []string{"shop.test"}, Field: routine.FieldAny}}}
}

func (v *vault) SecretRules(_ context.Context, ref routine.SecretReference) (routine.Release, error) {
	if v.rules[ref.Name] == nil && v.rules != nil {
		return routine.Release{}, routine.MissingSecret("default", ref)
	}
	return routine.Release{Secret: ref.Name, Rules: v.rules[ref.Name], Username: ref.Field == "username", Code: ref.Code}, v.fails
}

func (v *vault) ReadSecret(_ context.Context, ref routine.SecretReference) (routine.SecretValue, error) {
	v.reads = append(v.reads, ref.String())
	if v.fails != nil {
		return routine.SecretValue{}, v.fails
	}
	text, ok := v.texts[ref.String()]
	if !ok {
		return routine.SecretValue{}, routine.MissingSecret("default", ref)
	}
	return routine.SecretValue{Text: routine.Hidden(text), Release: routine.Release{Secret: ref.Name, Rules: v.rules[ref.Name],
		Username: ref.Field == "username", Code: ref.Code}}, nil
}

// secretRun is a run of operations with stored secrets.
type secretRun struct {
	outcome  *engine.Outcome
	err      error
	releases []routine.Release
	actions  []string
	// seen is everything that the run gave: its outcome, error, events and progress.
	seen string
}

const openShop = `{"type":"navigate","url":"https://shop.test/"},`

func runSecrets(t *testing.T, page routinetest.Page, reader routine.SecretReader, parameters, values, operations string) secretRun {
	t.Helper()
	d, _, err := definition.Parse([]byte(`{"name":"n","description":"d","parameters":[` + parameters + `],"operations":[` + operations + `]}`))
	if err != nil {
		t.Fatal(err, routine.AsError(err).Problems)
	}
	bound, err := definition.Bind(d, json.RawMessage(values))
	if err != nil {
		t.Fatal(err)
	}
	var r secretRun
	var seen []string
	page.Releases, page.Actions = &r.releases, &r.actions
	b := &routinetest.Browser{Page: page}
	p, err := b.Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r.outcome, r.err = engine.Run(t.Context(), d, bound, p, engine.Options{Now: time.Now, Secrets: reader,
		LargeText: func(context.Context) (func(), error) { return func() {}, nil },
		Progress:  func(p routine.Progress) { seen = append(seen, routine.JSONText(p)) },
		Recorded:  func(o routine.OperationRecord) { seen = append(seen, routine.JSONText(o)) }})
	seen = append(seen, routine.JSONText(r.outcome.Result), routine.JSONText(r.outcome.Evidence), routine.JSONText(r.outcome.SecretUses), fmt.Sprint(r.err))
	if r.err != nil {
		seen = append(seen, routine.JSONText(routine.AsError(r.err)), fmt.Sprint(routine.AsError(r.err).Cause))
	}
	for _, f := range r.outcome.Files {
		seen = append(seen, f.Name, f.ContentType, string(f.Data))
	}
	if r.outcome.Result.IsBase64 {
		var encoded string
		_ = json.Unmarshal(r.outcome.Result.Data, &encoded)
		data, _ := base64.StdEncoding.DecodeString(encoded)
		seen = append(seen, string(data))
	}
	r.seen = strings.Join(seen, "\n")
	return r
}

// exposes returns the spellings of the texts that occur in what a run gave.
func (r secretRun) exposes(texts ...string) []string {
	var found []string
	for _, text := range texts {
		quoted := routine.JSONText(text)
		twice := routine.JSONText(quoted)
		for _, spelled := range []string{text, quoted[1 : len(quoted)-1], twice[3 : len(twice)-3], url.QueryEscape(text), url.PathEscape(text),
			base64.StdEncoding.EncodeToString([]byte(text)), hex.EncodeToString([]byte(text))} {
			if strings.Contains(r.seen, spelled) {
				found = append(found, spelled)
			}
		}
	}
	return found
}
