package postgres

import (
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/postgrestest"
	"rote/routine/rows"
)

var server postgrestest.Server

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

func TestStore(t *testing.T) {
	t.Parallel() // no other parallel test uses its database
	routinetest.TestStore(t, func(t *testing.T) routine.Store { return open(t, emptyDatabase(t)) })
}

// emptyDatabase returns the address of a database with the current schema and no rows. All
// tests share it, but for some that run beside others: to copy a database takes longer than most
// tests.
func emptyDatabase(t testing.TB) string {
	t.Helper()
	return emptied(t, "shared")
}

// emptied is emptyDatabase for the database with a name.
func emptied(t testing.TB, name string) string {
	t.Helper()
	server.Create(t, name)
	url := server.URL(name)
	if _, migrated := migratedDatabases.LoadOrStore(name, true); !migrated {
		s, err := Open(t.Context(), Config{URL: url})
		must(t, err)
		must(t, s.Close())
	}
	c, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer c.Close(t.Context())
	_, err = c.Exec(t.Context(), `
		DELETE FROM webhooks; DELETE FROM execution_calls; DELETE FROM webhook_secrets; DELETE FROM execution_files; DELETE FROM executions; DELETE FROM owners;
		DELETE FROM idempotency_keys; DELETE FROM routine_tags; DELETE FROM routine_versions; DELETE FROM routines; DELETE FROM tokens; DELETE FROM sign_ins;
		DELETE FROM project_states; DELETE FROM state_key; DELETE FROM repeated_jobs; DELETE FROM ledger_sizes; DELETE FROM schedules;
		DELETE FROM secrets; DELETE FROM secret_uses; DELETE FROM sessions; DELETE FROM data_keys; DELETE FROM key_ring; DELETE FROM removed_keys;
		DELETE FROM river_job; DELETE FROM river_leader; DELETE FROM river_queue; UPDATE changes SET count = 0`)
	must(t, err)
	return url
}

// migratedDatabases has the names of databases with the current schema.
var migratedDatabases sync.Map

var testKey = []byte("0123456789abcdef0123456789abcdef")

// open opens a Store that is closed after the test. Its signals come only from the
// database: it does not look for itself.
func open(t testing.TB, url string, edits ...func(*Config)) *Store {
	t.Helper()
	c := Config{URL: url, Key: func(bool) (rows.Ring, error) { return rows.Ring{testKey}, nil }, Log: slog.New(slog.DiscardHandler), lookInterval: time.Hour}
	for _, edit := range edits {
		edit(&c)
	}
	s, err := Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
