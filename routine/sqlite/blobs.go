package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Data larger than inlineLimit bytes is stored in the directory PATH.files,
// because it would make the database file, its backups and checkpoints larger.
// The file name is the SHA-256 of the content, as in files/ab/abcd…. Files are
// written once and never changed. Several rows may refer to the same file.
//
// A file gets its name inside the write transaction that adds the reference,
// and is removed inside a transaction that finds no reference. SQLite has one
// writer at a time across all processes, so these cannot interleave. If a
// process dies in between, at most an unreferenced file remains, which
// removeUnusedBlobs removes.
const inlineLimit = 1 << 20

const (
	filesSuffix = ".files"
	tempPrefix  = "tmp-"
)

// blob is data that has been written to a temporary file.
type blob struct {
	hash           [sha256.Size]byte
	tempPath, path string
}

func (s *Store) blobPath(hash []byte) string {
	name := hex.EncodeToString(hash)
	return filepath.Join(s.path+filesSuffix, name[:2], name)
}

// stageBlob writes data to a temporary file. The caller must call moveIntoPlace
// or discard.
func (s *Store) stageBlob(data []byte) (_ *blob, err error) {
	dir := s.path + filesSuffix
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, tempPrefix) // mode 0600
	if err != nil {
		return nil, err
	}
	b := &blob{hash: sha256.Sum256(data), tempPath: f.Name()}
	b.path = s.blobPath(b.hash[:])
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, b.discard())
	}
	return b, nil
}

// moveIntoPlace durably gives the blob its final name. It must be called inside
// the write transaction that adds the reference.
func (b *blob) moveIntoPlace() error {
	dir := filepath.Dir(b.path)
	if err := os.Mkdir(dir, 0o700); err == nil {
		if err := syncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Rename(b.tempPath, b.path); err != nil {
		return err
	}
	return syncDir(dir)
}

// discard removes the temporary file, if it was not moved.
func (b *blob) discard() error { return removeIfExists(b.tempPath) }

// syncDir makes the file names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// readBlob reads a blob and verifies its hash.
func (s *Store) readBlob(hash []byte) ([]byte, error) {
	if len(hash) != sha256.Size {
		return nil, fmt.Errorf("%x is no SHA-256", hash)
	}
	data, err := os.ReadFile(s.blobPath(hash))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(hash) {
		return nil, fmt.Errorf("file %s is damaged", s.blobPath(hash))
	}
	return data, nil
}
