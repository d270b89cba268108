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

// watch asks one connection of its own whether anything was written since it was
// asked last, by whatever process. SQLite answers that from memory that the
// processes share, which is much quicker than reading rows.
type watch struct {
	begun   atomic.Uint64 // looks begun, counted under mu
	mu      sync.Mutex
	conn    *sql.Conn
	version driver.Stmt // of the driver's own: without database/sql it takes half the time
	counts  *sql.Stmt
	// seen is the connection's data_version when last was read. It means
	// nothing to another connection.
	seen int64
	last routine.Changes
}

// Changes tells how often routines and tokens have changed.
func (s *Store) Changes(ctx context.Context) (routine.Changes, error) {
	// A caller that goes away must not take the connection with it.
	changes, err := s.watch.look(context.WithoutCancel(ctx), s.read)
	if err != nil {
		return routine.Changes{}, fmt.Errorf("look for changes: %w", err)
	}
	return changes, nil
}

func (w *watch) look(ctx context.Context, pool *sql.DB) (_ routine.Changes, err error) {
	before := w.begun.Load()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun.Load() != before && w.conn != nil {
		return w.last, nil // a look that began after this call has ended by now
	}
	w.begun.Add(1)
	defer func() {
		if err != nil { // the next look begins with another connection
			err = errors.Join(err, w.drop())
		}
	}()
	if w.conn == nil {
		if err := w.open(ctx, pool); err != nil {
			return w.last, err
		}
	}
	version, err := w.ask(ctx)
	if err != nil || version == w.seen {
		return w.last, err
	}
	// What is counted here is of this moment or later.
	err = w.counts.QueryRowContext(ctx).Scan(&w.last.Routines, &w.last.Tokens)
	if err == nil {
		w.seen = version
	}
	return w.last, err
}

func (w *watch) open(ctx context.Context, pool *sql.DB) (err error) {
	w.seen = -1
	if w.conn, err = pool.Conn(ctx); err != nil {
		return err
	}
	if err := w.conn.Raw(func(c any) (err error) {
		w.version, err = c.(driver.ConnPrepareContext).PrepareContext(ctx, `PRAGMA data_version`)
		return err
	}); err != nil {
		return err
	}
	w.counts, err = w.conn.PrepareContext(ctx, `
		SELECT (SELECT count FROM changes WHERE what = 'routines'), (SELECT count FROM changes WHERE what = 'tokens')`)
	return err
}

// ask gives the connection's data_version, which changes when others commit.
func (w *watch) ask(ctx context.Context) (int64, error) {
	rows, err := w.version.(driver.StmtQueryContext).QueryContext(ctx, nil)
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

func (w *watch) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drop()
}

func (w *watch) drop() (err error) {
	if w.version != nil {
		err = w.version.Close()
	}
	if w.conn != nil { // which closes the statement of database/sql
		err = errors.Join(err, w.conn.Close())
	}
	w.conn, w.version, w.counts = nil, nil, nil
	return err
}
