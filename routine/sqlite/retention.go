package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"rote/routine"
)

// countAll adds the parameters and the evidence to the sizes of executions that
// were saved before these counted.
var countAll = goose.NewGoMigration(9, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE executions SET size = size + coalesce(octet_length(parameters), 0) + coalesce(octet_length(evidence), 0)`)
	return err
}}, nil)

// pruneBatch bounds how many executions one transaction deletes, so that
// writers wait for milliseconds.
const pruneBatch = 200

// tempTime is how old a file on its way to its place must be to count as left
// behind. Writing one takes seconds.
const tempTime = time.Hour

// Prune deletes what retention does not keep, and then the files that nothing
// refers to any more.
func (s *Store) Prune(ctx context.Context, r routine.Retention, now time.Time) (int, error) {
	before, err := s.pruneLimit(ctx, r, now)
	if err != nil {
		return 0, wrap("prune executions", err)
	}
	alive := micros(now.Add(-routine.IdempotencyTime))
	total := 0
	for {
		var n int64
		err := s.inTx(ctx, func(tx *sql.Tx) error {
			done, err := tx.ExecContext(ctx, `
				DELETE FROM executions WHERE id IN (
					SELECT id FROM executions WHERE created_at < ?1 AND status IN ('completed', 'failed')
						AND NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE made_id = executions.id AND idempotency_keys.created_at > ?2)
						AND NOT EXISTS (SELECT 1 FROM webhooks WHERE execution_id = executions.id AND due_at IS NOT NULL)
					ORDER BY created_at LIMIT ?3)`, before, alive, pruneBatch)
			if err != nil {
				return err
			}
			n, err = done.RowsAffected()
			return err
		})
		if err != nil {
			return total, wrap("prune executions", err)
		}
		total += int(n)
		if n < pruneBatch {
			break
		}
	}
	if _, err := s.write.ExecContext(ctx, `DELETE FROM idempotency_keys WHERE created_at <= ?`, alive); err != nil {
		return total, wrap("prune idempotency keys", err)
	}
	return total, wrap("sweep files", s.sweepBlobs(ctx, now))
}

// pruneLimit is the time of creation, in microseconds, before which executions
// are not kept: by age, or by size where that is later.
func (s *Store) pruneLimit(ctx context.Context, r routine.Retention, now time.Time) (int64, error) {
	var before int64
	if r.Age > 0 {
		before = micros(now.Add(-r.Age))
	}
	if r.Size <= 0 {
		return before, nil
	}
	var bySize int64
	err := s.read.QueryRowContext(ctx, `
		SELECT coalesce(max(created_at) + 1, 0) FROM (
			SELECT created_at, sum(size) OVER (ORDER BY created_at DESC, id DESC) AS newer FROM executions)
		WHERE newer > ?`, r.Size).Scan(&bySize)
	return max(before, bySize), err
}

// sweepBlobs removes the blobs that no row refers to, and what a crash has left
// half-written.
func (s *Store) sweepBlobs(ctx context.Context, now time.Time) error {
	root := s.path + filesSuffix
	var unused []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // nothing was ever large, or another process was faster
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasPrefix(entry.Name(), tempPrefix) {
			info, err := entry.Info()
			if err == nil && now.Sub(info.ModTime()) > tempTime {
				err = removeIfThere(path)
			}
			return ignoreMissing(err)
		}
		used, err := s.blobIsUsed(ctx, s.read, entry.Name())
		if err == nil && !used {
			unused = append(unused, path)
		}
		return err
	})
	if err != nil || len(unused) == 0 {
		return err
	}
	// Asked again where no reference can be added meanwhile.
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, path := range unused {
			used, err := s.blobIsUsed(ctx, tx, filepath.Base(path))
			if err == nil && !used {
				err = removeIfThere(path)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// blobIsUsed tells whether a row refers to the blob of that name. What is no
// blob's name counts as used: it is not ours to remove.
func (s *Store) blobIsUsed(ctx context.Context, q queryer, name string) (used bool, err error) {
	hash, err := hex.DecodeString(name)
	if err != nil {
		return true, nil //nolint:nilerr // somebody else's file
	}
	err = q.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM executions WHERE result_hash = ?1) OR EXISTS (SELECT 1 FROM execution_files WHERE hash = ?1)`, hash).Scan(&used)
	return used, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
