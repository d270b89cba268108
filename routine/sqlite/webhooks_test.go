package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
)

// claimOfAll is a claim a year after routinetest.Time, with the bounds of the
// service.
var claimOfAll = routine.WebhookClaim{
	Now: routinetest.Time.AddDate(1, 0, 0), Until: routinetest.Time.AddDate(2, 0, 0),
	Limit: 32, PerOrganization: 8, PerHost: 16,
}

// endWithCallbacks saves n executions of an organization that have ended, with
// callbacks to a host.
func endWithCallbacks(t *testing.T, s *Store, organization, host string, n int) {
	t.Helper()
	for i := range n {
		e := routinetest.Execution(t, func(e *routine.Execution) {
			e.OrganizationID, e.CreatedAt = organization, routinetest.Time.Add(time.Duration(i)*time.Second)
			e.Callback = &routine.Callback{URL: "https://" + host + "/"}
		})
		must(t, s.CreateExecution(t.Context(), e))
		must(t, s.FinishExecution(t.Context(), routinetest.Ended(e)))
	}
}

// A claim reads no more of a target than it may take, however many are due, and
// nothing of what was delivered.
func TestClaimReadsFirstWebhooksOfEachTarget(t *testing.T) {
	s := open(t, tempPath(t))
	read := func() map[routine.WebhookTarget]int {
		t.Helper()
		due, err := s.dueWebhooks(t.Context(), claimOfAll)
		must(t, err)
		counts := map[routine.WebhookTarget]int{}
		for _, w := range due {
			counts[w.Target]++
		}
		return counts
	}
	want := fmt.Sprint(map[routine.WebhookTarget]int{
		{OrganizationID: "a", Host: "x"}: 8, {OrganizationID: "a", Host: "y"}: 2, {OrganizationID: "b", Host: "x"}: 8,
	})
	endWithCallbacks(t, s, "a", "y", 2)
	for range 3 {
		endWithCallbacks(t, s, "a", "x", 20)
		endWithCallbacks(t, s, "b", "x", 20)
		if got := fmt.Sprint(read()); got != want {
			t.Errorf("read %s, want %s", got, want)
		}
	}
	_, err := s.write.ExecContext(t.Context(), `UPDATE webhooks SET due_at = NULL WHERE organization_id = 'a'`)
	must(t, err)
	if got := fmt.Sprint(read()); got != fmt.Sprint(map[routine.WebhookTarget]int{{OrganizationID: "b", Host: "x"}: 8}) {
		t.Errorf("read %s when those of a are delivered", got)
	}
}

// Both the targets and what is due of each are found by the index alone.
func TestClaimUsesIndex(t *testing.T) {
	s := open(t, tempPath(t))
	plan := planOf(t, s, strings.NewReplacer("?1", "1", "?2", "8").Replace(dueWebhooks))
	for _, want := range []string{
		"SEARCH webhooks USING COVERING INDEX webhooks_due (organization_id=? AND host>?)",
		"SEARCH webhooks USING COVERING INDEX webhooks_due (organization_id>?)",
		"SEARCH d USING INDEX webhooks_due (organization_id=? AND host=? AND due_at<?)",
		"SEARCH w USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %s in %s", want, plan)
		}
	}
	if strings.Count(plan, "TEMP B-TREE") > 1 { // of what was found
		t.Errorf("it sorts: %s", plan)
	}
}

// Webhooks that were saved before they had a target get one.
func TestMigrationSetsWebhookTargets(t *testing.T) {
	path := tempPath(t)
	writeSchema(t, path, 11, func(write *sql.DB) {
		for i, url := range []string{"https://One.example:8443/x?y", "https://two.example", "https://two.example"} {
			_, err := write.ExecContext(t.Context(), `INSERT INTO executions
				(id, organization_id, routine_id, routine_name, routine_version, status, error_code, created_by, owner, created_at)
				VALUES (?, 'acme', 'r', 'n', 1, 'failed', '', '', '', 0)`, i)
			must(t, err)
			_, err = write.ExecContext(t.Context(), `INSERT INTO webhooks (id, execution_id, url, allowed_hosts, due_at) VALUES (?, ?, ?, '[]', ?)`, i, i, url, i)
			must(t, err)
		}
	})
	claimed, err := open(t, path).ClaimWebhooks(t.Context(), claimOfAll)
	must(t, err)
	var got []string
	for _, w := range claimed {
		got = append(got, w.Target.OrganizationID+" "+w.Target.Host+" "+w.URL)
	}
	const want = "acme one.example:8443 https://One.example:8443/x?y; acme two.example https://two.example; acme two.example https://two.example"
	if strings.Join(got, "; ") != want {
		t.Errorf("got %q", got)
	}
}
