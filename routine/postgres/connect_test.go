package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine/routinetest"
)

// No error, name or text of a log contains a password.
func TestPasswordsStaySecret(t *testing.T) {
	const password = "s3cr3t"
	for _, url := range []string{
		"postgres://ann:s3cr3t@127.0.0.1:1/db",
		"postgres://ann:s3cr3t@127.0.0.1:1/db?sslmode=bogus",
		"postgres://ann:s3cr3t@127.0.0.1:99999/db",
		"postgres://ann:s3cr3t%zz@127.0.0.1:1/db",
		"postgres://ann:/s3cr3t@127.0.0.1:1/db",
		"postgres://ann:?s3cr3t@127.0.0.1:1/db",
		"postgres://ann@127.0.0.1:1/db?password=s3cr3t",
		"postgres://ann:#s3cr3t@127.0.0.1:1/db",
		"postgres://ann@127.0.0.1:1/db?password=s3cr3t&connect_timeout=x",
		"host=127.0.0.1 port=1 user=ann password=s3cr3t",
	} {
		_, err := Open(t.Context(), Config{URL: url})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", url, err)
		}
		if name := Name(url); strings.Contains(name, password) {
			t.Errorf("%s: name %s", url, name)
		}
	}
	if name := Name("postgres://ann:s3cr3t@db.example/rote?sslmode=disable"); name != "postgres://ann@db.example:5432/rote" {
		t.Errorf("name %s", name)
	}
}

// A caller who leaves does not close the connection that others use, and one that waits
// for a connection is told in time.
func TestFewConnections(t *testing.T) {
	s := open(t, emptyDatabase(t), func(c *Config) { c.Connections = 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.queryRow(ctx, `SELECT pg_sleep(5)`).Scan(new(string)); err == nil {
		t.Error("a statement outlived its caller")
	}
	results := make(chan error, 20)
	for range cap(results) {
		go func() { _, err := s.Changes(t.Context()); results <- err }()
	}
	for range cap(results) {
		must(t, <-results)
	}
	if n := s.pool.Stat().NewConnsCount(); n != 1 {
		t.Errorf("%d connections were opened, want 1", n)
	}
}

// A process whose connections are all in use still tells the others that it lives.
func TestBeatsDoNotWaitForQueries(t *testing.T) {
	s := open(t, emptyDatabase(t), withTiming, func(c *Config) { c.Connections = 1 })
	create(t, s)
	c, err := s.pool.Acquire(t.Context()) // the only one
	must(t, err)
	defer c.Release()
	beat := func() (beat int) {
		must(t, c.QueryRow(t.Context(), `SELECT beat FROM owners`).Scan(&beat))
		return beat
	}
	first := beat()
	eventually(t, func() bool { return beat() >= first+3 })
}

// A connection on which somebody could read along or answer in place of the database is
// warned of, to either address.
func TestUnverifiedConnectionsAreWarnedOf(t *testing.T) {
	const verified = "postgres://ann@db.example/rote?sslmode=verify-full"
	for _, row := range []struct {
		url, direct string
		want        []string // the databases of the warnings
	}{
		{verified, "", nil},
		{verified, verified, nil},
		{"postgres://ann@db.example/rote", "", []string{"postgres://ann@db.example:5432/rote"}},
		{"postgres://ann@db.example/rote?sslmode=disable", "", []string{"postgres://ann@db.example:5432/rote"}},
		{"postgres://ann@db.example/rote?sslmode=require", "", []string{"postgres://ann@db.example:5432/rote"}},
		{"postgres://ann@db.example/rote?sslmode=verify-ca", "", []string{"postgres://ann@db.example:5432/rote"}},
		{"postgres://ann@10.0.0.1/rote?sslmode=require", verified, []string{"postgres://ann@10.0.0.1:5432/rote"}},
		{verified, "postgres://ann@db.example:5433/rote?sslmode=require", []string{"postgres://ann@db.example:5433/rote"}},
		{"postgres://ann@localhost,db.example/rote?sslmode=require", "", []string{"postgres://ann@localhost:5432/rote"}},
		{"postgres://ann@localhost/rote?sslmode=disable", "postgres://ann@127.0.0.1/rote?sslmode=require", nil},
		{"postgres://ann@[::1]/rote?sslmode=disable", "postgres://ann@/rote?host=/run/postgresql", nil},
	} {
		var log bytes.Buffer
		s := newStore(Config{URL: row.url, DirectURL: row.direct, Log: slog.New(slog.NewJSONHandler(&log, nil))})
		must(t, s.connect(t.Context()))
		must(t, s.Close())
		var got []string
		for line := range strings.Lines(log.String()) {
			var warning struct{ Level, Msg, Database string }
			must(t, json.Unmarshal([]byte(line), &warning))
			if warning.Level != "WARN" || !strings.Contains(warning.Msg, "sslmode=verify-full") {
				t.Errorf("%s, %s: %s", row.url, row.direct, line)
			}
			got = append(got, warning.Database)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", row.url, row.direct, diff)
		}
	}
}

// The settings of connections hold on each.
func TestConnectionSettings(t *testing.T) {
	s := open(t, emptyDatabase(t), func(c *Config) { c.Version = "1.2" })
	for setting, want := range map[string]string{"statement_timeout": "10s", "idle_in_transaction_session_timeout": "30s", "application_name": "rote/1.2"} {
		var got string
		must(t, s.queryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	if n := s.pool.Config().MaxConns; n != defaultConnections {
		t.Errorf("%d connections, want %d", n, defaultConnections)
	}
}

// Executions outlive a crash of the database: nothing that was acknowledged is lost, calls
// fail meanwhile, and the ends of runs are saved afterwards.
func TestOutage(t *testing.T) {
	url := emptyDatabase(t)
	s, other := open(t, url, withTiming), open(t, url, withTiming)
	e := create(t, s)
	must(t, server.Crash())
	began := time.Now()
	for name, err := range map[string]error{
		"ping":    s.Ping(t.Context()),
		"create":  s.CreateExecution(t.Context(), routinetest.Execution(t)),
		"finish":  s.FinishExecution(t.Context(), routinetest.Ended(e)),
		"recover": second(other.RecoverExecutions(t.Context(), time.Now())),
	} {
		if err == nil {
			t.Errorf("%s succeeds without a database", name)
		}
	}
	if took := time.Since(began); took > 4*operationTimeout {
		t.Errorf("the errors took %v", took)
	}
	must(t, server.Start())
	must(t, s.FinishExecution(t.Context(), routinetest.Ended(e)))
	if n, err := other.RecoverExecutions(t.Context(), time.Now()); err != nil || n != 0 {
		t.Errorf("%d ended, %v", n, err)
	}
	create(t, s)
}

// second returns the error of a call.
func second(_ int, err error) error { return err }
