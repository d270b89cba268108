package sqlite

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rote/routine"
)

const keyBytes = 32

// sealer encrypts data with AES-256-GCM under a key in a separate file, so that
// the database file alone does not reveal it. The random nonce is stored before
// the ciphertext.
type sealer struct{ keyFile string }

// seal encrypts text. It can be decrypted only with the same place. first must
// be true only if nothing has been encrypted yet: then a missing key is
// created. Later a missing key must not be replaced.
func (s sealer) seal(text []byte, place string, first bool) ([]byte, error) {
	box, err := s.aead(first)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize(), box.NonceSize()+len(text)+box.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return box.Seal(nonce, nonce, text, []byte(place)), nil
}

// open decrypts the output of seal. It returns [routine.ErrSealed].
func (s sealer) open(sealed []byte, place string) ([]byte, error) {
	box, err := s.aead(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", routine.ErrSealed, err)
	}
	if err != nil {
		return nil, err
	}
	if len(sealed) < box.NonceSize() {
		return nil, routine.ErrSealed
	}
	text, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], []byte(place))
	if err != nil {
		return nil, routine.ErrSealed
	}
	return text, nil
}

// aead reads the key, and creates it first if it is missing and make is set. It
// returns [routine.ErrStateKey].
func (s sealer) aead(make bool) (cipher.AEAD, error) {
	key, err := readKey(s.keyFile)
	if errors.Is(err, fs.ErrNotExist) && make {
		if err = createKey(s.keyFile); err == nil {
			key, err = readKey(s.keyFile)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", routine.ErrStateKey, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func readKey(path string) ([]byte, error) {
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
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s does not hold a key: %d random bytes in base64", path, keyBytes)
	}
	return key, nil
}

// createKey creates a key file, which is complete as soon as it has its name.
// If another process has created one meanwhile, that one is kept.
func createKey(path string) error {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
