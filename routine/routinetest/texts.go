package routinetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"rote/routine"
)

var textPromises = []promise{
	{"results, parameters and evidence are kept whatever characters they have", hostileTexts},
	{"names, tags, files and keys are kept whatever characters they have", hostileNames},
	{"an id with characters that no id has is not found", hostileIDs},
	{"nothing matches a filter with characters that no text has", hostileFilters},
}

// hostile are characters that some databases cannot keep in a text.
const hostile = "nul \x00 quote ' backslash \\ percent % dollar $1 mark ?1 emoji 🙂 \u2028 end"

func hostileTexts(t *testing.T, s routine.Store) {
	e := create(t, s, func(e *routine.Execution) { e.Parameters = json.RawMessage(`{"lone":"\ud800","nul":"\u0000"}`) })
	end := Ended(e)
	end.Result.Data = json.RawMessage(`["\u0000","\ud83d","` + "\u2028" + `"]`)
	end.Result.Warnings, end.Result.Filename, end.Result.Outline = []string{hostile}, hostile, hostile
	must(t, s.FinishExecution(t.Context(), end))
	wantExecution(t, s, end)

	failed := Failed(create(t, s, func(e *routine.Execution) { e.RoutineName = hostile }))
	failed.Error, failed.Evidence.Text = new(hostile), hostile
	must(t, s.FinishExecution(t.Context(), failed))
	wantExecution(t, s, failed)
}

func hostileNames(t *testing.T, s routine.Store) {
	r := Routine(t, func(r *routine.Routine) { r.Name, r.Description, r.Tags = hostile, hostile, []string{hostile, "plain"} })
	must(t, s.CreateRoutine(t.Context(), r))
	for _, f := range []routine.RoutineFilter{{Name: hostile}, {Tag: hostile}, {Words: []string{hostile}}, {Words: []string{"\x00"}}} {
		f.OrganizationID = "acme"
		list, total, err := s.Routines(t.Context(), f)
		must(t, err)
		if total != 1 || len(list) != 1 || list[0].Name != hostile {
			t.Errorf("%+v: %d of %d", f, len(list), total)
		}
	}
	k := key(func(k *routine.IdempotencyKey) { k.Key = hostile })
	e := create(t, s, func(e *routine.Execution) { e.Key = k })
	wantMade(t, s, k, e.ID)
	f := file(hostile, []byte(hostile))
	must(t, s.PutFile(t.Context(), e.ID, f))
	got, err := s.File(t.Context(), e.ID, hostile)
	must(t, err)
	equal(t, "file", got, f)
	id := endedWithCallback(t, s)
	claimed, err := s.ClaimWebhooks(t.Context(), claim(Time.Add(time.Hour), 1))
	must(t, err)
	if len(claimed) != 1 || claimed[0].ExecutionID != id {
		t.Fatalf("claimed %v", claimed)
	}
	must(t, s.SettleWebhook(t.Context(), claimed[0].ID, claimed[0].Attempt, hostile, nil))
}

// noIDs are texts that are the id of nothing.
var noIDs = []string{"", "\x00", "a\x00b", "\xff\xfe", "\xed\xa0\x80", hostile}

func hostileIDs(t *testing.T, s routine.Store) {
	e := Execution(t)
	for _, id := range noIDs {
		for name, call := range map[string]func() error{
			"Routine":         func() error { _, err := s.Routine(t.Context(), id); return err },
			"DefinitionSize":  func() error { _, err := s.DefinitionSize(t.Context(), id, 0); return err },
			"Version":         func() error { _, err := s.Version(t.Context(), id, 1); return err },
			"Execution":       func() error { _, err := s.Execution(t.Context(), id); return err },
			"StartExecution":  func() error { return s.StartExecution(t.Context(), id, Time) },
			"RequestCancel":   func() error { return s.RequestCancel(t.Context(), id, Time) },
			"File":            func() error { _, err := s.File(t.Context(), id, id); return err },
			"PutFile":         func() error { return s.PutFile(t.Context(), id, file("f", nil)) },
			"RevokeToken":     func() error { return s.RevokeToken(t.Context(), id, Time) },
			"UseToken":        func() error { return s.UseToken(t.Context(), id, Time) },
			"FinishExecution": func() error { end := Ended(e); end.ID = id; return s.FinishExecution(t.Context(), end) },
			"FindByKey": func() error {
				_, _, err := s.FindByKey(t.Context(), key(func(k *routine.IdempotencyKey) { k.OrganizationID, k.Key = id, id }))
				return err
			},
		} {
			wantErr(t, fmt.Sprintf("%s(%q)", name, id), call(), routine.ErrNotFound)
		}
		if list, total, err := s.Versions(t.Context(), id, 10, 0); err != nil || total != 0 || len(list) != 0 {
			t.Errorf("versions of %q: %v, %d, %v", id, list, total, err)
		}
		if state, err := s.ProjectState(t.Context(), id, id); err != nil || state != nil {
			t.Errorf("state of %q: %q, %v", id, state, err)
		}
	}
}

func hostileFilters(t *testing.T, s routine.Store) {
	must(t, s.CreateRoutine(t.Context(), Routine(t)))
	create(t, s)
	for _, text := range noIDs[1:] {
		for _, f := range []routine.RoutineFilter{{OrganizationID: text}, {OrganizationID: "acme", ToolName: text}, {OrganizationID: "acme", Name: text},
			{OrganizationID: "acme", Tag: text}, {OrganizationID: "acme", Words: []string{text}},
			{OrganizationID: "acme", Statuses: []routine.Status{routine.Status(text)}}} {
			if list, total, err := s.Routines(t.Context(), f); err != nil || total != 0 || len(list) != 0 {
				t.Errorf("%+v: %d of %d, %v", f, len(list), total, err)
			}
		}
		for _, f := range []routine.ExecutionFilter{{OrganizationID: text}, {OrganizationID: "acme", RoutineID: text},
			{OrganizationID: "acme", Status: routine.ExecutionStatus(text)}} {
			if list, total, err := s.Executions(t.Context(), f); err != nil || total != 0 || len(list) != 0 {
				t.Errorf("%+v: %d of %d, %v", f, len(list), total, err)
			}
		}
	}
}
