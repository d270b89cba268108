package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"rote/routine"
	"rote/routine/rows"
)

// selectRecentRuns selects the newest executions of the routines in a JSON array of ids. Those
// of each routine are chosen by an index alone.
const selectRecentRuns = `
	SELECT ` + rows.RecentRunColumns + ` FROM json_each(?) AS wanted CROSS JOIN executions
	WHERE executions.id IN (SELECT id FROM executions INDEXED BY executions_of_routine
		WHERE routine_id = wanted.value AND organization_id = ? ORDER BY created_at DESC, id DESC LIMIT ?)
	ORDER BY executions.created_at DESC, executions.id DESC`

// RecentRuns returns the newest executions of each routine, newest first.
func (s *Store) RecentRuns(ctx context.Context, organizationID string, routineIDs []string, n int) (map[string][]*routine.Execution, error) {
	ids, err := json.Marshal(routineIDs)
	if err != nil {
		return nil, fmt.Errorf("list recent runs: %w", err)
	}
	found, err := s.read.QueryContext(ctx, selectRecentRuns, string(ids), organizationID, n)
	if err != nil {
		return nil, fmt.Errorf("list recent runs: %w", err)
	}
	defer found.Close()
	runs := map[string][]*routine.Execution{}
	for found.Next() {
		e, err := rows.ScanRecentRun(found.Scan, organizationID)
		if err != nil {
			return nil, fmt.Errorf("list recent runs: %w", err)
		}
		runs[e.RoutineID] = append(runs[e.RoutineID], e)
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("list recent runs: %w", err)
	}
	return runs, nil
}
