package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/postgrestest"
	"rote/routine/service"
)

// behindPooler makes a Store use a pooler, and the server itself for what needs that.
func behindPooler(p *postgrestest.Pooler) func(*Config) {
	return func(c *Config) { c.DirectURL, c.URL = c.URL, p.URL("shared") }
}

var whole = flag.Bool("whole", false, "run the suite of stores behind a pooler too, which takes some seconds")

// Behind a pooler that gives a connection to a client for one transaction at a time, the
// Store keeps its whole contract.
func TestStoreBehindPooler(t *testing.T) {
	if !*whole {
		t.Skip("without -whole, which .ci/run gives it")
	}
	p := server.StartPooler(t, postgrestest.PoolerLimits{Connections: 4, Clients: 200})
	routinetest.TestStore(t, func(t *testing.T) routine.Store { return open(t, emptyDatabase(t), behindPooler(p)) })
}

// More callers than connections of the pooler wait for each other, and a caller waits no
// longer than an operation may take.
func TestPoolerIsBusy(t *testing.T) {
	p := server.StartPooler(t, postgrestest.PoolerLimits{Connections: 2, Clients: 200})
	url := emptyDatabase(t)
	var all sync.WaitGroup
	for range 4 {
		s := open(t, url, behindPooler(p))
		for range 8 {
			all.Go(func() {
				e := routinetest.Execution(t)
				if err := errors.Join(s.CreateExecution(t.Context(), e), s.FinishExecution(t.Context(), routinetest.Ended(e))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()

	s := open(t, url, behindPooler(p))
	for range 2 { // transactions that keep the connections
		c, err := pgx.Connect(t.Context(), p.URL("shared"))
		must(t, err)
		defer c.Close(context.WithoutCancel(t.Context()))
		_, err = c.Exec(t.Context(), "BEGIN; SELECT 1")
		must(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Changes(ctx)
	if took := time.Since(began); err == nil || took > 5*time.Second {
		t.Errorf("a call without a connection: %v after %v", err, took)
	}
}

// The server limits transactions also behind a pooler, which does not pass on the settings
// of connections.
func TestLimitsBehindPooler(t *testing.T) {
	p := server.StartPooler(t, postgrestest.PoolerLimits{Connections: 4, Clients: 20})
	s := open(t, emptyDatabase(t), behindPooler(p))
	for name, do := range map[string]func(context.Context, func(context.Context, queryer) error) error{
		"snapshot": s.snapshot,
		"change": func(ctx context.Context, do func(context.Context, queryer) error) error {
			return s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return do(ctx, tx) })
		},
	} {
		must(t, do(t.Context(), func(ctx context.Context, q queryer) error {
			for setting, want := range map[string]string{"statement_timeout": "10s", "idle_in_transaction_session_timeout": "30s"} {
				var got string
				if err := q.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&got); err != nil || got != want {
					t.Errorf("%s: %s is %s, want %s: %v", name, setting, got, want, err)
				}
			}
			return nil
		}))
	}
	// The limit of one transaction is not that of the next one on the connection.
	var left string
	must(t, s.queryRow(t.Context(), `SELECT current_setting('statement_timeout')`).Scan(&left))
	if left != "0" {
		t.Errorf("statement_timeout %s is left on the connection", left)
	}
}

// A server that has as many connections as it may have makes callers wait, and then
// answers that the service is busy. A place that gets free is used.
func TestConnectionLimit(t *testing.T) {
	address := emptyDatabase(t)
	execute(t, address, `DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN CONNECTION LIMIT 2 IN ROLE rote INHERIT`)
	few := strings.Replace(address, "//rote@", "//few@", 1)
	s := open(t, address, func(c *Config) { c.URL, c.Connections = few, 1 })
	must(t, s.Ping(t.Context()))
	var taken []*pgx.Conn
	defer func() {
		for _, c := range taken {
			_ = c.Close(context.WithoutCancel(t.Context()))
		}
	}()
	c, err := pgx.Connect(t.Context(), few)
	must(t, err)
	taken = append(taken, c)

	other := newStore(Config{URL: few})
	must(t, other.connect(t.Context()))
	defer func() { must(t, other.Close()) }()
	freed := make(chan error, 1)
	time.AfterFunc(300*time.Millisecond, func() { freed <- taken[0].Close(context.WithoutCancel(t.Context())) })
	_, err = other.Changes(t.Context())
	must(t, err) // it has waited
	must(t, <-freed)

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	third := newStore(Config{URL: few})
	must(t, third.connect(t.Context()))
	defer func() { must(t, third.Close()) }()
	ann := routine.Principal{OrganizationID: "acme", Scopes: routine.DefaultScopes}
	_, err = service.New(service.Config{Store: third, Browser: &routinetest.Browser{}}).Routine(ctx, ann, "r")
	if code := routine.CodeOf(err); code != routine.CodeStoreUnavailable && code != routine.CodeTimeout {
		t.Errorf("without a connection: %s %v", code, err)
	}
}

// Migrations, notifications and beats need the database of the queries, and not another.
func TestDirectDatabaseMustBeTheSame(t *testing.T) {
	p := server.StartPooler(t, postgrestest.PoolerLimits{Connections: 4, Clients: 20})
	shared := emptyDatabase(t)
	execute(t, shared, `CREATE SCHEMA IF NOT EXISTS other`)
	must(t, open(t, shared, behindPooler(p)).Ping(t.Context()))
	for direct, want := range map[string]string{
		server.Database(t, ""):                        "is another database than that of --db",
		p.URL("shared"):                               "or is a connection pooler",
		shared + "&search_path=other":                 "is in the schema other, but --db is in public",
		"postgres://rote@/none?host=/nowhere&port=99": "--db-direct: ",
	} {
		_, err := Open(t.Context(), Config{URL: p.URL("shared"), DirectURL: direct, arrivalTimeout: 200 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", direct, err, want)
		}
	}
	_, err := Open(t.Context(), Config{URL: p.URL("shared")})
	if err == nil || !strings.Contains(err.Error(), "name the database itself with --db-direct") {
		t.Errorf("a pooler without --db-direct: %v", err)
	}
}

func TestNamesHaveTheSchema(t *testing.T) {
	const address = "postgres://ann:s3cr3t@db.example/rote?sslmode=verify-full&search_path=prices"
	if got, want := Name(address), "postgres://ann@db.example:5432/rote?search_path=prices"; got != want {
		t.Errorf("name %s, want %s", got, want)
	}
	dumped, schema := DumpSource(address)
	if want := "postgres://ann@db.example:5432/rote?sslmode=verify-full"; dumped != want || schema != "prices" {
		t.Errorf("dump %s of %s, want %s", schema, dumped, want)
	}
	socket := fmt.Sprintf("postgres://ann@/rote?host=%s&search_path=prices", url.QueryEscape("/run/postgresql"))
	if got := Name(socket); !strings.Contains(got, "search_path=prices") || !strings.Contains(got, "host=%2Frun%2Fpostgresql") {
		t.Errorf("name %s", got)
	}
}
