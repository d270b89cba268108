package sqlite

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

const changesPerChild = 25

// countUp adds to the number that is the description of the one routine there
// is, each time from the version that it has read.
func countUp(ctx context.Context, s *Store) error {
	service := service.New(service.Config{Store: s})
	defer service.Close(ctx)
	ann := routine.Principal{UserID: "ann", OrganizationID: "acme", Scopes: routine.DefaultScopes}
	list, _, err := service.Routines(ctx, ann, routine.RoutineFilter{})
	if err != nil {
		return err
	}
	id := list[0].ID
	for range changesPerChild {
		for code := routine.CodePreconditionFailed; code != ""; {
			r, err := service.Routine(ctx, ann, id)
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(r.Description)
			if err != nil {
				return err
			}
			_, _, err = service.PatchRoutine(ctx, ann, id, fmt.Appendf(nil, `{"description": "%d"}`, n+1), []int{r.Version})
			if code = routine.CodeOf(err); code != "" && code != routine.CodePreconditionFailed {
				return err
			}
		}
	}
	return nil
}

// When several processes change one routine at the same time, no change is lost,
// no version is skipped or used twice, and no process gets a "database is
// locked" error.
func TestConcurrentProcessesLoseNoChange(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	r := routinetest.Routine(t, func(r *routine.Routine) { r.Description = "0" })
	must(t, s.CreateRoutine(t.Context(), r))
	children := []*child{start(t, "count", path), start(t, "count", path), start(t, "count", path)}
	for _, c := range children {
		c.goOn(t)
	}
	for _, c := range children {
		c.done(t)
		c.end(t)
	}
	changes := len(children) * changesPerChild
	got, err := s.Routine(t.Context(), r.ID)
	must(t, err)
	if got.Description != strconv.Itoa(changes) || got.Version != changes+1 {
		t.Errorf("after %d changes the count is %s, the version %d", changes, got.Description, got.Version)
	}
	versions, total, err := s.Versions(t.Context(), r.ID, changes+10, 0)
	must(t, err)
	if total != changes+1 {
		t.Errorf("%d versions", total)
	}
	for i, v := range versions {
		if v.Number != total-i {
			t.Fatalf("version %d stands where %d should", v.Number, total-i)
		}
	}
}
