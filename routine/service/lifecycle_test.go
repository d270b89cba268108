package service_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
	"rote/routine/service"
)

// editable returns a service with one routine of ann's. Its clock advances by a
// minute each time it is read.
func editable(t *testing.T) (*service.Service, *routine.Routine) {
	t.Helper()
	now := time.Unix(1000, 0)
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Now: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}})
	return s, create(t, s, ann, `{"name": "n", "description": "d", "tags": ["a"], "incognito": false, "is_mcp_tool_designated": false,
		"parameters": [{"name": "p"}], "operations": [{"type": "navigate", "url": "https://a.example/?q={{p}}&r=<1>"}, {"type": "return_html"}]}`)
}

// placesOf writes problems as "pointer code line:column".
func placesOf(problems []routine.Problem) []string {
	var list []string
	for _, p := range problems {
		list = append(list, fmt.Sprintf("%s %s %d:%d", p.Pointer, p.Code, p.Line, p.Column))
	}
	return list
}

func TestPatch(t *testing.T) {
	for _, row := range []struct {
		name, patch, want string // a field of the result, and what it is
		value             any
	}{
		{"a text", `{"description": "new & <b>"}`, "description", "new & <b>"},
		{"a list, as a whole", `{"tags": ["b", "c"]}`, "tags", []any{"b", "c"}},
		{"null puts the default back", `{"incognito": null}`, "incognito", true},
		{"null among others", "{\"tags\": null,\n \"is_public\": true, \"incognito\": null}", "is_public", true},
		{"null before others", `{"incognito": null, "name": "m"}`, "name", "m"},
		{"null alone removes a list", `{"tags": null}`, "tags", []any{}},
		{"the status", `{"routine_status": "draft"}`, "routine_status", "draft"},
		{"the status it has", `{"routine_status": "active", "name": "m"}`, "name", "m"},
		{"what the service sets is left out", `{"id": "x", "version": 9, "created_by": "eve", "organization_id": "x", "created_at": null, "name": "m"}`, "version", 2.0},
		{"operations", `{"operations": [{"type": "return_html", "x-note": 1e3}], "parameters": null}`, "operations", []any{map[string]any{"type": "return_html", "x-note": 1000.0}}},
		{"behind a byte-order mark", "\ufeff{\"name\": \"m\"}", "name", "m"},
		{"a key written with escapes", `{"\u006eame": "m"}`, "name", "m"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, r := editable(t)
			got, _, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte(row.patch), nil)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := s.Routine(t.Context(), ann, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(kept)
			if answered, _ := json.Marshal(got); string(answered) != string(text) {
				t.Errorf("answered %s, kept %s", answered, text)
			}
			var fields map[string]any
			if err := json.Unmarshal(text, &fields); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.value, fields[row.want]); diff != "" {
				t.Error(diff)
			}
			if got.Version != 2 || got.UpdatedAt <= r.UpdatedAt || got.CreatedAt != r.CreatedAt || got.CreatedBy != "ann" || got.ID != r.ID || got.ToolName != r.ToolName {
				t.Errorf("%+v", got)
			}
			// What the patch does not name is there, as its author wrote it.
			if raw, _ := kept.Operations[0].MarshalJSON(); row.want != "operations" && string(raw) != `{"type": "navigate", "url": "https://a.example/?q={{p}}&r=<1>"}` &&
				string(raw) != `{"type":"navigate","url":"https://a.example/?q={{p}}&r=<1>"}` {
				t.Errorf("%s", raw)
			}
		})
	}
}

func TestPatchThatIsRefused(t *testing.T) {
	for _, row := range []struct {
		name, patch string
		code        routine.Code
		problems    []string
	}{
		{"places are those in the patch", "{\"tags\": null,\n  \"operations\": [{\"type\": \"clik\"}],\n \"is_public\": 5}", routine.CodeInvalid,
			[]string{"/operations/0 required 2:18", "/operations/0/type enum 2:27", "/is_public type 3:15"}},
		{"what the patch leaves alone has no place in it", `{"parameters": null}`, routine.CodeInvalid, []string{"/operations/0/url undeclared_parameter 0:0"}},
		{"without what it has to have", `{"name": null}`, routine.CodeInvalid, []string{" required 1:1"}},
		{"an empty name", `{"incognito": null, "name": ""}`, routine.CodeInvalid, []string{"/name minLength 1:29"}},
		{"no such status", "{\n\"routine_status\": \"gone\", \"name\": 1}", routine.CodeInvalid, []string{"/routine_status enum 2:19", "/name type 2:35"}},
		{"a status that is no text", `{"routine_status": null}`, routine.CodeInvalid, []string{"/routine_status enum 1:20"}},
		{"twice the same key", `{"name": "x", "name": "y"}`, routine.CodeInvalid, []string{"/name duplicate_key 1:15"}},
		{"no JSON", `{"name": }`, routine.CodeInvalid, []string{"/name json_syntax 1:10"}},
		{"a comma too many", `{"name": "x",}`, routine.CodeInvalid, []string{" json_syntax 1:13"}},
		{"no object", `[]`, routine.CodeInvalid, []string{" type 1:1"}},
		{"nothing", ``, routine.CodeInvalid, []string{" json_syntax 1:1"}},
		{"too long", `"` + strings.Repeat("x", routine.MaxDefinitionBytes), routine.CodeTooLarge, nil},
		{"too long with what it leaves alone", `{"description": "` + strings.Repeat("x", routine.MaxDefinitionBytes-20) + `"}`, routine.CodeTooLarge, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, r := editable(t)
			_, _, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte(row.patch), nil)
			if routine.CodeOf(err) != row.code {
				t.Fatalf("%v, want %s", err, row.code)
			}
			if diff := cmp.Diff(row.problems, placesOf(routine.AsError(err).Problems)); diff != "" {
				t.Errorf("%s\n%+v", diff, routine.AsError(err).Problems)
			}
			if kept, err := s.Routine(t.Context(), ann, r.ID); err != nil || kept.Version != 1 {
				t.Errorf("%+v %v", kept, err)
			}
		})
	}
}

// Tags that were stored before there were limits stay until they are changed.
func TestPatchLeavesTagsAlone(t *testing.T) {
	store := routinetest.NewStore()
	s := service.New(service.Config{Store: store})
	old := routinetest.Routine(t, func(r *routine.Routine) {
		r.OrganizationID, r.Tags = ann.OrganizationID, append(slices.Repeat([]string{"a"}, 60), "")
	})
	if err := store.CreateRoutine(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	r, _, err := s.PatchRoutine(t.Context(), ann, old.ID, []byte(`{"description": "new"}`), nil)
	if err != nil || r.Version != 2 || len(r.Tags) != 61 {
		t.Fatal(r, err)
	}
	if r, _, err = s.PatchRoutine(t.Context(), ann, old.ID, []byte(`{"tags": ["b"]}`), nil); err != nil || len(r.Tags) != 1 {
		t.Fatal(r, err)
	}
	if r, _, err = s.PatchRoutine(t.Context(), ann, old.ID, []byte(`{"tags": null}`), nil); err != nil || len(r.Tags) != 0 {
		t.Fatal(r, err)
	}
}

func TestPatchWarns(t *testing.T) {
	s, r := editable(t)
	_, warnings, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte("{\"colour\": null,\n\"operations\": [{\"type\": \"press\", \"key\": \"Tab\"}]}"), nil)
	want := []string{"/colour unknown_field 1:2", "/operations no_result 2:15", "/parameters/0 unused_parameter 0:0"}
	if diff := cmp.Diff(want, placesOf(warnings)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestChangesOfStatus(t *testing.T) {
	all := []routine.Status{routine.StatusDraft, routine.StatusActive, routine.StatusArchived}
	allowed := map[string]bool{"draft active": true, "active archived": true, "archived active": true, "active draft": true}
	for _, from := range all {
		at := func(t *testing.T) (*service.Service, string) {
			store := routinetest.NewStore()
			r := routinetest.Routine(t, func(r *routine.Routine) { r.Status, r.IsMCPToolDesignated = from, false })
			if err := store.CreateRoutine(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			return service.New(service.Config{Store: store, Browser: &routinetest.Browser{}}), r.ID
		}
		for _, to := range all {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				s, id := at(t)
				got, _, err := s.PatchRoutine(t.Context(), ann, id, fmt.Appendf(nil, `{"routine_status": %q}`, to), nil)
				if from == to || allowed[fmt.Sprintf("%s %s", from, to)] {
					if err != nil || got.Status != to || (got.Version == 2) != (from != to) {
						t.Error(got, err)
					}
				} else if routine.CodeOf(err) != routine.CodeConflict {
					t.Error(got, err)
				}
			})
		}
		t.Run(fmt.Sprintf("%s is archived", from), func(t *testing.T) {
			s, id := at(t)
			for range 2 { // the second time it is, already
				if got, err := s.ArchiveRoutine(t.Context(), ann, id, nil); err != nil || got.Status != routine.StatusArchived || (got.Version == 2) != (from != routine.StatusArchived) {
					t.Error(got, err)
				}
			}
		})
		t.Run(fmt.Sprintf("%s is published, and not any more", from), func(t *testing.T) {
			s, id := at(t)
			if got, err := s.PublishRoutine(t.Context(), ann, id, true, nil); err != nil || !got.Published() {
				t.Error(got, err)
			}
			if got, err := s.PublishRoutine(t.Context(), ann, id, false, nil); err != nil || got.Published() || got.Status != routine.StatusActive {
				t.Error(got, err)
			}
		})
	}
}

func TestWhatIsArchivedIsNotChanged(t *testing.T) {
	s, r := editable(t)
	if _, err := s.ArchiveRoutine(t.Context(), ann, r.ID, nil); err != nil {
		t.Fatal(err)
	}
	_, _, patched := s.PatchRoutine(t.Context(), ann, r.ID, []byte(`{"name": "m"}`), nil)
	_, _, replaced := s.ReplaceRoutine(t.Context(), ann, r.ID, []byte(private), nil)
	_, _, restored := s.RestoreRoutine(t.Context(), ann, r.ID, 1, nil)
	for _, err := range []error{patched, replaced, restored} {
		if routine.CodeOf(err) != routine.CodeConflict || !strings.Contains(err.Error(), "make it active") {
			t.Error(err)
		}
	}
	got, _, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte(`{"name": "m", "routine_status": "active"}`), nil)
	if err != nil || got.Name != "m" || got.Status != routine.StatusActive {
		t.Error(got, err)
	}
}

func TestHistory(t *testing.T) {
	s, r := editable(t)
	ben := ann
	ben.UserID = "ben"
	if _, _, err := s.PatchRoutine(t.Context(), ben, r.ID, []byte(`{"tags": ["a", "b"], "routine_status": "draft"}`), nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.ReplaceRoutine(t.Context(), ann, r.ID, []byte(private), nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a change to what there is makes no version
		got, _, err := s.RestoreRoutine(t.Context(), ben, r.ID, 1, nil)
		if err != nil || got.Version != 4 || got.Status != routine.StatusDraft || cmp.Diff(r.Tags, got.Tags) != "" || got.Name != r.Name {
			t.Fatal(got, err)
		}
	}
	list, total, err := s.Versions(t.Context(), ann, r.ID, 3, 1)
	want := []*routine.Version{{Number: 3, Status: "draft", CreatedBy: "ann"}, {Number: 2, Status: "draft", CreatedBy: "ben"}, {Number: 1, Status: "active", CreatedBy: "ann", CreatedAt: r.CreatedAt}}
	if err != nil || total != 4 || len(list) != 3 || list[0].CreatedAt <= list[1].CreatedAt || list[1].CreatedAt <= list[2].CreatedAt {
		t.Fatal(list, total, err)
	}
	list[0].CreatedAt, list[1].CreatedAt = 0, 0
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if v, err := s.Version(t.Context(), ann, r.ID, 2); err != nil || len(v.Definition.Tags) != 2 {
		t.Error(v, err)
	}
	for _, row := range []struct {
		from, to int
		want     string
	}{
		{1, 2, `[{"value":"draft","op":"replace","path":"/routine_status"},{"value":"b","op":"add","path":"/tags/1"}]`},
		{2, 1, `[{"value":"active","op":"replace","path":"/routine_status"},{"op":"remove","path":"/tags/1"}]`},
		{2, 4, `[{"op":"remove","path":"/tags/1"}]`},
		{2, 2, `[]`},
	} {
		got, err := s.DiffVersions(t.Context(), ann, r.ID, row.from, row.to)
		if err != nil || !sameJSON(t, string(got), row.want) {
			t.Errorf("%d to %d: %s %v", row.from, row.to, got, err)
		}
	}
	for _, number := range []int{0, 5} {
		_, one := s.Version(t.Context(), ann, r.ID, number)
		_, from := s.DiffVersions(t.Context(), ann, r.ID, number, 1)
		_, to := s.DiffVersions(t.Context(), ann, r.ID, 1, number)
		_, _, restored := s.RestoreRoutine(t.Context(), ann, r.ID, number, nil)
		for _, err := range []error{one, from, to, restored} {
			if routine.CodeOf(err) != routine.CodeNotFound || !strings.Contains(err.Error(), "version 4") {
				t.Errorf("version %d: %v", number, err)
			}
		}
	}
}

// TestDiffOfVersions keeps what is written: long numbers, signs that HTML knows, what is null;
// and lists too long to be matched do not take long.
func TestDiffOfVersions(t *testing.T) {
	optional.OneGoroutine(t)
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	with := func(operations string) []byte {
		return []byte(`{"name": "n", "description": "d", "operations": [` + operations + `{"type": "return_html"}]}`)
	}
	const fetch = `{"type": "fetch", "endpoint": {"url": "https://a.example/", "method": "POST", "body": {"id": 9007199254740993, "a": "<&>", "b": null}}}, `
	many := `{"type": "press", "key": "a"}, ` + strings.Repeat(`{"type": "press", "key": "Tab"}, `, 20000)
	r := create(t, s, ann, string(with("")))
	for _, text := range []string{fetch, strings.Replace(fetch, "0993", "0992", 1), many, many[len(`{"type": "press", "key": "a"}, `):]} {
		if _, _, err := s.ReplaceRoutine(t.Context(), ann, r.ID, with(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		from, to int
		want     string
	}{
		{1, 2, `[{"op":"add","path":"/operations/0","value":{"endpoint":{"body":{"a":"<&>","b":null,"id":9007199254740993},"method":"POST","url":"https://a.example/"},"type":"fetch"}}]`},
		{2, 3, `[{"op":"replace","path":"/operations/0/endpoint/body/id","value":9007199254740992}]`},
		{5, 5, `[]`},
	} {
		if got, err := s.DiffVersions(t.Context(), ann, r.ID, row.from, row.to); err != nil || string(got) != row.want {
			t.Errorf("%d to %d: %s %v", row.from, row.to, got, err)
		}
	}
	var got []byte
	var err error
	took := stopwatch.Time(func() { got, err = s.DiffVersions(t.Context(), ann, r.ID, 4, 5) })
	if err != nil || !strings.Contains(string(got), `"op":"remove"`) || took > 5*time.Second {
		t.Errorf("%.200s %v after %v", got, err, took)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Error(err)
	}
	return cmp.Equal(x, y)
}

func TestExpectedVersion(t *testing.T) {
	s, r := editable(t)
	if _, err := s.PublishRoutine(t.Context(), ann, r.ID, true, []int{1}); err != nil {
		t.Fatal(err)
	}
	stale := []int{1, 3}
	_, _, patched := s.PatchRoutine(t.Context(), ann, r.ID, []byte(`{"name": "m"}`), stale)
	_, _, replaced := s.ReplaceRoutine(t.Context(), ann, r.ID, []byte(private), stale)
	_, _, restored := s.RestoreRoutine(t.Context(), ann, r.ID, 1, stale)
	_, published := s.PublishRoutine(t.Context(), ann, r.ID, false, stale)
	_, archived := s.ArchiveRoutine(t.Context(), ann, r.ID, stale)
	_, none := s.ArchiveRoutine(t.Context(), ann, r.ID, []int{})
	for _, err := range []error{patched, replaced, restored, published, archived, none} {
		if routine.CodeOf(err) != routine.CodePreconditionFailed || !strings.Contains(err.Error(), "version 2") {
			t.Error(err)
		}
	}
	if _, err := s.ArchiveRoutine(t.Context(), ann, r.ID, []int{1, 2}); err != nil {
		t.Error(err)
	}
}

// TestNoChangeIsLost: changes to different fields that come at once are all in
// the result, and each is a version.
func TestNoChangeIsLost(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	r := create(t, s, ann, private)
	patches := []string{`{"name": "m"}`, `{"description": "e"}`, `{"tags": ["t"]}`, `{"incognito": false}`, `{"is_public": true}`, `{"is_mcp_tool_designated": false}`,
		`{"operations": [{"type": "return_html", "scope": "page"}]}`, `{"routine_status": "draft"}`}
	var all sync.WaitGroup
	for _, patch := range patches {
		all.Go(func() {
			if _, _, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte(patch), nil); err != nil {
				t.Error(patch, err)
			}
		})
	}
	all.Wait()
	got, err := s.Routine(t.Context(), ann, r.ID)
	if err != nil || got.Version != 1+len(patches) || got.Name != "m" || got.Description != "e" || len(got.Tags) != 1 || got.Incognito || !got.IsPublic ||
		got.IsMCPToolDesignated || got.Status != routine.StatusDraft {
		t.Errorf("%+v %v", got, err)
	}
}
