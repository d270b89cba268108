package browser

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"rote/routine"
)

// downloadsBelowHome is the download directory as seen from the directory that is shared.
func (p *page) downloadsBelowHome() string { return filepath.Join("downloads", string(p.context)) }

// fileID matches the ids of the browser that become names of files and directories.
var fileID = regexp.MustCompile(`^[0-9A-Za-z-]+$`)

// readDownload reads a file of the run and removes it. The browser may be another program's, and
// its page hostile: nothing outside of the shared directory is read or removed, no file that is
// not a regular one is opened, and no more is read than the files of a run may have.
func (p *page) readDownload(id string) ([]byte, error) {
	root, err := os.OpenRoot(p.i.process.Home())
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	name := filepath.Join(p.downloadsBelowHome(), id)
	defer func() { _ = root.Remove(name) }() // otherwise it is removed at the end of the run
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the download %s is no regular file", id)
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it does not wait for a pipe
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(fmt.Errorf("the download %s was replaced", id), err)
	}
	limit := cmp.Or(p.downloads.maxBytes, math.MaxInt64-1)
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the download %s has more bytes than the browser said", id)
	}
	return data, err
}

// unreadable is the error of a file that the browser has stored and we cannot read.
func (p *page) unreadable(name string, err error) error {
	if !p.b.remote {
		return routine.Internal("read a downloaded file", err)
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, Cause: err, Message: fmt.Sprintf("the file %q was downloaded, but rote cannot read it: check "+
		"that the directory of #downloads is the same one for rote and the browser, and that both may read and write each other's files there",
		routine.Truncate(name, 100))}
}

// removeDownloads deletes the files of the run that are still on the disk.
func (p *page) removeDownloads() {
	p.mu.Lock()
	begun := len(p.downloads.list)
	p.mu.Unlock()
	if begun == 0 || !p.sharesFiles() {
		return
	}
	root, err := os.OpenRoot(p.i.process.Home())
	if err == nil {
		err = root.RemoveAll(p.downloadsBelowHome())
		_ = root.Close()
	}
	if err != nil && p.b.remote {
		p.b.config.Log.Warn("the downloads of a run could not be removed", "error", err)
	}
}
