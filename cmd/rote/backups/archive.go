package backups

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// databaseName is the name of the database in an archive.
const databaseName = "rote.db"

// pack writes the files of a directory to a new archive.
func pack(dir, archive string) (err error) {
	f, err := os.OpenFile(archive, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	compressed := gzip.NewWriter(f)
	files := tar.NewWriter(compressed)
	if err := files.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	return errors.Join(files.Close(), compressed.Close(), f.Sync())
}

// IsArchive reports whether a file begins as an archive does.
func IsArchive(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = gzip.NewReader(f)
	return err == nil
}

// Unpack writes the files of an archive to a new directory, and returns the path of the database
// in it. Names that lead out of the directory are refused.
func Unpack(archive, dir string) (database string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	f, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer f.Close()
	compressed, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("it is not an archive of rote backup: %w", err)
	}
	for files := tar.NewReader(compressed); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = unpackFile(root, h, files)
		}
		if err != nil {
			return "", fmt.Errorf("it is not an archive of rote backup, or it is damaged: %w", err)
		}
	}
	database = filepath.Join(dir, databaseName)
	if _, err := os.Stat(database); err != nil {
		return "", fmt.Errorf("it is not an archive of rote backup: there is no %s in it", databaseName)
	}
	return database, nil
}

// unpackFile writes one file or directory. Anything else is not in an archive of ours.
func unpackFile(root *os.Root, h *tar.Header, from io.Reader) (err error) {
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(filepath.FromSlash(h.Name), 0o700)
	case tar.TypeReg:
	default:
		return fmt.Errorf("%s is neither a file nor a directory", h.Name)
	}
	f, err := root.OpenFile(filepath.FromSlash(h.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, from)
	return err
}
