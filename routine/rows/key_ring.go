package rows

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"rote/routine"
)

const keyBytes = 32

// Ring is the state keys of a store, at least one. The first encrypts, and all decrypt.
type Ring [][]byte

// Find returns the key with an id; nil: there is none.
func (r Ring) Find(id string) []byte {
	for _, key := range r {
		if KeyID(key) == id {
			return key
		}
	}
	return nil
}

// IDs returns the ids of the keys.
func (r Ring) IDs() (ids []string) {
	for _, key := range r {
		ids = append(ids, KeyID(key))
	}
	return ids
}

// KeyID returns a name of a key that does not reveal it.
func KeyID(key []byte) string {
	hash := sha256.Sum256(key)
	return hex.EncodeToString(hash[:4])
}

// KeySource returns the keys of a Sealer. If there is none yet and create is set, it
// creates one. An error that wraps [fs.ErrNotExist] means that there is none. It is called
// for each use, so that a running process takes over a key ring that was changed.
type KeySource func(create bool) (Ring, error)

// KeyFile is the source of keys in a file: a line for each, of 32 random bytes in base64.
func KeyFile(path string) KeySource {
	return func(create bool) (Ring, error) {
		ring, err := ReadKeyFile(path)
		if errors.Is(err, fs.ErrNotExist) && create {
			if err = createKey(path); err == nil {
				ring, err = ReadKeyFile(path)
			}
		}
		return ring, err
	}
}

// KeepLast returns a source that asks another source, and gives its last keys again if that
// one fails: a process that works does not fail because the file is away.
func KeepLast(source KeySource) KeySource {
	var (
		mu   sync.Mutex
		kept Ring
	)
	return func(create bool) (Ring, error) {
		mu.Lock()
		defer mu.Unlock()
		ring, err := source(create)
		if err == nil {
			kept = ring
		} else if kept != nil {
			return kept, nil
		}
		return ring, err
	}
}

// ReadKeyFile reads a key file. It refuses one that other users can read.
func ReadKeyFile(path string) (Ring, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file: name one with --state-key", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be used by other users: chmod 600 it", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ring, err := ParseKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s does not hold a key: %w", path, err)
	}
	return ring, nil
}

// ParseKeys reads the text of one or more keys, which white space separates.
func ParseKeys(text string) (Ring, error) {
	var ring Ring
	for _, word := range strings.Fields(text) {
		key, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(key) != keyBytes {
			return nil, fmt.Errorf("it is not %d random bytes in base64", keyBytes)
		}
		if ring.Find(KeyID(key)) == nil {
			ring = append(ring, key)
		}
	}
	if ring == nil {
		return nil, errors.New("it is empty")
	}
	return ring, nil
}

// NewKey returns the text of a new key.
func NewKey() (string, error) {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(key), nil
}

// EditKeyFile replaces the keys of a file by those that edit returns. Only one process at a
// time edits it, and a process that is killed leaves the file as it was or complete.
func EditKeyFile(path string, edit func(Ring) (Ring, error)) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	lock := flock.New(path + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock key file: %w", err)
	}
	defer func() { _ = lock.Close() }()
	before, err := ReadKeyFile(path)
	if err != nil {
		return err
	}
	after, err := edit(before)
	if err != nil || slices.Equal(before.IDs(), after.IDs()) {
		return err
	}
	return writeKeys(path, after, os.Rename)
}

// createKey creates a key file, which is complete as soon as it has its name.
// If another process has created one meanwhile, that one is kept.
func createKey(path string) error {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	err := writeKeys(path, Ring{key}, os.Link)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// writeKeys writes keys to a new file, and gives it its name when it is complete.
func writeKeys(path string, ring Ring, name func(old, path string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	for _, key := range ring {
		_, writeErr := fmt.Fprintln(f, base64.StdEncoding.EncodeToString(key))
		err = errors.Join(err, writeErr)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := name(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// KeyUse is how many rows are encrypted with a state key. The id is empty for rows of earlier
// versions, which do not name their key.
type KeyUse struct {
	ID   string
	Rows int
}

// CheckNewKey returns an error if a state key, the first of a ring, must not encrypt anything
// in a database that is encrypted with other known keys. removed reports whether it was
// removed from them.
func CheckNewKey(ring Ring, known []string, removed bool) error {
	id := KeyID(ring[0])
	if removed {
		return fmt.Errorf("%w: the key %s was removed by rote key prune: give this process the key file of today", routine.ErrStateKey, id)
	}
	for _, other := range known {
		if ring.Find(other) != nil {
			return nil
		}
	}
	if len(known) == 0 {
		return nil
	}
	return fmt.Errorf("%w: this process has the state key %s, but the database is encrypted with the key %s: "+
		"give every process the same with --state-key FILE or in ROTE_STATE_KEY", routine.ErrStateKey, strings.Join(ring.IDs(), ", "), strings.Join(known, ", "))
}

// ErrKeyNotUsed means that nothing was encrypted with a key that is to be removed, so it may
// be one that processes will use from now on.
var ErrKeyNotUsed = errors.New("nothing was encrypted with the key yet")

// ErrKeyInUse means that something is encrypted with a key that is to be removed.
var ErrKeyInUse = errors.New("something is encrypted with the key: run rote key rotate first")
