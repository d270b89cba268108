package sqlite

import (
	"context"
	"database/sql"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

// A key that was stored before keys had projects stays valid for the project and
// scope of its call, as far as these are known.
func TestMigrationKeepsCallerOfIdempotencyKeys(t *testing.T) {
	path := tempPath(t)
	current := open(t, tempPath(t))
	token := routinetest.Token(t, func(k *routine.Token) { k.ProjectID, k.AllowedHosts = "stock", []string{"b.example", "A.example"} })
	r := routinetest.Routine(t, func(r *routine.Routine) { r.ProjectID = "prices" })
	run := routinetest.Execution(t, func(e *routine.Execution) { e.TokenID = token.ID })
	local := routinetest.Execution(t, func(e *routine.Execution) { e.TokenID, e.RoutineID = "", r.ID })
	admin := routinetest.Execution(t, func(e *routine.Execution) {
		e.TokenID, e.RoutineID, e.CreatedBy, e.OrganizationID = "", r.ID, "admin", "default"
	})
	unsaved := routinetest.Execution(t, func(e *routine.Execution) { e.TokenID = "" })
	lost := routinetest.Execution(t, func(e *routine.Execution) { e.TokenID, e.RoutineID = "gone", r.ID })
	ctx := context.Background()
	limited := routinetest.Token(t, func(k *routine.Token) { k.ProjectID, k.AllowedHosts = "prices", []string{"c.example"} })
	must(t, current.CreateToken(ctx, token))
	must(t, current.CreateToken(ctx, limited))
	must(t, current.CreateRoutine(ctx, r))
	for _, e := range []*routine.Execution{run, local, admin, unsaved, lost} {
		must(t, current.CreateExecution(ctx, e))
	}

	writeSchema(t, path, 10, func(write *sql.DB) {
		_, err := write.ExecContext(ctx, `ATTACH ? AS current`, current.path)
		must(t, err)
		for _, table := range []string{"tokens", "routines", "executions"} {
			var columns string // of both schemas, as they stood then
			must(t, write.QueryRowContext(ctx, `SELECT group_concat(name) FROM pragma_table_info(?)`, table).Scan(&columns))
			_, err = write.ExecContext(ctx, `INSERT INTO main.`+table+` (`+columns+`) SELECT `+columns+` FROM current.`+table)
			must(t, err)
		}
		for key, made := range map[string]string{"routine": r.ID, "run": run.ID, "local": local.ID, "admin": admin.ID, "unsaved": unsaved.ID, "lost": lost.ID} {
			organization, user := "acme", "ann"
			if key == "admin" {
				organization, user = "default", "admin"
			}
			_, err := write.ExecContext(ctx, `INSERT INTO idempotency_keys (organization_id, user_id, key, fingerprint, made_id, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
				organization, user, key, make([]byte, 32), made, rows.Micros(routinetest.Time))
			must(t, err)
		}
	})
	s := open(t, path)
	for name, row := range map[string]struct{ key, project, reach, want string }{
		"a routine":                  {"routine", "prices", "", r.ID},
		"a routine, a limited token": {"routine", "prices", "c.example", r.ID},
		"a routine, another project": {"routine", "stock", "", ""},
		"a run":                      {"run", "stock", "a.example b.example", run.ID},
		"a run, without reach":       {"run", "stock", "", ""},
		"a run, another project":     {"run", "prices", "a.example b.example", ""},
		"a run without token":        {"local", "prices", "", local.ID},
		"and another project":        {"local", "stock", "", ""},
		"and with reach":             {"local", "prices", "a.example b.example", ""},
		"a run of the administrator": {"admin", "default", "", admin.ID},
		"and the routine's project":  {"admin", "prices", "", ""},
		"a run without routine":      {"unsaved", "prices", "", ""},
		"a run of a token that is gone, whose reach is not known": {"lost", "prices", "", ""},
	} {
		organization, user := "acme", "ann"
		if row.key == "admin" {
			organization, user = "default", "admin"
		}
		id, _, err := s.FindByKey(ctx, &routine.IdempotencyKey{
			OrganizationID: organization, UserID: user, ProjectID: row.project, Reach: row.reach, Key: row.key, CreatedAt: routinetest.Time})
		if id != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, id, err, row.want)
		}
	}
}
