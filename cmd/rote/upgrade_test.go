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

// Servers under load are replaced one by one, after a newer program has migrated their
// database. Only calls to a server that is stopping may fail, no run happens twice and none is
// interrupted. A program that the migrations since then do not support is refused at its
// start, and servers that run already continue.
func TestRollingUpgrade(t *testing.T) {
	if os.Getenv("ROTE_TEST_CRASHES") == "" {
		t.Skip("set ROTE_TEST_CRASHES for the tests that stop servers under load")
	}
	visits := &sink{counts: map[string]int{}}
	site := httptest.NewServer(visits)
	defer site.Close()
	r := newPostgresRote(t)
	r.life = 2 * testTime
	token := r.newToken()
	start := func() *server {
		s := r.serve("--allow-host", strings.TrimPrefix(site.URL, "http://"))
		s.token = token
		return s
	}
	l := newLoad(r, start(), start())
	l.shop, l.mustAnswer = site.URL, true
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { l.run(ctx, 8); close(done) }()
	l.reach(20)

	database, err := pgx.Connect(t.Context(), strings.TrimPrefix(r.env[0], "ROTE_DB="))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = database.Close(context.WithoutCancel(t.Context())) }()
	for _, change := range append([]string{`SET lock_timeout = '3s'`}, nextSchema...) {
		if _, err := database.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		l.reach(5)
	}
	for i := range l.servers {
		replacement, old := start(), l.servers[i].Load()
		l.draining.Store(old, true)
		old.stop(syscall.SIGTERM)
		l.servers[i].Store(replacement)
		l.reach(20)
	}

	var version int
	if err := database.QueryRow(t.Context(), `UPDATE compatibility SET min_schema = (SELECT max(version_id) FROM rote_migrations)
		RETURNING min_schema`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	refusal := fmt.Sprintf("a newer rote has changed its schema (version %d; this program knows %d): upgrade rote", version, version-1)
	for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"worker", "--addr", "127.0.0.1:0"}, {"migrate"}, {"token", "list"}} {
		if _, errs, code := r.run(args...); code != 1 || !strings.Contains(errs, refusal) {
			t.Errorf("%v: exit %d %s", args, code, errs)
		}
	}
	l.reach(20)
	stop()
	<-done
	l.settle()
	l.check()
	_, failed := l.servers[0].Load().call("GET", "/executions?status=failed&limit=100", "")
	for _, item := range failed["items"].([]any) {
		if e := item.(map[string]any); e["error_code"] != "cancelled" {
			t.Errorf("%v", e)
		}
	}
	visits.mu.Lock()
	defer visits.mu.Unlock()
	for tag, n := range visits.counts {
		if n != 1 {
			t.Errorf("%s was run %d times", tag, n)
		}
	}
	for i := range l.servers {
		l.servers[i].Load().stop(os.Interrupt)
	}
	t.Logf("%d routines, %d executions, %d versions, %d calls were drained", len(l.created), len(l.started), len(l.versions), l.drained.Load())
}
