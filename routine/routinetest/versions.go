package routinetest

import (
	"fmt"
	"testing"

	"rote/routine"
)

var versionPromises = []promise{
	{"a change is a new version, and the old ones stay", changeIsAVersion},
	{"what identifies a routine does not change", identityStays},
	{"a change to a version that is not the newest is stale", staleChange},
	{"of many that save a version at once one succeeds", versionRace},
	{"a routine that was never created has no versions", noVersions},
	{"versions are listed in pages, newest first", versionPages},
	{"versions are copied in and out", versionIsCopied},
}

// changed returns r as its next version.
func changed(t *testing.T, r *routine.Routine, edits ...func(*routine.Routine)) *routine.Routine {
	t.Helper()
	next := *r
	next.Definition = Definition(t)
	next.Version, next.UpdatedAt = r.Version+1, r.UpdatedAt+60
	next.Description = fmt.Sprintf("Version %d.", next.Version)
	for _, edit := range edits {
		edit(&next)
	}
	return &next
}

// versionOf is r as a version.
func versionOf(r *routine.Routine, at int64, by string) *routine.Version {
	return &routine.Version{Number: r.Version, Status: r.Status, CreatedAt: at, CreatedBy: by, Definition: &r.Definition}
}

func changeIsAVersion(t *testing.T, s routine.Store) {
	first, other := Routine(t), Routine(t)
	must(t, s.CreateRoutine(t.Context(), first))
	must(t, s.CreateRoutine(t.Context(), other))
	second := changed(t, first, func(r *routine.Routine) {
		r.Definition = Parse(t,
			`{"name":"renamed","description":"Does less.","is_public":true,"is_mcp_tool_designated":false,"operations":[{"type":"sleep","timeout_seconds":0.5}]}`)
		r.Status = routine.StatusDraft
	})
	must(t, s.UpdateRoutine(t.Context(), second, "bob"))
	third := changed(t, second, func(r *routine.Routine) { r.Status = routine.StatusArchived })
	must(t, s.UpdateRoutine(t.Context(), third, "cas"))

	for _, want := range []*routine.Routine{third, other} {
		got, err := s.Routine(t.Context(), want.ID)
		must(t, err)
		equal(t, "routine", got, want)
	}
	for _, want := range []*routine.Version{versionOf(first, first.CreatedAt, "ann"), versionOf(second, second.UpdatedAt, "bob"),
		versionOf(third, third.UpdatedAt, "cas")} {
		got, err := s.Version(t.Context(), first.ID, want.Number)
		must(t, err)
		equal(t, "version", got, want)
	}
	for _, number := range []int{-1, 0, 4} {
		_, err := s.Version(t.Context(), first.ID, number)
		wantErr(t, fmt.Sprintf("version %d", number), err, routine.ErrNotFound)
	}
}

func identityStays(t *testing.T, s routine.Store) {
	first := Routine(t)
	must(t, s.CreateRoutine(t.Context(), first))
	second := changed(t, first, func(r *routine.Routine) {
		r.OrganizationID, r.ProjectID, r.CreatedBy, r.ToolName, r.CreatedAt = "x", "x", "x", "x", 1
	})
	must(t, s.UpdateRoutine(t.Context(), second, "bob"))
	got, err := s.Routine(t.Context(), first.ID)
	must(t, err)
	equal(t, "routine", got, changed(t, first))
}

func staleChange(t *testing.T, s routine.Store) {
	first := Routine(t)
	must(t, s.CreateRoutine(t.Context(), first))
	second := changed(t, first)
	must(t, s.UpdateRoutine(t.Context(), second, "bob"))
	for _, stale := range []int{0, 1, 2, 4} {
		r := changed(t, second, func(r *routine.Routine) { r.Version = stale })
		wantErr(t, fmt.Sprintf("saving version %d over 2", stale), s.UpdateRoutine(t.Context(), r, "cas"), routine.ErrStale)
	}
	wantErr(t, "UpdateRoutine", s.UpdateRoutine(t.Context(), changed(t, Routine(t)), "cas"), routine.ErrNotFound)
	got, err := s.Routine(t.Context(), first.ID)
	must(t, err)
	equal(t, "routine", got, second)
	_, total, err := s.Versions(t.Context(), first.ID, 10, 0)
	must(t, err)
	equal(t, "versions", total, 2)
}

func versionRace(t *testing.T, s routine.Store) {
	first := Routine(t)
	must(t, s.CreateRoutine(t.Context(), first))
	errs := race(16, func(i int) error { return s.UpdateRoutine(t.Context(), changed(t, first), fmt.Sprintf("user %d", i)) })
	winner := onlyWinner(t, errs, routine.ErrStale)
	got, err := s.Version(t.Context(), first.ID, 2)
	must(t, err)
	equal(t, "author", got.CreatedBy, fmt.Sprintf("user %d", winner))
}

func noVersions(t *testing.T, s routine.Store) {
	must(t, s.CreateRoutine(t.Context(), Routine(t)))
	list, total, err := s.Versions(t.Context(), "no-such-id", 10, 0)
	must(t, err)
	if len(list) != 0 || total != 0 {
		t.Errorf("%d versions of %d", len(list), total)
	}
	_, err = s.Version(t.Context(), "no-such-id", 1)
	wantErr(t, "Version", err, routine.ErrNotFound)
}

func versionPages(t *testing.T, s routine.Store) {
	r := Routine(t)
	must(t, s.CreateRoutine(t.Context(), r))
	all := []*routine.Version{{Number: 1, Status: r.Status, CreatedAt: r.CreatedAt, CreatedBy: r.CreatedBy}}
	for range 4 {
		r = changed(t, r)
		must(t, s.UpdateRoutine(t.Context(), r, "bob"))
		all = append([]*routine.Version{{Number: r.Version, Status: r.Status, CreatedAt: r.UpdatedAt, CreatedBy: "bob"}}, all...)
	}
	for _, row := range []struct {
		limit, offset int
		want          []*routine.Version
	}{{10, 0, all}, {2, 0, all[:2]}, {2, 2, all[2:4]}, {2, 4, all[4:]}, {2, 5, nil}} {
		got, total, err := s.Versions(t.Context(), r.ID, row.limit, row.offset)
		must(t, err)
		equal(t, fmt.Sprintf("limit %d offset %d", row.limit, row.offset), got, row.want)
		equal(t, "total", total, 5)
	}
}

func versionIsCopied(t *testing.T, s routine.Store) {
	first := Routine(t)
	must(t, s.CreateRoutine(t.Context(), first))
	passed := changed(t, first)
	must(t, s.UpdateRoutine(t.Context(), passed, "bob"))
	spoil(passed)
	want := versionOf(changed(t, first), first.UpdatedAt+60, "bob")
	for range 2 {
		got, err := s.Version(t.Context(), first.ID, 2)
		must(t, err)
		equal(t, "version", got, want)
		spoil(&routine.Routine{Definition: *got.Definition})
	}
	got, err := s.Routine(t.Context(), first.ID)
	must(t, err)
	equal(t, "routine", got, changed(t, first))
}
