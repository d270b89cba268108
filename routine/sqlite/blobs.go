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

// What is larger than inlineLimit bytes would make the database file grow, and
// every backup and checkpoint with it. It lives in the directory PATH.files,
// under the SHA-256 of its content: files/ab/abcd…, written once and never
// changed. Rows refer to it by the hash; several may refer to the same one.
//
// A blob gets its name inside the write transaction that adds the reference,
// and loses it inside one that finds no reference. SQLite has one writer at a
// time, of all processes, so neither can come between the other's steps. A
// process that dies in between leaves at most a file that nothing refers to,
// which sweepBlobs removes.
const inlineLimit = 1 << 20

const (
	filesSuffix = ".files"
	tempPrefix  = "tmp-"
)

// blob is data on its way to its place: on disk, under a name of its own.
type blob struct {
	hash       [sha256.Size]byte
	temp, path string
}

func (s *Store) blobPath(hash []byte) string {
	name := hex.EncodeToString(hash)
	return filepath.Join(s.path+filesSuffix, name[:2], name)
}

// stageBlob writes data to disk. The caller places the blob or drops it.
func (s *Store) stageBlob(data []byte) (_ *blob, err error) {
	dir := s.path + filesSuffix
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, tempPrefix) // readable by the owner alone
	if err != nil {
		return nil, err
	}
	b := &blob{hash: sha256.Sum256(data), temp: f.Name()}
	b.path = s.blobPath(b.hash[:])
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, b.drop())
	}
	return b, nil
}

// place gives the blob its name, durably. It is called inside the write
// transaction that adds the reference.
func (b *blob) place() error {
	dir := filepath.Dir(b.path)
	if err := os.Mkdir(dir, 0o700); err == nil {
		if err := syncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Rename(b.temp, b.path); err != nil {
		return err
	}
	return syncDir(dir)
}

// drop removes what was not placed.
func (b *blob) drop() error { return removeIfThere(b.temp) }

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// readBlob reads and verifies what a row refers to.
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
