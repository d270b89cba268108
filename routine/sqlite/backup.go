package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a consistent copy of the database to a new file while the
// database is in use. Large results and files are copied to a directory next to
// it, where a Store that opens the copy finds them. The copy appears under its
// name only after it is complete and verified. Existing files are never
// overwritten.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	for _, name := range []string{path, path + filesSuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("backup: %s is there already: name a new file", name)
		}
	}
	temp, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".partial-")
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := s.writeBackup(ctx, filepath.Join(temp, "db")); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := moveBackupIntoPlace(temp, path); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// writeBackup copies the database and the blobs that it refers to. Blobs are
// copied before and after the database: each blob that the copy refers to
// existed before the copy was made or exists after it.
func (s *Store) writeBackup(ctx context.Context, path string) error {
	before, err := s.blobHashes(ctx, s.read)
	if err != nil {
		return err
	}
	if err := s.copyBlobs(before, path+filesSuffix, true); err != nil {
		return err
	}
	// SQLite fills the empty file; one that it creates could be read by all users.
	if err := createFile(path); err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		return err
	}
	after, err := s.checkBackup(ctx, path)
	if err != nil {
		return err
	}
	if err := s.copyBlobs(after, path+filesSuffix, false); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkBackup verifies the integrity of the copy and returns the blobs that it
// refers to.
func (s *Store) checkBackup(ctx context.Context, path string) (blobs [][]byte, err error) {
	db, err := openPool(readDSN(path), 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&verdict); err != nil {
		return nil, err
	}
	if verdict != "ok" {
		return nil, fmt.Errorf("the copy is not sound, and so may be the database: %s", verdict)
	}
	return s.blobHashes(ctx, db)
}

// blobHashes returns the hashes of all blobs that a database refers to.
func (s *Store) blobHashes(ctx context.Context, db *sql.DB) ([][]byte, error) {
	rows, err := db.QueryContext(ctx, `
		SELECT result_hash FROM executions WHERE result_hash IS NOT NULL UNION SELECT hash FROM execution_files WHERE hash IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all [][]byte
	for rows.Next() {
		var hash []byte
		if err := rows.Scan(&hash); err != nil {
			return nil, err
		}
		all = append(all, hash)
	}
	return all, rows.Err()
}

// copyBlobs copies the blobs that are missing in dir. With mayBeGone, blobs
// that have been pruned meanwhile are skipped.
func (s *Store) copyBlobs(hashes [][]byte, dir string, mayBeGone bool) error {
	for _, hash := range hashes {
		name := hex.EncodeToString(hash)
		to := filepath.Join(dir, name[:2], name)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		err := copyFile(s.blobPath(hash), to)
		if mayBeGone {
			err = ignoreNotExist(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyFile makes a durable copy of from. It makes no hard link, so that a
// backup survives damage to the original.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// moveBackupIntoPlace gives the copy in temp its final name: the files first
// and then the database, by a link, which never overwrites.
func moveBackupIntoPlace(temp, path string) error {
	files := filepath.Join(temp, "db") + filesSuffix
	if err := os.Rename(files, path+filesSuffix); ignoreNotExist(err) != nil {
		return err
	}
	if err := os.Link(filepath.Join(temp, "db"), path); err != nil {
		return errors.Join(err, os.RemoveAll(path+filesSuffix))
	}
	return syncDir(filepath.Dir(path))
}
