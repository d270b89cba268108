package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"rote/routine"
)

// changeCounter uses one connection to detect whether any process has written
// to the database since the last call. SQLite keeps that number (PRAGMA
// data_version) in shared memory, which is much faster than reading rows.
type changeCounter struct {
	readsStarted atomic.Uint64 // number of reads started, incremented with mu held
	mu           sync.Mutex
	conn         *sql.Conn
	versionStmt  driver.Stmt // statement of the driver; going through database/sql takes twice as long
	countsStmt   *sql.Stmt
	// seenVersion is the data_version at which lastChanges was read. It is specific
	// to the connection.
	seenVersion int64
	lastChanges routine.Changes
	// commitsSeen grows when a read finds that something was committed since the
	// read before it.
	commitsSeen atomic.Uint64
}

// Changes returns how often routines and tokens have been changed.
func (s *Store) Changes(ctx context.Context) (routine.Changes, error) {
	// The cancellation of one caller must not close the shared connection.
	changes, err := s.changes.read(context.WithoutCancel(ctx), s.read)
	if err != nil {
		return routine.Changes{}, fmt.Errorf("look for changes: %w", err)
	}
	return changes, nil
}

// read returns the counts as of a time after the call started. Concurrent
// callers share the result of a read that started after their calls.
func (w *changeCounter) read(ctx context.Context, pool *sql.DB) (_ routine.Changes, err error) {
	before := w.readsStarted.Load()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readsStarted.Load() != before && w.conn != nil {
		return w.lastChanges, nil // a read that started after this call has finished
	}
	w.readsStarted.Add(1)
	defer func() {
		if err != nil { // the next read opens another connection
			err = errors.Join(err, w.closeConn())
		}
	}()
	if w.conn == nil {
		if err := w.open(ctx, pool); err != nil {
			return w.lastChanges, err
		}
	}
	version, err := w.dataVersion(ctx)
	if err != nil || version == w.seenVersion {
		return w.lastChanges, err
	}
	// The counts are at least as new as version.
	err = w.countsStmt.QueryRowContext(ctx).Scan(&w.lastChanges.Routines, &w.lastChanges.Tokens)
	if err == nil {
		w.seenVersion = version
		w.commitsSeen.Add(1)
	}
	return w.lastChanges, err
}

func (w *changeCounter) open(ctx context.Context, pool *sql.DB) (err error) {
	w.seenVersion = -1
	if w.conn, err = pool.Conn(ctx); err != nil {
		return err
	}
	if err := w.conn.Raw(func(c any) (err error) {
		w.versionStmt, err = c.(driver.ConnPrepareContext).PrepareContext(ctx, `PRAGMA data_version`)
		return err
	}); err != nil {
		return err
	}
	w.countsStmt, err = w.conn.PrepareContext(ctx, `
		SELECT (SELECT count FROM changes WHERE what = 'routines'), (SELECT count FROM changes WHERE what = 'tokens')`)
	return err
}

// dataVersion returns the connection's data_version, which changes when another
// connection commits.
func (w *changeCounter) dataVersion(ctx context.Context) (int64, error) {
	rows, err := w.versionStmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return 0, err
	}
	value := make([]driver.Value, 1)
	err = errors.Join(rows.Next(value), rows.Close())
	version, ok := value[0].(int64)
	if err == nil && !ok {
		err = fmt.Errorf("data_version is %v", value[0])
	}
	return version, err
}

func (w *changeCounter) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closeConn()
}

func (w *changeCounter) closeConn() (err error) {
	if w.versionStmt != nil {
		err = w.versionStmt.Close()
	}
	if w.conn != nil { // closes countsStmt too
		err = errors.Join(err, w.conn.Close())
	}
	w.conn, w.versionStmt, w.countsStmt = nil, nil, nil
	return err
}
