package routinetest

import (
	"fmt"
	"testing"

	"rote/routine"
)

var routinePromises = []promise{
	{"a created routine is read back whole", routineIsKept},
	{"a routine that was never created is not found", routineNotFound},
	{"an archived routine is read but not listed unless asked for", archivedIsNotListed},
	{"a tool name is used once in an organization", toolNameIsUnique},
	{"a tool name is given to one of many that want it at once", toolNameRace},
	{"a name that must be unique is given once among routines that are not archived", uniqueName},
	{"a unique name is given to one of many that want it at once", uniqueNameRace},
	{"a routine passed in is copied", routineIsCopiedIn},
	{"a routine returned is the caller's own", routineIsCopiedOut},
	{"a list is newest first, ties by descending id", listOrder},
	{"pages cover the list without overlap and tell the total", listPages},
	{"a list has what its filter says", listFilters},
	{"tags and words are found whatever characters they have", listSearch},
	{"a list finds what a change has made of a routine", listAfterChange},
	{"a list leaves out large definitions, or all of them", listWithoutDefinitions},
	{"the size of a definition is told for each version", definitionSize},
}

func routineIsKept(t *testing.T, s routine.Store) {
	full := Routine(t)
	bare := Routine(t, func(r *routine.Routine) {
		r.Definition = Parse(t, `{"name":"bare","description":"Does next to nothing.","operations":[{"type":"sleep","timeout_seconds":0.5}]}`)
		r.Status = routine.StatusDraft
		r.Version = 7
		r.IsPublic = true
		r.CreatedAt, r.UpdatedAt = 1, 2
	})
	for _, r := range []*routine.Routine{full, bare} {
		must(t, s.CreateRoutine(t.Context(), r))
	}
	for _, want := range []*routine.Routine{full, bare} {
		got, err := s.Routine(t.Context(), want.ID)
		must(t, err)
		equal(t, "routine", got, want)
	}
}

func routineNotFound(t *testing.T, s routine.Store) {
	must(t, s.CreateRoutine(t.Context(), Routine(t)))
	_, err := s.Routine(t.Context(), "no-such-id")
	wantErr(t, "Routine", err, routine.ErrNotFound)
}

func archivedIsNotListed(t *testing.T, s routine.Store) {
	archived := Routine(t, func(r *routine.Routine) { r.Status, r.IsPublic = routine.StatusArchived, true })
	must(t, s.CreateRoutine(t.Context(), archived))
	got, err := s.Routine(t.Context(), archived.ID)
	must(t, err)
	equal(t, "routine", got, archived)
	for _, f := range []routine.RoutineFilter{{}, {OrganizationID: "acme"}, {OrganizationID: "acme", Public: true}} {
		list, total, err := s.Routines(t.Context(), f)
		must(t, err)
		if len(list) != 0 || total != 0 {
			t.Errorf("%+v lists %d routines of %d, want none", f, len(list), total)
		}
	}
	list, total, err := s.Routines(t.Context(), routine.RoutineFilter{Statuses: []routine.Status{routine.StatusArchived}})
	must(t, err)
	equal(t, "list of archived ones", list, []*routine.Routine{archived})
	equal(t, "total", total, 1)
}

func toolNameIsUnique(t *testing.T, s routine.Store) {
	named := func(organization string) *routine.Routine {
		return Routine(t, func(r *routine.Routine) { r.OrganizationID, r.ToolName = organization, "price" })
	}
	first, second := named("acme"), named("acme")
	must(t, s.CreateRoutine(t.Context(), first))
	wantErr(t, "second of the organization", s.CreateRoutine(t.Context(), second), routine.ErrToolNameTaken)
	must(t, s.CreateRoutine(t.Context(), named("globex")))

	_, err := s.Routine(t.Context(), second.ID)
	wantErr(t, "reading the refused one", err, routine.ErrNotFound)
	got, err := s.Routine(t.Context(), first.ID)
	must(t, err)
	equal(t, "the first", got, first)
}

func toolNameRace(t *testing.T, s routine.Store) {
	candidates := make([]*routine.Routine, 16)
	for i := range candidates {
		candidates[i] = Routine(t, func(r *routine.Routine) { r.ToolName = "price" })
	}
	errs := race(len(candidates), func(i int) error { return s.CreateRoutine(t.Context(), candidates[i]) })
	winner := candidates[onlyWinner(t, errs, routine.ErrToolNameTaken)]
	list, total, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme"})
	must(t, err)
	equal(t, "list", list, []*routine.Routine{winner})
	equal(t, "total", total, 1)
}

func uniqueName(t *testing.T, s routine.Store) {
	named := func(edits ...func(*routine.Routine)) *routine.Routine {
		return Routine(t, append([]func(*routine.Routine){func(r *routine.Routine) { r.Name, r.UniqueName = "price", true }}, edits...)...)
	}
	must(t, s.CreateRoutine(t.Context(), named(func(r *routine.Routine) { r.Status = routine.StatusArchived })))
	first := named()
	must(t, s.CreateRoutine(t.Context(), first))
	wantErr(t, "second of the organization", s.CreateRoutine(t.Context(), named()), routine.ErrNameTaken)
	must(t, s.CreateRoutine(t.Context(), named(func(r *routine.Routine) { r.OrganizationID = "globex" })))
	must(t, s.CreateRoutine(t.Context(), named(func(r *routine.Routine) { r.UniqueName = false })))

	renamed := *first
	renamed.Name, renamed.Version, renamed.UniqueName = "cost", 2, false
	must(t, s.UpdateRoutine(t.Context(), &renamed, "ada"))
	wantErr(t, "the name that another was changed to", s.CreateRoutine(t.Context(), named(func(r *routine.Routine) { r.Name = "cost" })), routine.ErrNameTaken)
	list, total, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", Name: "cost"})
	must(t, err)
	equal(t, "list of the new name", list, []*routine.Routine{&renamed})
	equal(t, "total", total, 1)
}

func uniqueNameRace(t *testing.T, s routine.Store) {
	candidates := make([]*routine.Routine, 16)
	for i := range candidates {
		candidates[i] = Routine(t, func(r *routine.Routine) { r.Name, r.UniqueName, r.ToolName = "price", true, fmt.Sprintf("price_%d", i) })
	}
	errs := race(len(candidates), func(i int) error { return s.CreateRoutine(t.Context(), candidates[i]) })
	onlyWinner(t, errs, routine.ErrNameTaken)
}

// spoil changes everything that a routine holds by reference.
func spoil(r *routine.Routine) {
	r.Status = "spoilt"
	r.Tags[0] = "spoilt"
	r.Parameters[0].Name = "spoilt"
	*r.Parameters[0].Validation.MaxLength = 1
	r.Operations[0] = r.Operations[1]
}

// createCopy creates a routine that shares nothing with r.
func createCopy(t *testing.T, s routine.Store, r *routine.Routine) (passed *routine.Routine) {
	t.Helper()
	c := *r
	c.Definition = Definition(t)
	must(t, s.CreateRoutine(t.Context(), &c))
	return &c
}

func routineIsCopiedIn(t *testing.T, s routine.Store) {
	want := Routine(t)
	spoil(createCopy(t, s, want))
	got, err := s.Routine(t.Context(), want.ID)
	must(t, err)
	equal(t, "routine", got, want)
}

func routineIsCopiedOut(t *testing.T, s routine.Store) {
	want := Routine(t)
	createCopy(t, s, want)
	got, err := s.Routine(t.Context(), want.ID)
	must(t, err)
	spoil(got)
	list, _, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme"})
	must(t, err)
	equal(t, "list after a change to what Routine gave", list, []*routine.Routine{want})
	spoil(list[0])
	got, err = s.Routine(t.Context(), want.ID)
	must(t, err)
	equal(t, "routine after a change to what Routines gave", got, want)
}

func listOrder(t *testing.T, s routine.Store) {
	at := func(id string, created int64) *routine.Routine {
		return Routine(t, func(r *routine.Routine) { r.ID, r.CreatedAt = id, created })
	}
	newest, tieC, tieB, tieA, oldest := at("a", 300), at("c", 200), at("b", 200), at("a2", 200), at("z", 100)
	for _, r := range []*routine.Routine{tieB, oldest, tieC, newest, tieA} {
		must(t, s.CreateRoutine(t.Context(), r))
	}
	list, total, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme"})
	must(t, err)
	equal(t, "list", list, []*routine.Routine{newest, tieC, tieB, tieA, oldest})
	equal(t, "total", total, 5)
}

func listPages(t *testing.T, s routine.Store) {
	for i := range 7 {
		must(t, s.CreateRoutine(t.Context(), Routine(t, func(r *routine.Routine) {
			r.ID = fmt.Sprintf("id-%d", i)
			r.CreatedAt = int64(i / 4) // four, then three, of the same second
			r.IsPublic = i%2 == 0
			if i >= 5 {
				r.OrganizationID, r.IsPublic = "globex", true
			}
		})))
	}
	for _, row := range []struct {
		limit, offset int
		want          []string
	}{
		{3, 0, []string{"id-6", "id-5", "id-4"}},
		{3, 3, []string{"id-3", "id-2", "id-1"}},
		{3, 6, []string{"id-0"}},
		{3, 7, nil},
		{3, 100, nil},
		{7, 0, []string{"id-6", "id-5", "id-4", "id-3", "id-2", "id-1", "id-0"}},
		{0, 0, []string{"id-6", "id-5", "id-4", "id-3", "id-2", "id-1", "id-0"}},
		{-1, 5, []string{"id-1", "id-0"}},
	} {
		list, total, err := s.Routines(t.Context(), routine.RoutineFilter{
			OrganizationID: "acme", Public: true, Limit: row.limit, Offset: row.offset})
		must(t, err)
		equal(t, fmt.Sprintf("limit %d offset %d", row.limit, row.offset), ids(list), row.want)
		equal(t, "total", total, 7)
	}
}

func listFilters(t *testing.T, s routine.Store) {
	for id, edit := range map[string]func(*routine.Routine){
		"acme":          func(*routine.Routine) {},
		"acme-draft":    func(r *routine.Routine) { r.Status = routine.StatusDraft },
		"acme-no-tool":  func(r *routine.Routine) { r.IsMCPToolDesignated = false },
		"acme-public":   func(r *routine.Routine) { r.IsPublic = true },
		"globex":        func(r *routine.Routine) { r.OrganizationID = "globex" },
		"globex-public": func(r *routine.Routine) { r.OrganizationID, r.IsPublic = "globex", true },
		"globex-public-draft": func(r *routine.Routine) {
			r.OrganizationID, r.IsPublic, r.Status = "globex", true, routine.StatusDraft
		},
		"acme-archived": func(r *routine.Routine) { r.Status, r.IsPublic = routine.StatusArchived, true },
	} {
		must(t, s.CreateRoutine(t.Context(), Routine(t, edit, func(r *routine.Routine) { r.ID, r.ToolName = id, "tool_"+id })))
	}
	for _, row := range []struct {
		name   string
		filter routine.RoutineFilter
		want   []string
	}{
		{"of an organization", routine.RoutineFilter{OrganizationID: "acme"},
			[]string{"acme-public", "acme-no-tool", "acme-draft", "acme"}},
		{"of an organization and public", routine.RoutineFilter{OrganizationID: "acme", Public: true},
			[]string{"globex-public-draft", "globex-public", "acme-public", "acme-no-tool", "acme-draft", "acme"}},
		{"public", routine.RoutineFilter{},
			[]string{"globex-public-draft", "globex-public", "acme-public"}},
		{"public, said twice", routine.RoutineFilter{Public: true},
			[]string{"globex-public-draft", "globex-public", "acme-public"}},
		{"published of an organization", routine.RoutineFilter{OrganizationID: "acme", Published: true},
			[]string{"acme-public", "acme"}},
		{"published, of an organization and public", routine.RoutineFilter{OrganizationID: "acme", Public: true, Published: true},
			[]string{"globex-public", "acme-public", "acme"}},
		{"published and public", routine.RoutineFilter{Published: true},
			[]string{"globex-public", "acme-public"}},
		{"unpublished", routine.RoutineFilter{OrganizationID: "acme", Unpublished: true},
			[]string{"acme-no-tool", "acme-draft", "acme-archived"}},
		{"unpublished and public", routine.RoutineFilter{Unpublished: true}, []string{"globex-public-draft", "acme-archived"}},
		{"of a tool name", routine.RoutineFilter{OrganizationID: "acme", ToolName: "tool_acme-draft"}, []string{"acme-draft"}},
		{"of a tool name and a tag", routine.RoutineFilter{OrganizationID: "acme", ToolName: "tool_acme-draft", Tag: "shop"}, []string{"acme-draft"}},
		{"of a name and a tag", routine.RoutineFilter{OrganizationID: "acme", Name: "no such name", Tag: "shop"}, nil},
		{"of another's tool name", routine.RoutineFilter{OrganizationID: "acme", ToolName: "tool_globex"}, nil},
		{"of an organization without routines", routine.RoutineFilter{OrganizationID: "initech"}, nil},
		{"drafts", routine.RoutineFilter{OrganizationID: "acme", Statuses: []routine.Status{routine.StatusDraft}}, []string{"acme-draft"}},
		{"whatever the status", routine.RoutineFilter{OrganizationID: "acme", Statuses: []routine.Status{routine.StatusDraft, routine.StatusActive,
			routine.StatusArchived}},
			[]string{"acme-public", "acme-no-tool", "acme-draft", "acme-archived", "acme"}},
		{"designated", routine.RoutineFilter{OrganizationID: "acme", Designated: new(true)}, []string{"acme-public", "acme-draft", "acme"}},
		{"not designated", routine.RoutineFilter{OrganizationID: "acme", Public: true, Designated: new(false)}, []string{"acme-no-tool"}},
		{"is public", routine.RoutineFilter{OrganizationID: "acme", Public: true, IsPublic: new(true)}, []string{"globex-public-draft", "globex-public",
			"acme-public"}},
		{"is not public", routine.RoutineFilter{OrganizationID: "acme", Public: true, IsPublic: new(false)}, []string{"acme-no-tool", "acme-draft", "acme"}},
		{"is not public, of those that are", routine.RoutineFilter{IsPublic: new(false)}, nil},
		{"all at once", routine.RoutineFilter{OrganizationID: "acme", Public: true, Statuses: []routine.Status{routine.StatusDraft}, Designated: new(true),
			IsPublic: new(true), Tag: "shop", Words: []string{"price"}},
			[]string{"globex-public-draft"}},
	} {
		list, total, err := s.Routines(t.Context(), row.filter)
		must(t, err)
		equal(t, row.name, ids(list), row.want)
		equal(t, row.name+": total", total, len(row.want))
	}
}

func listSearch(t *testing.T, s routine.Store) {
	for id, edit := range map[string]func(*routine.Definition){
		"name": func(d *routine.Definition) { d.Name = `Größe "50%_\' ⚡` },
		"text": func(d *routine.Definition) { d.Description = "Reads the Price\nof a \x00 lamp." },
		"tags": func(d *routine.Definition) { d.Tags = []string{"Shop", "a,b", "c\x1fd", "e\x1b", "100%"} },
		"many": func(d *routine.Definition) {
			d.Tags = nil
			for i := range 10_100 { // more than a store may write at once
				d.Tags = append(d.Tags, fmt.Sprint("many-", i), "many")
			}
		},
		"no-tags": func(d *routine.Definition) { d.Tags = nil },
	} {
		must(t, s.CreateRoutine(t.Context(), Routine(t, func(r *routine.Routine) {
			r.ID, r.Name, r.Description, r.Tags = id, "n", "d", []string{"tag"}
			edit(&r.Definition)
		})))
	}
	for _, row := range []struct {
		tag   string
		words []string
		want  []string
	}{
		{"", []string{"größe"}, []string{"name"}},
		{"", []string{"GRÖSSE"}, nil},
		{"", []string{`"50%`}, []string{"name"}},
		{"", []string{"%_"}, []string{"name"}},
		{"", []string{`_\'`}, []string{"name"}},
		{"", []string{"⚡"}, []string{"name"}},
		{"", []string{"%"}, []string{"tags", "name"}},
		{"", []string{"price", "LAMP", "\x00"}, []string{"text"}},
		{"", []string{"price", "größe"}, nil},
		{"", []string{"shop"}, []string{"tags"}},
		{"", []string{"c\x1fd"}, []string{"tags"}},
		{"tag", nil, []string{"text", "name"}},
		{"Shop", nil, []string{"tags"}},
		{"many-0", nil, []string{"many"}},
		{"many-10099", nil, []string{"many"}},
		{"many", nil, []string{"many"}},
		{"shop", nil, nil},
		{"Sho", nil, nil},
		{"a,b", nil, []string{"tags"}},
		{"a", nil, nil},
		{"c\x1fd", nil, []string{"tags"}},
		{"c", nil, nil},
		{"e\x1b", nil, []string{"tags"}},
		{"\x1b1", nil, nil},
		{"100%", nil, []string{"tags"}},
		{"tag", []string{"reads"}, []string{"text"}},
	} {
		for _, f := range []routine.RoutineFilter{{OrganizationID: "acme"}, {OrganizationID: "acme", Public: true}} {
			f.Tag, f.Words = row.tag, row.words
			list, total, err := s.Routines(t.Context(), f)
			must(t, err)
			equal(t, fmt.Sprintf("tag %q, words %q", row.tag, row.words), ids(list), row.want)
			equal(t, "total", total, len(row.want))
		}
	}
}

func listAfterChange(t *testing.T, s routine.Store) {
	r := Routine(t)
	must(t, s.CreateRoutine(t.Context(), r))
	next := changed(t, r, func(r *routine.Routine) {
		r.Name, r.Tags, r.IsPublic, r.IsMCPToolDesignated, r.Status = "other", []string{"new"}, true, false, routine.StatusDraft
	})
	must(t, s.UpdateRoutine(t.Context(), next, "bob"))
	for _, f := range []routine.RoutineFilter{{Words: []string{"find"}}, {Tag: "shop"}, {IsPublic: new(false)}, {Designated: new(true)},
		{Published: true}, {Statuses: []routine.Status{routine.StatusActive}}} {
		f.OrganizationID = "acme"
		if _, total, err := s.Routines(t.Context(), f); err != nil || total != 0 {
			t.Errorf("%+v still finds it: %v", f, err)
		}
	}
	list, _, err := s.Routines(t.Context(), routine.RoutineFilter{Words: []string{"other"}, Tag: "new", Designated: new(false),
		Statuses: []routine.Status{routine.StatusDraft}})
	must(t, err)
	equal(t, "list", list, []*routine.Routine{next})
}

func ids(list []*routine.Routine) []string {
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}
