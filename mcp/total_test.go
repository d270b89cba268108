package mcp

import (
	"context"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// longStore reports lists that are longer than routine.MaxTotal.
type longStore struct{ routine.Store }

func (s longStore) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	list, total, err := s.Store.Routines(ctx, f)
	if f.Unpublished {
		total = routine.MaxTotal + 1
	}
	return list, total, err
}

func (s longStore) Executions(ctx context.Context, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	list, _, err := s.Store.Executions(ctx, f)
	return list, routine.MaxTotal + 1, err
}

// Of a list with more than 10,000 matches the total is not exact.
func TestTotalsThatAreNotExact(t *testing.T) {
	h := newTestServer(t)
	h.service = service.New(service.Config{Store: longStore{h.store}, Browser: &routinetest.Browser{}})
	h = h.with(t, Config{Authoring: true})
	c := connect(t, h.Server)
	for tool, arguments := range map[string]map[string]any{"list_executions": {}, "search_routines": {}} {
		var list struct {
			Total int
			Exact *bool `json:"total_exact"`
		}
		own(t, c, tool, arguments, &list)
		if list.Total != routine.MaxTotal || list.Exact == nil || *list.Exact {
			t.Errorf("%s: %d, exact: %v", tool, list.Total, list.Exact)
		}
	}
}
