package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

func TestOpenRefusesForeignAndNewerFiles(t *testing.T) {
	for _, row := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		want    string // after "open database: PATH "
	}{
		{"newer schema", newerSchema,
			fmt.Sprintf("was written by a newer rote (schema 999, this program knows %d): upgrade rote or use another --db file", migrationCount(t))},
		{"text", contents(strings.Repeat("no database\n", 100)), "is not a SQLite database: use another --db file"},
		{"a few bytes", contents("rote"), "is not a SQLite database: use another --db file"},
		{"another program's database", foreign, "is a database of another program: use another --db file"},
		{"directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
			"is a directory: name a file in it with --db"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := tempPath(t)
			row.prepare(t, path)
			before, _ := os.ReadFile(path)
			s, err := Open(t.Context(), path)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			_, said, _ := strings.Cut(err.Error(), path+" ")
			if !strings.Contains(err.Error(), path) || said != row.want {
				t.Errorf("error %q, want %q", err, row.want)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the refused file was changed")
			}
		})
	}
}

func migrationCount(t *testing.T) int {
	t.Helper()
	provider, err := new(Store{write: &sql.DB{}}).migrations()
	must(t, err)
	return len(provider.ListSources())
}

func newerSchema(t *testing.T, path string) {
	s, err := Open(t.Context(), path)
	must(t, err)
	_, err = s.write.ExecContext(t.Context(), `INSERT INTO rote_migrations (version_id, is_applied) VALUES (999, 1)`)
	must(t, err)
	must(t, s.Close())
}

func contents(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte(text), 0o600)) }
}

func foreign(t *testing.T, path string) {
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `CREATE TABLE bookmarks (url TEXT)`)
	must(t, err)
}

func TestConcurrentOpensOfNewFile(t *testing.T) {
	path := tempPath(t)
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 12 {
		all.Go(func() {
			<-start
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.CreateRoutine(t.Context(), routinetest.Routine(t)); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	_, total, err := open(t, path).Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme"})
	must(t, err)
	if total != 12 {
		t.Errorf("%d routines, want 12", total)
	}
}

func TestCurrentDatabaseIsOpenedWithoutLock(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	release, err := s.lockDatabase(t.Context())
	must(t, err)
	defer release()
	open(t, path)
}

func TestLockWaitEndsWithContext(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	release, err := s.lockDatabase(t.Context())
	must(t, err)
	defer release()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if _, err := s.RecoverExecutions(ctx, routinetest.Time); err == nil || !strings.Contains(err.Error(), os.ErrDeadlineExceeded.Error()) {
		t.Errorf("error %v, want the context's cause", err)
	}
}

// A database of the first version keeps all its rows, and they work as if they
// had been written today.
func TestFirstSchemaIsMigrated(t *testing.T) {
	path := tempPath(t)
	want := routinetest.Routine(t, func(r *routine.Routine) {
		r.Status, r.Name, r.Tags = routine.StatusDraft, "Größe", []string{"shop"}
	})
	token := routinetest.Token(t)
	writeFirstSchema(t, path, want, token)

	s := open(t, path)
	got, _, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", Name: "Größe", Tag: "shop", Words: []string{"GRÖßE"}})
	must(t, err)
	if len(got) != 1 || got[0].ID != want.ID || got[0].Status != want.Status || got[0].Name != want.Name || len(got[0].Operations) != len(want.Operations) {
		t.Errorf("%+v", got)
	}
	v, err := s.Version(t.Context(), want.ID, 1)
	must(t, err)
	if v.Status != routine.StatusDraft || v.CreatedBy != "ann" || v.Definition.Name != want.Name {
		t.Errorf("%+v", v)
	}
	kept, err := s.TokenByHash(t.Context(), token.Hash)
	must(t, err)
	if kept.Scopes != routine.DefaultScopes&^routine.ScopeSecretsRead || len(kept.AllowedHosts) != 0 || kept.LastUsedAt != nil {
		t.Errorf("%+v", kept)
	}
}

// An execution that was saved before parameters and evidence were counted gets
// the size that it would have today.
func TestMigrationCountsSizesOfOldExecutions(t *testing.T) {
	path := tempPath(t)
	e := routinetest.Failed(routinetest.Execution(t))
	current := open(t, tempPath(t))
	must(t, current.CreateExecution(t.Context(), e))
	want := sizeOf(t, current, e)

	writeSchema(t, path, 8, func(write *sql.DB) {
		_, err := write.ExecContext(t.Context(), `ATTACH ? AS current`, current.path)
		must(t, err)
		var columns string // of both schemas, as they stood then
		must(t, write.QueryRowContext(t.Context(), `SELECT group_concat(name) FROM pragma_table_info('executions')`).Scan(&columns))
		_, err = write.ExecContext(t.Context(), `INSERT INTO main.executions (`+columns+`) SELECT `+columns+` FROM current.executions`)
		must(t, err)
		_, err = write.ExecContext(t.Context(), `UPDATE executions SET size = size - octet_length(parameters) - octet_length(evidence)`)
		must(t, err)
	})
	if got := sizeOf(t, open(t, path), e); got != want || got == 0 {
		t.Errorf("size %d, want %d", got, want)
	}
}

// writeSchema makes a database with the schema of a version, and what fill
// writes into it.
func writeSchema(t *testing.T, path string, version int64, fill func(*sql.DB)) {
	t.Helper()
	must(t, createFile(path))
	write, err := openPool(writeDSN(path), 1)
	must(t, err)
	defer write.Close()
	provider, err := new(Store{write: write}).migrations()
	must(t, err)
	_, err = provider.UpTo(t.Context(), version)
	must(t, err)
	fill(write)
}

func sizeOf(t *testing.T, s *Store, e *routine.Execution) int {
	t.Helper()
	var size int
	must(t, s.write.QueryRowContext(t.Context(), `SELECT size FROM executions WHERE id = ?`, e.ID).Scan(&size))
	return size
}

func writeFirstSchema(t *testing.T, path string, r *routine.Routine, k *routine.Token) {
	t.Helper()
	definition, err := rows.Encode(r.Definition)
	must(t, err)
	writeSchema(t, path, 1, func(write *sql.DB) {
		_, err := write.ExecContext(t.Context(), `
			INSERT INTO routines (id, organization_id, project_id, created_by, tool_name, status, version,
				is_public, is_mcp_tool_designated, created_at, updated_at, definition)
			VALUES (?, ?, ?, ?, ?, ?, 1, 0, 1, ?, ?, ?)`,
			r.ID, r.OrganizationID, r.ProjectID, r.CreatedBy, r.ToolName, r.Status, r.CreatedAt, r.UpdatedAt, definition)
		must(t, err)
		_, err = write.ExecContext(t.Context(), `
			INSERT INTO routine_versions (routine_id, version, definition, created_at, created_by) VALUES (?, 1, ?, ?, ?)`,
			r.ID, definition, r.CreatedAt, r.CreatedBy)
		must(t, err)
		_, err = write.ExecContext(t.Context(), `
			INSERT INTO tokens (id, hash, user_id, organization_id, project_id, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
			k.ID, k.Hash[:], k.UserID, k.OrganizationID, k.ProjectID, rows.Micros(k.CreatedAt))
		must(t, err)
	})
}

// A webhook that was saved before there were repeated jobs is handed out, and the jobs are
// repeated.
func TestMigrationAddsJobs(t *testing.T) {
	path := tempPath(t)
	writeSchema(t, path, 12, func(write *sql.DB) {
		_, err := write.ExecContext(t.Context(), `
			INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, organization_id, owner)
			VALUES ('e', 'r', 'name', 1, 'failed', 'timeout', 1, 'ann', 'acme', 'o');
			INSERT INTO webhooks (id, execution_id, organization_id, host, url, allowed_hosts, due_at, attempts)
			VALUES ('msg_1', 'e', 'acme', 'a.example', 'https://a.example/', '[]', 1, 2)`)
		must(t, err)
	})
	s := open(t, path)
	claimed, err := s.ClaimWebhooks(t.Context(), routine.WebhookClaim{Now: routinetest.Time, Until: routinetest.Time, Limit: 9, PerOrganization: 9, PerHost: 9})
	must(t, err)
	if len(claimed) != 1 || claimed[0].ID != "msg_1" || claimed[0].Attempt != 3 {
		t.Errorf("%+v", claimed)
	}
	for _, want := range []bool{true, false} {
		if mine, err := s.ClaimRepeated(t.Context(), routine.JobPrune, routinetest.Time, routinetest.Time.Add(time.Hour)); mine != want || err != nil {
			t.Errorf("claimed %t, %v; want %t", mine, err, want)
		}
	}
}

// Executions that were saved before there was a queue keep their owner, and others can be
// queued.
func TestMigrationAddsQueue(t *testing.T) {
	path := tempPath(t)
	writeSchema(t, path, 13, func(write *sql.DB) {
		_, err := write.ExecContext(t.Context(), `
			INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, organization_id, owner)
			VALUES ('e', 'r', 'name', 1, 'pending', '', 1, 'ann', 'acme', 'o')`)
		must(t, err)
	})
	s := open(t, path)
	if _, _, err := s.ClaimExecution(t.Context(), "e", routinetest.Time, routinetest.QueueTime); !errors.Is(err, routine.ErrTaken) {
		t.Errorf("claim of an execution that was not queued: %v", err)
	}
	e := routinetest.Execution(t, func(e *routine.Execution) { e.QueuedCall = []byte("call") })
	must(t, s.CreateExecution(t.Context(), e))
	if _, call, err := s.ClaimExecution(t.Context(), e.ID, routinetest.Time, routinetest.QueueTime); string(call) != "call" || err != nil {
		t.Errorf("call %q, %v", call, err)
	}
}

// A database that was made before there were schedules takes them, and keeps its executions
// and webhooks.
func TestMigrationAddsSchedules(t *testing.T) {
	path := tempPath(t)
	writeSchema(t, path, 14, func(write *sql.DB) {
		_, err := write.ExecContext(t.Context(), `
			INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, organization_id, owner)
			VALUES ('e', 'r', 'name', 1, 'failed', 'timeout', 1, 'ann', 'acme', 'o');
			INSERT INTO webhooks (id, execution_id, organization_id, host, url, allowed_hosts, due_at)
			VALUES ('msg_1', 'e', 'acme', 'a.example', 'https://a.example/', '[]', 1)`)
		must(t, err)
	})
	s := open(t, path)
	e, err := s.Execution(t.Context(), "e")
	must(t, err)
	claimed, err := s.ClaimWebhooks(t.Context(), routine.WebhookClaim{Now: routinetest.Time, Until: routinetest.Time, Limit: 9, PerOrganization: 9, PerHost: 9})
	must(t, err)
	if e.ScheduleID != "" || len(claimed) != 1 || claimed[0].Notify != "" {
		t.Errorf("%+v, %+v", e, claimed)
	}
	must(t, s.CreateSchedule(t.Context(), routinetest.Schedule(t), 1))
	due, _, err := s.DueSchedules(t.Context(), routinetest.Time.Add(time.Hour), 9)
	must(t, err)
	if len(due) != 1 {
		t.Errorf("%d schedules are due", len(due))
	}
}

// With NoMigration, a database of an earlier version stays as it is.
func TestNoMigration(t *testing.T) {
	path := tempPath(t)
	last := int64(migrationCount(t))
	writeSchema(t, path, last-1, func(*sql.DB) {})
	for range 2 {
		if _, err := Open(t.Context(), path, NoMigration()); !errors.Is(err, ErrOldSchema) || !strings.Contains(err.Error(), fmt.Sprintf("schema %d", last-1)) {
			t.Fatal(err)
		}
	}
	open(t, path)
	s, err := Open(t.Context(), path, NoMigration())
	must(t, err)
	must(t, s.Close())
}
