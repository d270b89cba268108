package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

// execute executes statements in a database.
func execute(t *testing.T, url, statements string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer c.Close(context.WithoutCancel(t.Context()))
	_, err = c.Exec(t.Context(), statements)
	must(t, err)
}

func wantRefusal(t *testing.T, c Config, part string) {
	t.Helper()
	s, err := Open(t.Context(), c)
	if err == nil {
		must(t, s.Close())
	}
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("open: %v, want %q", err, part)
	}
}

// Processes that open an empty database at once migrate it once.
func TestConcurrentFirstOpens(t *testing.T) {
	url := server.Database(t, "")
	wantRefusal(t, Config{URL: url, MustExist: true}, "it is empty: name another with --db")
	wantRefusal(t, Config{URL: url, NoMigration: true}, "run rote migrate")
	pending, err := Pending(t.Context(), Config{URL: url})
	must(t, err)
	all, err := migrationNames()
	must(t, err)
	if diff := cmp.Diff(all, pending); diff != "" || pending[0] != "00001_first.sql" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	const processes = 4
	errs := make(chan error, processes)
	for range processes {
		go func() {
			s, err := Open(t.Context(), Config{URL: url})
			if err == nil {
				err = s.CreateRoutine(t.Context(), routinetest.Routine(t))
			}
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range processes {
		must(t, <-errs)
	}
	s := open(t, url, func(c *Config) { c.NoMigration, c.MustExist = true, true })
	if c, err := s.Changes(t.Context()); err != nil || c.Routines != processes {
		t.Errorf("%+v, %v", c, err)
	}
	if pending, err = Pending(t.Context(), Config{URL: url}); err != nil || len(pending) != 0 {
		t.Errorf("pending %q, %v", pending, err)
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	url := server.Database(t, "")
	execute(t, url, `CREATE TABLE theirs (id integer)`)
	wantRefusal(t, Config{URL: url}, "has tables of another program")
	wantRefusal(t, Config{URL: url + "&search_path=nowhere"}, "schema of the search_path does not exist")
	execute(t, url, `CREATE SCHEMA ours`)
	in := url + "&search_path=ours"
	open(t, in)
	open(t, in) // again
	execute(t, in, `UPDATE rote_migrations SET version_id = 1000 WHERE version_id = 1`)
	open(t, in) // a newer schema that this program can use
	execute(t, in, `UPDATE compatibility SET min_schema = 1000`)
	known, err := knownSchema()
	must(t, err)
	wantRefusal(t, Config{URL: in}, fmt.Sprintf("a newer rote has changed its schema (version 1000; this program knows %d): upgrade rote", known))
	if err := (schemaState{server: 130014}).check(1); err == nil || !strings.Contains(err.Error(), "PostgreSQL 13, but at least 14") {
		t.Errorf("an old server: %v", err)
	}
}

// Errors of the server and of the network say what to do.
func TestOpenNamesRemedies(t *testing.T) {
	url := server.Database(t, "")
	execute(t, url, `DROP ROLE IF EXISTS weak; CREATE ROLE weak LOGIN; REVOKE CREATE ON SCHEMA public FROM public`)
	at, err := pgx.ParseConfig(url)
	must(t, err)
	for address, remedy := range map[string]string{
		strings.Replace(url, at.Database, "nowhere", 1): `database "nowhere" does not exist (SQLSTATE 3D000): create it with createdb`,
		strings.Replace(url, "//rote@", "//nobody@", 1): `role "nobody" does not exist (SQLSTATE 28000): check the user of --db`,
		strings.Replace(url, "//rote@", "//weak@", 1):   "permission denied for schema public (SQLSTATE 42501): give the user of --db the database",
		"postgres://rote@127.0.0.1:1/x?sslmode=disable": "connection refused: check the host and the port of --db",
		"postgres://rote@none.invalid/x":                "check the host and the port of --db",
	} {
		wantRefusal(t, Config{URL: address}, remedy)
	}
	_, err = Pending(t.Context(), Config{URL: strings.Replace(url, at.Database, "nowhere", 1)})
	if err == nil || !strings.Contains(err.Error(), "create it with createdb") {
		t.Errorf("pending: %v", err)
	}
}

// A process takes over a key ring that was changed while it runs, and works on while the file
// is away. It does not encrypt with a key that is not of the database.
func TestKeyFileChangesWhileInUse(t *testing.T) {
	url, file := emptyDatabase(t), filepath.Join(t.TempDir(), "key")
	newKey := func() string {
		t.Helper()
		key, err := rows.NewKey()
		must(t, err)
		return key + "\n"
	}
	write := func(text string) {
		t.Helper()
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	first, second := newKey(), newKey()
	write(first)
	s := open(t, url, func(c *Config) { c.Key = rows.KeyFile(file) })
	state := &routine.BrowserState{ProjectID: "p", Data: []byte("state")}
	must(t, s.SaveProjectState(t.Context(), "o", state, routinetest.Time))
	wantState := func() {
		t.Helper()
		if got, err := s.ProjectState(t.Context(), "o", "p"); err != nil || string(got) != "state" {
			t.Errorf("%q, %v", got, err)
		}
	}
	must(t, os.Remove(file))
	wantState()
	write(newKey())
	err := s.SaveProjectState(t.Context(), "o", state, routinetest.Time)
	if !errors.Is(err, routine.ErrStateKey) || !strings.Contains(err.Error(), "encrypted with the key") {
		t.Errorf("a state was encrypted with a strange key: %v", err)
	}
	wantRefusal(t, Config{URL: url, Key: rows.KeyFile(file)}, "encrypted with the key")
	write(second + first)
	wantState()
	must(t, s.SaveProjectState(t.Context(), "o", state, routinetest.Time))
	write(second)
	wantState()
}

// A second process with another key would save states that the first cannot read.
func TestOpenRefusesAnotherKey(t *testing.T) {
	url := emptyDatabase(t)
	s := open(t, url)
	routinetest.SaveState(t, s, "o", "p", "state")
	strange := []byte(strings.Repeat("x", 32))
	other := func(bool) (rows.Ring, error) { return rows.Ring{strange}, nil }
	wantRefusal(t, Config{URL: url, Key: other}, "has the state key "+rows.KeyID(strange)+", but")
	wantRefusal(t, Config{URL: url, Key: other}, "encrypted with the key "+rows.KeyID(testKey))
	without := open(t, url, func(c *Config) { c.Key = nil })
	if _, err := without.ProjectState(t.Context(), "o", "p"); err == nil || !strings.Contains(err.Error(), "rote key new") {
		t.Errorf("state without a key: %v", err)
	}
}

// databaseOfSchema returns the address of a new database with an earlier schema.
func databaseOfSchema(t *testing.T, version int64) string {
	t.Helper()
	url := server.Database(t, "")
	s := newStore(Config{URL: url})
	must(t, s.connect(t.Context()))
	must(t, s.withMigrations(func(p *goose.Provider) error {
		_, err := p.UpTo(t.Context(), version)
		return err
	}))
	must(t, s.Close())
	return url
}

// A database that was made before there were schedules takes them, and keeps its webhooks.
func TestMigrationAddsSchedules(t *testing.T) {
	url := databaseOfSchema(t, 3)
	execute(t, url, `
		INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, token_id, via,
			operations_done, operations_total, size, organization_id, owner)
		VALUES ('e', 'r', 'name', 1, 'failed', 'timeout', 1, 'ann', '', 'rest', 0, 0, 0, 'acme', 'o');
		INSERT INTO webhooks (id, execution_id, organization_id, host, url, allowed_hosts, due_at)
		VALUES ('msg_1', 'e', 'acme', 'a.example', 'https://a.example/', '[]', 1)`)
	s := open(t, url)
	claimed, err := s.ClaimWebhooks(t.Context(), routine.WebhookClaim{Now: routinetest.Time, Until: routinetest.Time, Limit: 9, PerOrganization: 9, PerHost: 9})
	must(t, err)
	if len(claimed) != 1 || claimed[0].ExecutionID != "e" || claimed[0].Notify != "" {
		t.Errorf("%+v", claimed)
	}
	must(t, s.CreateSchedule(t.Context(), routinetest.Schedule(t), 1))
}

// The clock of the database counts if that of the process is ahead.
func TestScheduleIsNotDueByAClockThatIsAhead(t *testing.T) {
	s := open(t, emptyDatabase(t))
	soon := time.Now().Add(time.Minute)
	must(t, s.CreateSchedule(t.Context(), routinetest.Schedule(t, func(sc *routine.Schedule) { sc.NextAt = &soon }), 1))
	list, at, err := s.DueSchedules(t.Context(), time.Now().Add(time.Hour), 9)
	must(t, err)
	if len(list) > 0 || !at.Before(soon) {
		t.Errorf("%d are due at %v", len(list), at)
	}
}

// A migration of a database in use does not wait long for a lock, behind which runs would
// wait, but tries again. It also continues after a part of it has failed.
func TestMigrationOfADatabaseInUse(t *testing.T) {
	url := databaseOfSchema(t, 2)
	execute(t, url, `
		CREATE TABLE execution_calls (execution_id text COLLATE "C" PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE, sealed bytea NOT NULL);
		CREATE INDEX executions_queued ON executions (id)`)
	c, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer c.Close(context.WithoutCancel(t.Context()))
	tx, err := c.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE webhooks IN ROW EXCLUSIVE MODE`)
	must(t, err)
	impatient := Config{URL: url, lockTimeout: 10 * time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	wantRefusal(t, impatient, "migrate: another session keeps a table locked: end the long transactions")
	must(t, tx.Rollback(t.Context()))
	s := open(t, url)
	var columns int
	must(t, s.queryRow(t.Context(), `SELECT count(*) FROM pg_index
		WHERE indexrelid = 'executions_queued'::regclass AND indisvalid AND indnatts = 3`).Scan(&columns))
	if columns != 1 {
		t.Error("the index of queued executions is not the new one")
	}
}
