package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rote/routine/routinetest/budget"
)

// A synchronous run takes two commits and few round trips. The server counts the commits
// that write something, and the connections to it the round trips.
func TestRunBudget(t *testing.T) {
	s, count := openCounted(t)
	budget.TestRuns(t, s, count)
}

// An asynchronous run takes five commits, with River and with a poller of the Store.
func TestAsyncRunBudget(t *testing.T) {
	t.Run("River", func(t *testing.T) {
		s, count := openCounted(t)
		budget.TestAsyncRuns(t, s, s.JobQueue(), count)
	})
	t.Run("poller", func(t *testing.T) {
		s, count := openCounted(t)
		budget.TestAsyncRuns(t, s, nil, count)
	})
}

// openCounted opens a Store, and returns a function that counts what it does.
func openCounted(t *testing.T) (*Store, func() budget.Counts) {
	t.Helper()
	url := emptyDatabase(t)
	var trips atomic.Int64
	s := open(t, url, func(c *Config) {
		c.timing = timing{beatInterval: time.Hour, deadAfter: time.Hour, maxLookGap: time.Hour, maxSilence: time.Hour} // a beat is a commit
		c.dial = func(dial pgconn.DialFunc) pgconn.DialFunc {
			return func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				return &countingConn{Conn: conn, trips: &trips}, err
			}
		}
	})
	observer, err := pgx.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { must(t, observer.Close(context.Background())) })
	return s, func() budget.Counts {
		// The id of the next transaction that writes. Nothing else writes to this server.
		var commits int
		must(t, observer.QueryRow(t.Context(), `SELECT txid_snapshot_xmax(txid_current_snapshot())`).Scan(&commits))
		return budget.Counts{Commits: commits, Statements: int(trips.Load())}
	}
}

// countingConn counts round trips: each time that something is read after a write.
type countingConn struct {
	net.Conn
	trips   *atomic.Int64
	written atomic.Bool
}

func (c *countingConn) Write(b []byte) (int, error) {
	c.written.Store(true)
	return c.Conn.Write(b)
}

func (c *countingConn) Read(b []byte) (int, error) {
	if c.written.CompareAndSwap(true, false) {
		c.trips.Add(1)
	}
	return c.Conn.Read(b)
}
