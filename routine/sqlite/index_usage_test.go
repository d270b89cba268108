package sqlite

import (
	"database/sql"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

func TestRoutineListsUseIndexes(t *testing.T) {
	s := open(t, tempPath(t))
	type query struct {
		text string
		args []any
	}
	queries := map[string]query{}
	for name, f := range map[string]routine.RoutineFilter{
		"of an organization":            {OrganizationID: "acme", Limit: 20},
		"of an organization and public": {OrganizationID: "acme", Public: true, Limit: 20},
		"public":                        {Limit: 20},
		"published":                     {OrganizationID: "acme", Published: true},
		"published with public":         {OrganizationID: "acme", Published: true, Public: true},
		"published and public":          {Published: true},
		"by status and flags": {OrganizationID: "acme", Public: true, Statuses: []routine.Status{routine.StatusDraft}, IsPublic: new(true),
			Designated: new(true), Limit: 20},
	} {
		text, args := routinePageQuery(f)
		queries["page "+name] = query{text, args}
		text, args = routineMatchQuery(f)
		queries["count "+name] = query{`SELECT count(*) FROM (` + text + `)`, args}
	}
	for name, q := range queries {
		t.Run(name, func(t *testing.T) {
			plan := explain(t, s, q.text, q.args)
			if !strings.Contains(plan, "COVERING INDEX") {
				t.Errorf("no covering index:\n%s", plan)
			}
			for line := range strings.Lines(plan) {
				// At the top (parent 0) it is the chosen page that is sorted.
				if strings.Contains(line, "SCAN routines\n") ||
					strings.Contains(line, "TEMP B-TREE FOR ORDER BY") && !strings.HasPrefix(line, "0 ") {
					t.Errorf("%s in plan:\n%s", strings.TrimSpace(line), plan)
				}
			}
		})
	}
}

// A list of one tag reads what has the tag, in the order of the list.
func TestTagListUsesIndex(t *testing.T) {
	s := open(t, tempPath(t))
	text, args := routinePageQuery(routine.RoutineFilter{OrganizationID: "acme", Public: true, Tag: "shop", Words: []string{"lamp"}, Limit: 20})
	plan := explain(t, s, text, args)
	if !strings.Contains(plan, "SEARCH t USING PRIMARY KEY (tag=? AND organization_id=?)") ||
		!strings.Contains(plan, "SEARCH t USING COVERING INDEX routine_tags_public (tag=?)") ||
		strings.Count(plan, "TEMP B-TREE") > 1 { // of the chosen page
		t.Errorf("plan:\n%s", plan)
	}
}

func TestOpenExecutionsUseIndex(t *testing.T) {
	s := open(t, tempPath(t))
	for query, args := range map[string]int{selectOpenOwners: 0, failOpenOfOwner: 6} {
		if plan := explain(t, s, query, make([]any, args)); !strings.Contains(plan, "INDEX executions_open") {
			t.Errorf("%s\ndoes not use the index:\n%s", query, plan)
		}
	}
}

func TestExecutionsOfAScheduleUseIndex(t *testing.T) {
	s := open(t, tempPath(t))
	where, args := executionMatches(routine.ExecutionFilter{OrganizationID: "acme", ScheduleID: "s", Status: routine.ExecutionFailed})
	for _, plan := range []string{explain(t, s, countQuery(`SELECT 1`+where, 10), args), explain(t, s, executionPageQuery(where), append(args, 20, 0))} {
		if !strings.Contains(plan, "INDEX executions_of_schedule (schedule_id=?)") {
			t.Errorf("does not use the index:\n%s", plan)
		}
	}
}

// Each list of executions is narrowed by an index of its filter, and read in its order. Only
// open executions, of which there are few, are sorted.
func TestFilteredExecutionListsUseIndexes(t *testing.T) {
	s := open(t, tempPath(t))
	type filter = routine.ExecutionFilter
	now, cursor := routinetest.Time, &routine.ExecutionCursor{CreatedAt: routinetest.Time, ID: "e"}
	for _, row := range []struct {
		f    filter
		want string
	}{
		{filter{}, "executions_of_organization (organization_id=?)"},
		{filter{Before: cursor}, "executions_of_organization (organization_id=? AND (created_at,id)<(?,?))"},
		{filter{Since: now, Until: now}, "executions_of_organization (organization_id=? AND created_at>? AND created_at<?)"},
		{filter{Via: "mcp", Before: cursor}, "executions_via (organization_id=? AND via=? AND (created_at,id)<(?,?))"},
		{filter{CreatedBy: "ann", Via: "mcp", Before: cursor}, "executions_of_user (organization_id=? AND created_by=? AND (created_at,id)<(?,?))"},
		{filter{Code: "timeout", Before: cursor}, "executions_failed (organization_id=? AND (created_at,id)<(?,?))"},
		{filter{Status: "failed", CreatedBy: "ann", Via: "mcp"}, "executions_failed (organization_id=?)"},
		{filter{Status: "running", CreatedBy: "ann", Before: cursor}, "executions_open"},
		{filter{RoutineID: "r", Before: cursor}, "executions_of_routine (routine_id=? AND (created_at,id)<(?,?))"},
		{filter{RoutineID: "r", Code: "timeout", CreatedBy: "ann", Via: "mcp"}, "executions_of_routine (routine_id=?)"},
		{filter{RoutineID: "r", Version: 3, CreatedBy: "ann", Before: cursor}, "executions_of_version (routine_id=? AND routine_version=? AND (created_at,id)<(?,?))"},
		{filter{ScheduleID: "s", RoutineID: "r", CreatedBy: "ann"}, "executions_of_schedule (schedule_id=?)"},
	} {
		where, args := executionMatches(row.f)
		page, pageArgs := executionPage(row.f, where, args)
		plan := explain(t, s, page, pageArgs)
		sorted := strings.Contains(plan, "TEMP B-TREE")
		if !strings.Contains(plan, "INDEX "+row.want+"\n") || sorted != (row.f.Status == "running") {
			t.Errorf("%+v:\n%s", row.f, plan)
		}
	}
}

// The runs of each routine are chosen by an index alone, and only those are read.
func TestRecentRunsUseIndexes(t *testing.T) {
	s := open(t, tempPath(t))
	plan := explain(t, s, selectRecentRuns, []any{`["a", "b"]`, "acme", 12})
	if !strings.Contains(plan, "USING COVERING INDEX executions_of_routine (routine_id=?)") || strings.Contains(plan, "SCAN executions") {
		t.Errorf("plan:\n%s", plan)
	}
}

func TestDueSchedulesUseIndexes(t *testing.T) {
	s := open(t, tempPath(t))
	plan := explain(t, s, dueSchedules, []any{1, rows.WrongClock, 10})
	for _, want := range []string{"SEARCH schedules USING COVERING INDEX schedules_due (next_at<?)",
		"SEARCH schedules USING COVERING INDEX schedules_moved (moved_at>?)", "SEARCH s USING INDEX sqlite_autoindex_schedules_1 (id=?)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %s in\n%s", want, plan)
		}
	}
}

// explain returns the plan, a line a step, with the step's parent in front.
func explain(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	rows, err := s.read.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query, args...)
	must(t, err)
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var id, parent, unused, detail string
		must(t, rows.Scan(&id, &parent, &unused, &detail))
		b.WriteString(parent + " " + detail + "\n")
	}
	must(t, rows.Err())
	return b.String()
}

func BenchmarkOpenOfAnExistingDatabase(b *testing.B) {
	path := tempPath(b)
	open(b, path)
	for b.Loop() {
		s, err := Open(b.Context(), path)
		must(b, err)
		must(b, s.Close())
	}
}

func BenchmarkRoutinesOf100000(b *testing.B) {
	s := open(b, tempPath(b))
	fill(b, s, 100_000)
	for name, f := range map[string]routine.RoutineFilter{
		"first page":      {OrganizationID: "acme", Limit: 20},
		"last page":       {OrganizationID: "acme", Limit: 20, Offset: 89_980},
		"with public":     {OrganizationID: "acme", Public: true, Limit: 20},
		"public":          {Limit: 20},
		"published":       {OrganizationID: "acme", Published: true, Limit: 20},
		"rarely matching": {OrganizationID: "rare", Public: true, Published: true, Limit: 20},
		"rare tag":        {OrganizationID: "acme", Public: true, Tag: "rare", Limit: 20},
		"tag, all match":  {OrganizationID: "acme", Public: true, Tag: "shop", Limit: 20},
		"word, all match": {OrganizationID: "acme", Words: []string{"item"}, Limit: 20},
		"word, none does": {OrganizationID: "acme", Public: true, Words: []string{"nowhere"}, Limit: 20},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := s.Routines(b.Context(), f)
				must(b, err)
			}
		})
	}
}

// fill writes many routines in one transaction: nine of ten belong to "acme",
// one of ten is public, one of a hundred is a tool.
func fill(b *testing.B, s *Store, n int) {
	b.Helper()
	d := routinetest.Definition(b)
	definition, err := rows.Encode(d)
	must(b, err)
	words := d.SearchText()
	tx, err := s.write.BeginTx(b.Context(), nil)
	must(b, err)
	defer func() { _ = tx.Rollback() }()
	for i := range n {
		organization := "acme"
		if i%10 == 9 {
			organization = "globex"
		}
		_, err := tx.ExecContext(b.Context(), `
			INSERT INTO routines (id, organization_id, project_id, created_by, tool_name, status, version,
				is_public, is_mcp_tool_designated, created_at, updated_at, words)
			VALUES (?, ?, 'p', 'ann', ?, 'active', 1, ?, ?, ?, 0, ?)`,
			fmt.Sprintf("%08d", i), organization, fmt.Sprintf("tool_%d", i), i%10 == 3, i%100 == 0, i/3, words)
		must(b, err)
		_, err = tx.ExecContext(b.Context(), `
			INSERT INTO routine_versions (routine_id, version, definition, created_at, created_by) VALUES (?, 1, ?, 0, 'ann')`,
			fmt.Sprintf("%08d", i), definition)
		must(b, err)
		must(b, saveTags(b.Context(), tx, fmt.Sprintf("%08d", i), &d))
	}
	must(b, tx.Commit())
}

// BenchmarkCreateRoutine also measures the minimum: a commit of one short row,
// which is mostly a wait for the disk.
func BenchmarkCreateRoutine(b *testing.B) {
	s := open(b, tempPath(b))
	_, err := s.write.ExecContext(b.Context(), `CREATE TABLE floor (n INTEGER PRIMARY KEY)`)
	must(b, err)
	for name, commit := range map[string]func(){
		"floor": func() {
			_, err := s.write.ExecContext(b.Context(), `INSERT INTO floor DEFAULT VALUES`)
			must(b, err)
		},
		"alone": func() { must(b, s.CreateRoutine(b.Context(), routinetest.Routine(b))) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				commit()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
	b.Run("16 at once", func(b *testing.B) {
		b.SetParallelism(16 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				must(b, s.CreateRoutine(b.Context(), routinetest.Routine(b)))
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	})
}

// A long list of webhooks that are due must not slow down those who send them.
func BenchmarkClaimOf50000Webhooks(b *testing.B) {
	s := open(b, tempPath(b))
	must(b, s.inTx(b.Context(), func(tx *sql.Tx) error {
		for i := range 50_000 {
			e := routinetest.Ended(routinetest.Execution(b))
			id := fmt.Sprintf("e%d", i)
			_, err := tx.ExecContext(b.Context(), `
				INSERT INTO executions
					(id, organization_id, routine_id, routine_name, routine_version, status, error_code, created_by, owner, created_at)
				VALUES (?, 'acme', 'r', 'n', 1, 'failed', '', '', '', ?)`,
				id, rows.Micros(e.CreatedAt))
			if err != nil {
				return err
			}
			host := fmt.Sprintf("host%d.example", i%100)
			_, err = tx.ExecContext(b.Context(), `
				INSERT INTO webhooks (id, execution_id, organization_id, host, url, allowed_hosts, due_at) VALUES (?, ?, 'acme', ?, ?, '[]', 0)`,
				"m"+id, id, host, "https://"+host+"/")
			if err != nil {
				return err
			}
		}
		return nil
	}))
	for b.Loop() {
		claimed, err := s.ClaimWebhooks(b.Context(), routine.WebhookClaim{Now: routinetest.Time, Until: routinetest.Time, Limit: 32, PerOrganization: 8, PerHost: 16})
		if err != nil || len(claimed) != 8 {
			b.Fatal(len(claimed), err)
		}
	}
}
