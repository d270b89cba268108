package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestQueriesUseTheirIndexes(t *testing.T) {
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
	} {
		text, args := pageOfRoutines(f)
		queries["page "+name] = query{text, args}
		text, args = matchRoutines(f)
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

func TestOpenExecutionsAreFoundByTheirIndex(t *testing.T) {
	s := open(t, tempPath(t))
	for query, args := range map[string]int{selectOpenOwners: 0, endOpenOfOwner: 6} {
		if plan := explain(t, s, query, make([]any, args)); !strings.Contains(plan, "INDEX executions_open") {
			t.Errorf("%s\ndoes not use the index:\n%s", query, plan)
		}
	}
}

// explain gives the plan, a line a step, with the step's parent in front.
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
	definition, err := encode(routinetest.Definition(b))
	must(b, err)
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
				is_public, is_mcp_tool_designated, created_at, updated_at, definition)
			VALUES (?, ?, 'p', 'ann', ?, 'active', 1, ?, ?, ?, 0, ?)`,
			fmt.Sprintf("%08d", i), organization, fmt.Sprintf("tool_%d", i), i%10 == 3, i%100 == 0, i/3, definition)
		must(b, err)
	}
	must(b, tx.Commit())
}
