package routinetest

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

func listWithoutDefinitions(t *testing.T, s routine.Store) {
	small := Routine(t, func(r *routine.Routine) { r.CreatedAt = 1 })
	large := Routine(t, func(r *routine.Routine) {
		r.CreatedAt = 2
		r.Operations = Parse(t, `{"name": "n", "description": "d", "operations": [
			{"type": "input_text", "selector": "#a", "text": "`+strings.Repeat("<ü>", 20000)+`"}]}`).Operations
	})
	must(t, s.CreateRoutine(t.Context(), small))
	must(t, s.CreateRoutine(t.Context(), large))
	size, err := s.DefinitionSize(t.Context(), large.ID, 0)
	must(t, err)
	for _, row := range []struct {
		max  int
		want *routine.Routine
	}{{size, large}, {size - 1, new(*large)}, {0, large}} {
		if row.max > 0 && row.max < size {
			row.want.OmitDetails()
		}
		list, total, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", MaxDefinition: row.max})
		must(t, err)
		equal(t, "total", total, 2)
		equal(t, fmt.Sprintf("list of at most %d bytes", row.max), list, []*routine.Routine{row.want, small})
	}
	briefs, _, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", MaxDefinition: 1})
	must(t, err)
	for i, r := range []*routine.Routine{large, small} {
		brief := *r
		brief.OmitDetails()
		equal(t, "list of headers", briefs[i], &brief)
	}
	list, _, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", WithoutDefinitions: true})
	must(t, err)
	for i, r := range []*routine.Routine{large, small} {
		bare := *r
		bare.Definition = routine.Definition{}
		equal(t, "without definition", list[i], &bare)
	}
}

func definitionSize(t *testing.T, s routine.Store) {
	r := Routine(t)
	must(t, s.CreateRoutine(t.Context(), r))
	first, err := s.DefinitionSize(t.Context(), r.ID, 0)
	must(t, err)
	r.Version, r.Description = 2, r.Description+"12345"
	must(t, s.UpdateRoutine(t.Context(), r, "ann"))
	for version, want := range map[int]int{0: first + 5, 1: first, 2: first + 5} {
		size, err := s.DefinitionSize(t.Context(), r.ID, version)
		must(t, err)
		equal(t, fmt.Sprintf("size of version %d", version), size, want)
	}
	_, err = s.DefinitionSize(t.Context(), r.ID, 3)
	wantErr(t, "an unknown version", err, routine.ErrNotFound)
	_, err = s.DefinitionSize(t.Context(), "no-such-id", 0)
	wantErr(t, "an unknown routine", err, routine.ErrNotFound)
}
