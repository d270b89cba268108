package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rote/routine/routinetest/postgrestest"
)

var postgresServer postgrestest.Server

// postgresPassword is in the address of each test database, and must not be in any output.
// The server does not ask for it.
const postgresPassword = "s3cr3t"

// newPostgresRote is newRote with an empty Postgres database and a state key.
func newPostgresRote(t *testing.T) *rote {
	t.Helper()
	db := strings.Replace(postgresServer.Database(t, ""), "rote@", "rote:"+postgresPassword+"@", 1)
	r := newRote(t)
	key, _, code := r.run("key", "new")
	if code != 0 {
		t.Fatal("no key")
	}
	r.env = []string{"ROTE_DB=" + db, "ROTE_STATE_KEY=" + strings.TrimSpace(key)}
	return r
}

// wantPrivate fails the test if a text has the password of the database.
func wantPrivate(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, postgresPassword) {
		t.Errorf("the password is in: %s", text)
	}
}

func TestPostgresCommands(t *testing.T) {
	t.Parallel()
	r := newPostgresRote(t)
	for _, row := range []struct {
		args      string
		code      int
		out, errs string
	}{
		{"token list", 1, "", "it is empty: name another with --db"},
		{"migrate --dry-run", 0, "would apply 00001_first.sql\n", ""},
		{"serve --addr 127.0.0.1:0 --migrate off", 1, "", "run rote migrate"},
		{"migrate", 0, "applied 00001_first.sql\n", ""},
		{"migrate", 0, "", "the schema is current"},
		{"serve --addr 127.0.0.1:0 --state-key=", 1, "", "rote key new"},
		{"mcp --state-key=", 1, "", "rote key new"},
		{"token create", 0, "rote_", "its secret is not shown again"},
		{"token list", 0, "local", ""},
		{"add " + r.example("page_text"), 0, "created page_text", ""},
		{"list", 0, "page_text", ""},
		{"show page_text", 0, `"name": "page_text"`, ""},
		{"executions", 0, "", ""},
		{"backup /tmp/a.dump", 1, "", "pg_dump -Fc -f /tmp/a.dump -d 'postgres://rote@/test"},
		{"token list --db postgres://ann:" + postgresPassword + "@127.0.0.1:1/x", 1, "", "connection refused"},
		{"token list --db postgres://ann:/" + postgresPassword + "@127.0.0.1:1/x", 1, "", "percent-encoded"},
		{"token list --state-key AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", 1, "", "into a file with mode 600"},
		{"migrate --db rote.db", 1, "", "only a Postgres database"},
	} {
		out, errs, code := r.run(strings.Fields(row.args)...)
		if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) {
			t.Errorf("%s: exit %d\n%s\n%s", row.args, code, out, errs)
		}
		wantPrivate(t, out+errs)
	}
	r.env[1] = "ROTE_STATE_KEY=" + strings.Repeat("A", 43) + "="
	otherKey := regexp.MustCompile("has the state key [0-9a-f]{8}, but .* the key [0-9a-f]{8}:")
	if _, errs, code := r.run("token", "list"); code != 1 || !otherKey.MatchString(errs) {
		t.Errorf("another key: exit %d %s", code, errs)
	}
}

// A Postgres database takes over the content of a SQLite file, with its tokens.
func TestCopyToPostgres(t *testing.T) {
	t.Parallel()
	r := newPostgresRote(t)
	to, env := strings.TrimPrefix(r.env[0], "ROTE_DB="), r.env
	r.env = nil
	secret, _, _ := r.run("token", "create")
	if _, errs, code := r.run("add", r.example("page_text")); code != 0 {
		t.Fatal(errs)
	}
	if _, errs, code := r.run("schedule", "add", "page_text", "@yearly", "-p", "site=https://example.com", "-p", "sku=AB-12"); code != 0 {
		t.Fatal(errs)
	}
	from := filepath.Join(r.home, ".local/share/rote/rote.db")
	for _, row := range []struct {
		args      []string
		code      int
		out, errs string
	}{
		{[]string{"--from", from, "--to", filepath.Join(r.home, "other.db")}, 1, "", "--to must be the address of a Postgres database"},
		{[]string{"--from", filepath.Join(r.home, "typo.db"), "--to", to}, 1, "", "there is none at"},
		{[]string{"--from", from, "--to", to}, 0, "routines 1\nroutine_versions 1\n", "the schedules are in both databases now: start no rote serve with " + from},
		{[]string{"--from", from, "--to", to}, 1, "", "nothing was copied: "},
		{[]string{"--from", from, "--to", to}, 1, "", "it is not empty: name a new database"},
	} {
		out, errs, code := r.run(append([]string{"copy"}, row.args...)...)
		if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) {
			t.Errorf("%v: exit %d\n%s\n%s", row.args, code, out, errs)
		}
		wantPrivate(t, out+errs)
	}
	env[1] = "ROTE_STATE_KEY=" + from + ".key"
	r.env = env
	s := r.serve()
	s.token = strings.TrimSpace(secret)
	if status, answer := s.call("GET", "/routines/", ""); status != 200 || answer["total"] != 1.0 {
		t.Errorf("%d %v", status, answer)
	}
}

// startEndless starts a run that does not end by itself, and waits until it runs.
func (s *server) startEndless(path string) (execution string) {
	s.t.Helper()
	status, answer := s.async(path, `{"parameters": {"site": "`+s.shop+`"}}`)
	if status != 202 {
		s.t.Fatalf("%d %v", status, answer)
	}
	execution = "/executions/" + answer["execution_id"].(string)
	s.awaitStatus(execution, "running")
	return execution
}

// awaitStatus waits until an execution has a status, and returns it.
func (s *server) awaitStatus(execution, status string) map[string]any {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(testTime); ; <-tick.C {
		_, answer := s.call("GET", execution, "")
		if answer["status"] == status {
			return answer
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is not %s: %v", execution, status, answer)
		}
	}
}
