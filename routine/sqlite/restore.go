package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Restore makes the database at path from a backup of [Store.Backup], also of an earlier
// version. The backup stays as it is. The copy is checked first: its schema is updated, and
// each file that it refers to has to be there and whole. There must be no database at path.
func Restore(ctx context.Context, backup, path string) error {
	if err := restore(ctx, backup, path); err != nil {
		return WithRemedy(fmt.Errorf("restore %s: %w", backup, err))
	}
	return nil
}

func restore(ctx context.Context, backup, path string) (err error) {
	if log, err := os.Stat(backup + "-wal"); err == nil && log.Size() > 0 {
		return errors.New("it is no backup but a database in use: make a backup of it with rote backup")
	}
	if path, err = resolvePath(path, false); err != nil {
		return err
	}
	for _, name := range []string{path, path + filesSuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already: move it away, or name another file with --db", name)
		}
	}
	temp, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".partial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	copied := filepath.Join(temp, "db")
	if err := copyFile(backup, copied); err != nil {
		return err
	}
	if err := ignoreNotExist(os.CopyFS(copied+filesSuffix, os.DirFS(backup+filesSuffix))); err != nil {
		return err
	}
	if err := checkRestored(ctx, copied); err != nil {
		return err
	}
	return moveBackupIntoPlace(temp, path)
}

// checkRestored opens the copy, which updates its schema, and verifies it.
func checkRestored(ctx context.Context, path string) (err error) {
	s, err := openStore(ctx, path, []Option{MustExist()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	hashes, err := s.checkBackup(ctx, path)
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		content, err := os.ReadFile(s.blobPath(hash))
		if err != nil {
			return fmt.Errorf("a result or file is missing, which lies beside the backup in its .files directory: %w", err)
		}
		if sum := sha256.Sum256(content); !bytes.Equal(sum[:], hash) {
			return fmt.Errorf("the result or file %x beside the backup is damaged", hash)
		}
	}
	return nil
}
