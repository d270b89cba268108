package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"rote/browser/tempdir"
)

type mcpCommand struct {
	toolFlags
}

// Run serves until the client closes our standard input, ends itself or sends a
// signal. Standard output carries the protocol and nothing else.
func (c *mcpCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if err := g.checkBrowser(); err != nil {
		return err
	}
	a, err := open(ctx, g, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	files := &fileDir{}
	defer func() { err = errors.Join(err, files.remove()) }()
	add, err := addCommandLine(g)
	if err != nil {
		return err
	}
	server, err := c.server(a, g, files.path, add)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); watchParent(ctx, cancel) }()
	defer func() { cancel(); <-watched }()
	return server.ServeStdio(ctx, g.local(), s.in, s.out)
}

// addCommandLine stores a routine in the database and the organization of g.
func addCommandLine(g *globals) (string, error) {
	path, err := g.database()
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	line := "rote add FILE --db " + shellQuoted(path)
	if g.Organization != "default" {
		line += " --organization " + shellQuoted(g.Organization)
	}
	return line, nil
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellQuoted is text as one word for a shell.
func shellQuoted(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// filesPrefix begins the names of the directories that files of results are put
// in for the client.
const filesPrefix = "rote-files-"

// fileDir is such a directory, made when the first file comes.
type fileDir struct {
	mu   sync.Mutex
	made *tempdir.Dir
}

func (d *fileDir) path() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made == nil {
		tempdir.Sweep(filesPrefix)
		made, err := tempdir.Make(filesPrefix)
		if err != nil {
			return "", err
		}
		d.made = made
	}
	return d.made.Path, nil
}

func (d *fileDir) remove() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made == nil {
		return nil
	}
	return d.made.Remove()
}

// parentInterval is how often we look whether our parent lives.
const parentInterval = 500 * time.Millisecond

// watchParent calls orphaned when the process that started us is gone: others
// may hold our standard input open after it, as package runners do, and then
// the browser would run for nobody.
func watchParent(ctx context.Context, orphaned func()) {
	parent := os.Getppid()
	tick := time.NewTicker(parentInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if os.Getppid() != parent {
				orphaned()
				return
			}
		}
	}
}
