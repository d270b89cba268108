package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"rote/routine"
)

// River keeps its jobs in tables of its own, in the same schema. A job of River carries
// nothing but its kind: it wakes one of the processes, because there is work of that kind. What
// is to be done, and whose turn it is, is in the tables of this package, from which a job
// that River has lost is done too, a little later.

// riverMigrations are the migrations that update the tables of River to the version that
// this program knows, by the versions of the schema. A new version of River that has
// migrations needs another one here. The names end with the version of River's tables.
var riverMigrations = map[int64]string{6: "00006_river_8.go"}

// gooseRiverMigrations returns riverMigrations for goose. They use a connection of their
// own, because River does not work on those of database/sql. Meanwhile goose holds its lock.
func (s *Store) gooseRiverMigrations() (all []*goose.Migration) {
	for version := range riverMigrations {
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error { return s.migrateRiver(ctx) }}, nil))
	}
	return all
}

func (s *Store) migrateRiver(ctx context.Context) error {
	pool, err := s.directPool()
	if err != nil {
		return err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: s.riverLog})
	if err != nil {
		return fmt.Errorf("migrations of River: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrations of River: %w", err)
	}
	return nil
}

// directPool returns a pool of connections without a pooler and without limits on the time
// of statements. It connects on first use.
func (s *Store) directPool() (*pgxpool.Pool, error) {
	config, err := s.poolConfig()
	if err != nil {
		return nil, err
	}
	if config.ConnConfig, err = s.directConfig(); err != nil {
		return nil, err
	}
	config.MaxConns = 1
	return pgxpool.NewWithConfig(context.Background(), config)
}

// riverDriver is the driver of River on the pool of the Store. River listens to
// notifications on a connection that does not go through a pooler.
type riverDriver struct {
	*riverpgxv5.Driver
	direct *riverpgxv5.Driver
}

func (d riverDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.direct.GetListener(p)
}

// jobArgs are the arguments of a job of River: none but the kind.
type jobArgs struct{ kind routine.JobKind }

// Kind returns the name of the kind, which is also the name of its queue.
func (a jobArgs) Kind() string { return string(a.kind) }

// newRiverInserter returns the client that makes jobs. It does none.
func (s *Store) newRiverInserter() (*river.Client[pgx.Tx], error) {
	c := &river.Config{FetchCooldown: fetchCooldown, Logger: s.riverLog}
	s.config.editRiver(c)
	return river.NewClient(riverpgxv5.New(nil), c)
}

// makeJob makes a job of a kind in a transaction.
func (s *Store) makeJob(ctx context.Context, tx pgx.Tx, kind routine.JobKind) error {
	_, err := s.inserter.InsertTx(ctx, tx, jobArgs{kind}, &river.InsertOpts{Queue: string(kind)})
	if err != nil {
		return fmt.Errorf("make job %s: %w", kind, err)
	}
	return nil
}

// execWithJob is exec. It makes a job of a kind in the same transaction if the statement
// changes anything.
func (s *Store) execWithJob(ctx context.Context, kind routine.JobKind, query string, args ...any) (n int64, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, query, args...)
		if n = done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return s.makeJob(ctx, tx, kind)
	})
	return n, err
}

// quietTime is how long a message of River is not logged again. While the database does
// not answer, River repeats some of them each second.
const quietTime = time.Minute

// riverLogHandler passes on the warnings and errors of River, each text once in quietTime.
type riverLogHandler struct {
	slog.Handler
	logged *sync.Map // of the times of the last records by their texts
}

func newRiverLog(log *slog.Logger) *slog.Logger {
	return slog.New(riverLogHandler{log.Handler(), &sync.Map{}})
}

func (h riverLogHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h riverLogHandler) Handle(ctx context.Context, r slog.Record) error {
	last, known := h.logged.Swap(r.Message, r.Time)
	if at, ok := last.(time.Time); known && ok && r.Time.Sub(at) < quietTime {
		h.logged.Store(r.Message, at)
		return nil
	}
	r.Message = "River: " + r.Message
	return h.Handler.Handle(ctx, r)
}

func (h riverLogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return riverLogHandler{h.Handler.WithAttrs(attrs), h.logged}
}

func (h riverLogHandler) WithGroup(name string) slog.Handler {
	return riverLogHandler{h.Handler.WithGroup(name), h.logged}
}
