package postgres

import (
	"context"
	"fmt"

	"rote/routine"
	"rote/routine/rows"
)

// selectRecentRuns selects the newest executions of the routines $1. Those of each routine are
// read in the order of an index.
const selectRecentRuns = `
	SELECT ` + rows.RecentRunColumns + ` FROM unnest($1::text[]) AS wanted (routine_id), LATERAL (
		SELECT * FROM executions WHERE executions.routine_id = wanted.routine_id AND organization_id = $2
		ORDER BY created_at DESC, id DESC LIMIT $3) AS executions
	ORDER BY executions.created_at DESC, executions.id DESC`

// RecentRuns returns the newest executions of each routine, newest first.
func (s *Store) RecentRuns(ctx context.Context, organizationID string, routineIDs []string, n int) (map[string][]*routine.Execution, error) {
	ids := make([]any, 0, len(routineIDs))
	for _, id := range routineIDs {
		ids = append(ids, value(id))
	}
	var runs map[string][]*routine.Execution
	err := s.snapshot(ctx, func(ctx context.Context, q queryer) error {
		list, err := collect(ctx, q, func(scan rows.Scan) (*routine.Execution, error) {
			return rows.ScanRecentRun(scan, organizationID)
		}, selectRecentRuns, ids, value(organizationID), n)
		runs = map[string][]*routine.Execution{}
		for _, e := range list {
			runs[e.RoutineID] = append(runs[e.RoutineID], e)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list recent runs: %w", err)
	}
	return runs, nil
}
