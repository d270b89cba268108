package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// nextSchema has changes of the kinds that a migration makes beneath running servers.
var nextSchema = []string{
	`ALTER TABLE executions ADD COLUMN next_note text`,
	`ALTER TABLE routines ADD COLUMN next_note text`,
	`ALTER TABLE routine_versions ADD COLUMN next_count bigint NOT NULL DEFAULT 0`,
	`CREATE TABLE next_notes (execution_id text COLLATE "C" PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE, note text NOT NULL)`,
	`CREATE INDEX CONCURRENTLY next_executions ON executions (next_note, id)`,
	`INSERT INTO rote_migrations (version_id, is_applied) SELECT max(version_id) + 1, true FROM rote_migrations`,
}

// upgrade is two servers with a Postgres database that are replaced under load. Only calls to a
// server that is stopping may fail.
type upgrade struct {
	*rote
	load   *load
	visits *sink
	token  string
	end    func() // of the load
}

// newUpgrade starts the servers, of a program, and the load. A program of "" is the one that is
// tested.
func newUpgrade(t *testing.T, program string) *upgrade {
	t.Helper()
	u := &upgrade{rote: newPostgresRote(t), visits: &sink{counts: map[string]int{}}}
	site := httptest.NewServer(u.visits)
	t.Cleanup(site.Close)
	u.life, u.binary = 4*testTime, program
	u.env = append(u.env, "ROTE_ALLOW_HOST="+strings.TrimPrefix(site.URL, "http://"))
	u.token = u.newToken()
	u.load = newLoad(u.rote, u.server(), u.server())
	u.load.shop, u.load.mustAnswer = site.URL, true
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { u.load.run(ctx, 8); close(done) }()
	u.end = func() { stop(); <-done }
	u.load.reach(20)
	return u
}

// server starts a server of the program of this moment. This machine may have much else to do,
// so the runs of a server that stops have a minute to end.
func (u *upgrade) server() *server {
	s := u.serve("--drain-time", "1m")
	s.token = u.token
	return s
}

// replace stops server i after another was started, which then takes its place.
func (u *upgrade) replace(i int) {
	u.t.Helper()
	replacement, old := u.server(), u.load.servers[i].Load()
	u.load.draining.Store(old, true)
	old.stop(syscall.SIGTERM)
	u.load.servers[i].Store(replacement)
	u.load.reach(20)
}

// check ends the load. It fails the test if something that was acknowledged is not there, if a
// run happened twice, or if one was interrupted.
func (u *upgrade) check() {
	u.t.Helper()
	u.end()
	l := u.load
	l.settle()
	l.check()
	_, failed := l.servers[0].Load().call("GET", "/executions?status=failed&limit=100", "")
	for _, item := range failed["items"].([]any) {
		// The browser of a machine with much else to do may take too long to answer.
		if e := item.(map[string]any); e["error_code"] != "cancelled" && e["error_code"] != "browser_unavailable" {
			u.t.Errorf("%v", e)
		}
	}
	u.visits.mu.Lock()
	defer u.visits.mu.Unlock()
	for tag, n := range u.visits.counts {
		if n != 1 {
			u.t.Errorf("%s was run %d times", tag, n)
		}
	}
	for i := range l.servers {
		l.servers[i].Load().stop(os.Interrupt)
	}
	u.t.Logf("%d routines, %d executions, %d versions, %d calls were drained", len(l.created), len(l.started), len(l.versions), l.drained.Load())
}

// Servers under load are replaced one by one, after a newer program has migrated their
// database. A program that the migrations since then do not support is refused at its
// start, and servers that run already continue.
func TestRollingUpgrade(t *testing.T) {
	if os.Getenv("ROTE_TEST_CRASHES") == "" {
		t.Skip("set ROTE_TEST_CRASHES for the tests that stop servers under load")
	}
	u := newUpgrade(t, "")
	database, err := pgx.Connect(t.Context(), strings.TrimPrefix(u.env[0], "ROTE_DB="))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = database.Close(context.WithoutCancel(t.Context())) }()
	for _, change := range append([]string{`SET lock_timeout = '3s'`}, nextSchema...) {
		if _, err := database.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		u.load.reach(5)
	}
	for i := range u.load.servers {
		u.replace(i)
	}

	var version int
	if err := database.QueryRow(t.Context(), `UPDATE compatibility SET min_schema = (SELECT max(version_id) FROM rote_migrations)
		RETURNING min_schema`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	refusal := fmt.Sprintf("a newer rote has changed its schema (version %d; this program knows %d): upgrade rote", version, version-1)
	for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"worker", "--addr", "127.0.0.1:0"}, {"migrate"}, {"token", "list"}} {
		if _, errs, code := u.run(args...); code != 1 || !strings.Contains(errs, refusal) {
			t.Errorf("%v: exit %d %s", args, code, errs)
		}
	}
	u.load.reach(20)
	u.check()
}

// The same from an earlier program, which has made the database, to this one, whose rote migrate
// brings the schema up to date while the earlier servers run. Then one server goes back to the
// earlier program, and does its share on the newer schema.
func TestUpgradeFromEarlierProgram(t *testing.T) {
	earlier := os.Getenv("ROTE_TEST_EARLIER_PROGRAM")
	if earlier == "" {
		t.Skip("set ROTE_TEST_EARLIER_PROGRAM to the path of a rote with an earlier schema")
	}
	u := newUpgrade(t, earlier)
	u.binary = ""
	if out, errs, code := u.run("migrate", "--dry-run"); code != 0 || !strings.Contains(out, ".sql") {
		t.Fatalf("the earlier program has no earlier schema: exit %d %s%s", code, out, errs)
	}
	if out, errs, code := u.run("migrate"); code != 0 {
		t.Fatalf("migrate: exit %d %s%s", code, out, errs)
	}
	u.load.reach(20)
	for i := range u.load.servers {
		u.replace(i)
	}
	u.binary = earlier
	u.replace(0)
	u.binary = ""
	u.replace(0)
	u.check()
}
