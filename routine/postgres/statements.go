package postgres

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"rote/routine/rows"
)

const (
	// attempts is how often an operation is tried if the database fails in a way that
	// passes.
	attempts = 3
	// maxPause bounds the pause between two attempts, in units of 20 ms.
	maxPause = 10
	// tooManyConnections is the code of the error of a server that has no place for
	// another connection.
	tooManyConnections = "53300"
	// statementCancelled is the code of the error of a statement that was cancelled. The
	// request to cancel one that has ended meanwhile may hit the next statement of its
	// connection, which has then changed nothing and is tried again.
	statementCancelled = "57014"
)

// transientClasses are the first characters of the codes of errors that may be gone when
// the operation is tried again: of connections (08), serialization and deadlocks (40),
// resources such as too many connections (53), and a server that starts or stops (57P).
var transientClasses = []string{"08", "40", "53", "57P"}

// read calls do, which must not change anything, until it succeeds, at most a few times.
func (s *Store) read(ctx context.Context, do func(context.Context) error) error {
	return try(ctx, do, func(err error) bool {
		if code := sqlState(err); code != "" {
			return code == statementCancelled || transient(code)
		}
		return !errors.Is(err, pgx.ErrNoRows)
	})
}

// write calls do, which changes something, again only if the failed attempt has certainly
// changed nothing.
func (s *Store) write(ctx context.Context, do func(context.Context) error) error {
	return withKeyRemedy(try(ctx, do, func(err error) bool {
		code := sqlState(err)
		return pgconn.SafeToRetry(err) || isConnectError(err) || code == statementCancelled || strings.HasPrefix(code, "40") || strings.HasPrefix(code, "53")
	}))
}

// try calls do until it succeeds, fails in another way than again accepts, or
// operationTimeout has passed. While the server has no place for another connection, it
// waits for one as long as that.
func try(ctx context.Context, do func(context.Context) error, again func(error) bool) error {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	for n := 1; ; n++ {
		err := do(ctx)
		full := hasNoPlace(err)
		if err == nil || n >= attempts && !full || ctx.Err() != nil || !full && !again(err) {
			return err
		}
		pause := time.NewTimer(time.Duration(min(n*n, maxPause)) * 20 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// sqlState returns the code of an error of the server, or "" for other errors.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func transient(code string) bool {
	for _, class := range transientClasses {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// hasNoPlace reports whether an attempt to connect failed because the server, or a pooler,
// has as many connections as it may have.
func hasNoPlace(err error) bool {
	var e *pgconn.PgError
	return isConnectError(err) && errors.As(err, &e) && (e.Code == tooManyConnections || strings.HasPrefix(e.Message, "no more connections allowed"))
}

func isConnectError(err error) bool {
	var e *pgconn.ConnectError
	return errors.As(err, &e)
}

// exec executes one statement, which is a transaction by itself, and returns the number of
// changed rows.
func (s *Store) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.write(ctx, func(ctx context.Context) error {
		done, err := s.pool.Exec(ctx, query, args...)
		n = done.RowsAffected()
		return err
	})
	return n, err
}

// execRelaxed is exec for a change that may be lost if the machine of the database
// crashes. The commit does not wait for the disk.
func (s *Store) execRelaxed(ctx context.Context, pool *pgxpool.Pool, query string, args ...any) (n int64, err error) {
	err = s.write(ctx, func(ctx context.Context) error {
		batch := &pgx.Batch{} // one round trip, and one transaction
		batch.Queue(`SELECT set_config('synchronous_commit', 'off', true)`)
		batch.Queue(query, args...).Exec(func(done pgconn.CommandTag) error {
			n = done.RowsAffected()
			return nil
		})
		return pool.SendBatch(ctx, batch).Close()
	})
	return n, err
}

// row is a query for one row, which Scan executes. Scan returns [pgx.ErrNoRows] if there
// is none.
type row struct {
	store *Store
	ctx   context.Context //nolint:containedctx // as long as one call
	query string
	args  []any
}

func (s *Store) queryRow(ctx context.Context, query string, args ...any) row {
	return row{s, ctx, query, args}
}

func (r row) Scan(into ...any) error {
	return r.store.read(r.ctx, func(ctx context.Context) error {
		return r.store.pool.QueryRow(ctx, r.query, r.args...).Scan(into...)
	})
}

// queryer is the pool or a transaction.
type queryer interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// collect returns the rows of a query, each read by scan.
func collect[T any](ctx context.Context, q queryer, scan func(rows.Scan) (T, error), query string, args ...any) ([]T, error) {
	found, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (T, error) { return scan(row.Scan) })
	if list == nil {
		list = []T{}
	}
	return list, err
}

// scanString reads a row of one text.
func scanString(scan rows.Scan) (text string, err error) {
	err = scan(&text)
	return text, err
}

// snapshot calls do with a transaction that sees the database at one moment.
func (s *Store) snapshot(ctx context.Context, do func(context.Context, queryer) error) error {
	return s.read(ctx, func(ctx context.Context) error {
		begin := pgx.TxOptions{BeginQuery: beginQuery(" ISOLATION LEVEL REPEATABLE READ READ ONLY", statementTimeout)}
		return pgx.BeginTxFunc(ctx, s.pool, begin, func(tx pgx.Tx) error { return do(ctx, tx) })
	})
}

// inTx calls change in a transaction and commits it if change returns no error.
func (s *Store) inTx(ctx context.Context, change func(context.Context, pgx.Tx) error) error {
	return s.write(ctx, func(ctx context.Context) error {
		begin := pgx.TxOptions{BeginQuery: beginQuery("", statementTimeout)}
		return pgx.BeginTxFunc(ctx, s.pool, begin, func(tx pgx.Tx) error { return change(ctx, tx) })
	})
}

// value returns a text that is compared with a column. A text that the database cannot
// hold is equal to none, and so is NULL.
func value(text string) any {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil
	}
	return text
}

// optionalBytes converts a text for a bytea column.
func optionalBytes(text *string) []byte {
	if text == nil {
		return nil
	}
	return append([]byte{}, *text...) // never NULL
}

// limitOf returns the argument of LIMIT; NULL means that there is no limit.
func limitOf(limit int) *int64 {
	if limit <= 0 {
		return nil
	}
	return new(int64(limit))
}
