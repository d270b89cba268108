package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"rote/routine/routinetest/budget"
)

// A synchronous run takes two commits and few statements.
func TestRunBudget(t *testing.T) {
	s := open(t, tempPath(t))
	c := &counter{driver: s.write.Driver()}
	for _, pool := range []struct {
		db  **sql.DB
		dsn string
		max int
	}{{&s.write, writeDSN(s.path), 1}, {&s.read, readDSN(s.path), maxReaders}} {
		must(t, (*pool.db).Close())
		*pool.db = sql.OpenDB(countingConnector{c, pool.dsn})
		(*pool.db).SetMaxOpenConns(pool.max)
		(*pool.db).SetMaxIdleConns(pool.max)
	}
	budget.TestRuns(t, s, func() budget.Counts {
		return budget.Counts{Commits: int(c.commits.Load()), Statements: int(c.statements.Load())}
	})
}

// counter counts the statements that are sent to the driver. SQLite itself counts the
// commits, those of single statements too.
type counter struct {
	driver              driver.Driver
	commits, statements atomic.Int64
}

type countingConnector struct {
	*counter
	dsn string
}

func (c countingConnector) Driver() driver.Driver { return c.driver }

func (c countingConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	conn.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 { c.commits.Add(1); return 0 })
	return countingConn{conn.(fullConn), c.counter}, nil
}

// fullConn is what database/sql uses of a connection.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type countingConn struct {
	fullConn
	counter *counter
}

func (c countingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.counter.statements.Add(1)
	return c.fullConn.ExecContext(ctx, query, args)
}

func (c countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.counter.statements.Add(1)
	return c.fullConn.QueryContext(ctx, query, args)
}

func (c countingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.counter.statements.Add(1)
	tx, err := c.fullConn.BeginTx(ctx, o)
	return countingTx{tx, c.counter}, err
}

func (c countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.fullConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return countingStmt{s.(fullStmt), c.counter}, nil
}

type countingTx struct {
	driver.Tx
	counter *counter
}

func (t countingTx) Commit() error {
	t.counter.statements.Add(1)
	return t.Tx.Commit()
}

type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countingStmt struct {
	fullStmt
	counter *counter
}

func (s countingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.counter.statements.Add(1)
	return s.fullStmt.ExecContext(ctx, args)
}

func (s countingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.counter.statements.Add(1)
	return s.fullStmt.QueryContext(ctx, args)
}
