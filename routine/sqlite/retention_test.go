package sqlite

import (
	"strings"
	"testing"
)

// The ledger grows without end between two prunings: nothing that is asked often
// may read all of it.
func TestExecutionListsUseIndexes(t *testing.T) {
	s := open(t, tempPath(t))
	for query, want := range map[string]string{
		`SELECT count(*) FROM executions WHERE organization_id = 'a'`:                                                               "COVERING INDEX executions_of_user (organization_id=?)",
		`SELECT id, created_at FROM executions WHERE organization_id = 'a' AND status = 'failed' ORDER BY created_at DESC, id DESC`: "COVERING INDEX executions_of_organization (organization_id=?)",
		`SELECT count(*) FROM executions WHERE organization_id = 'a' AND routine_id = 'r'`:                                          "COVERING INDEX executions_of_version (routine_id=?)",
		`SELECT created_at, sum(size) OVER (ORDER BY created_at DESC, id DESC) FROM executions`:                                     "COVERING INDEX executions_by_age",
		`SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE made_id = 'x' AND created_at > 1)`:                                     "INDEX idempotency_keys_made (made_id=?)",
		`SELECT EXISTS (SELECT 1 FROM executions WHERE result_hash = x'00')`:                                                        "INDEX executions_result_hash (result_hash=?)",
		`SELECT id FROM executions WHERE owner = 'o' AND status IN ('pending', 'running') AND cancel_requested_at IS NOT NULL`:      "INDEX executions_open (owner=?)",
	} {
		plan := planOf(t, s, query)
		if !strings.Contains(plan, want) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s:\n got %s\nwant %s", query, plan, want)
		}
	}
}

func planOf(t *testing.T, s *Store, query string) string {
	t.Helper()
	rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query)
	must(t, err)
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		must(t, rows.Scan(&id, &parent, &unused, &detail))
		plan = append(plan, detail)
	}
	must(t, rows.Err())
	return strings.Join(plan, "; ")
}
