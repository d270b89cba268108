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
	"rote/routine/rows"
)

// countAllSizes adds the parameters and the evidence to the sizes of executions
// saved before these were counted.
var countAllSizes = goose.NewGoMigration(9, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE executions SET size = size + coalesce(octet_length(parameters), 0) + coalesce(octet_length(evidence), 0)`)
	return err
}}, nil)

// pruneBatch limits how many executions one transaction deletes, so that other
// writers wait only for milliseconds.
const pruneBatch = 100

// tempMaxAge is the age at which a temporary file is considered left behind by
// a crash. Writing one takes seconds.
const tempMaxAge = time.Hour

// Prune deletes the executions that retention does not keep, expired
// idempotency keys, one-time codes and sign-ins, and unreferenced files. It returns the number of
// deleted executions. A clock that is wrong deletes little: see retentionClock.
func (s *Store) Prune(ctx context.Context, r routine.Retention, now time.Time) (int, error) {
	now = s.clock.bound(ctx, now, r.Age)
	before, err := s.pruneLimit(ctx, r, now)
	if err != nil {
		return 0, rows.Wrap("prune executions", err)
	}
	alive := rows.Micros(now.Add(-routine.IdempotencyTime))
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
			return total, rows.Wrap("prune executions", err)
		}
		total += int(n)
		if n < pruneBatch {
			break
		}
	}
	if _, err := s.write.ExecContext(ctx, `DELETE FROM idempotency_keys WHERE created_at <= ?`, alive); err != nil {
		return total, rows.Wrap("prune idempotency keys", err)
	}
	if err := errors.Join(s.pruneCodes(ctx), s.pruneSignIns(ctx, now)); err != nil {
		return total, err
	}
	return total, rows.Wrap("sweep files", s.removeUnusedBlobs(ctx, now))
}

// pruneLimit returns the creation time in microseconds before which executions
// are deleted: by age or by total size, whichever is later.
func (s *Store) pruneLimit(ctx context.Context, r routine.Retention, now time.Time) (int64, error) {
	var before int64
	if r.Age > 0 {
		before = rows.Micros(now.Add(-r.Age))
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

// removeUnusedBlobs removes the blobs that no row refers to, and old temporary
// files.
func (s *Store) removeUnusedBlobs(ctx context.Context, now time.Time) error {
	root := s.path + filesSuffix
	var unused []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // no blobs exist, or another process has removed it
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasPrefix(entry.Name(), tempPrefix) {
			info, err := entry.Info()
			if err == nil && now.Sub(info.ModTime()) > tempMaxAge {
				err = removeIfExists(path)
			}
			return ignoreNotExist(err)
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
	// Checked again in a transaction, where no reference can be added meanwhile.
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, path := range unused {
			used, err := s.blobIsUsed(ctx, tx, filepath.Base(path))
			if err == nil && !used {
				err = removeIfExists(path)
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

// blobIsUsed reports whether a row refers to the blob with this name. Other
// file names count as used, because they are not ours to remove.
func (s *Store) blobIsUsed(ctx context.Context, q queryer, name string) (used bool, err error) {
	hash, err := hex.DecodeString(name)
	if err != nil {
		return true, nil //nolint:nilerr // not a file of ours
	}
	err = q.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM executions WHERE result_hash = ?1) OR EXISTS (SELECT 1 FROM execution_files WHERE hash = ?1)`, hash).Scan(&used)
	return used, err
}

func ignoreNotExist(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
