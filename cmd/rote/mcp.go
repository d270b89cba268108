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
	"rote/routine/postgres"
)

type mcpCommand struct {
	mcpFlags
	lessonFlags
	Toolsets []string `help:"Tools in addition to routines: run (always), teach, authoring." default:"run,teach" enum:"run,teach,authoring" placeholder:"NAME"`
}

// Run serves until the client closes standard input, the parent process ends or
// a signal arrives. Only protocol messages are written to standard output.
func (c *mcpCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if err := errors.Join(g.checkBrowser(), g.requireStateKey()); err != nil {
		return err
	}
	a, err := openApp(ctx, g, s, mayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := c.lessonFlags.open(a, g, int(c.Lessons)); err != nil {
		return err
	}
	files := &fileDir{}
	defer func() { err = errors.Join(err, files.remove()) }()
	add, err := addCommandLine(g)
	if err != nil {
		return err
	}
	server, err := c.server(a, g, c.Toolsets, files.path, add)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); watchParent(ctx, cancel) }()
	defer func() { cancel(); <-watched }()
	return server.ServeStdio(ctx, g.localPrincipal(), s.in, s.out)
}

// addCommandLine returns the command that stores a routine in the database and
// the organization of g.
func addCommandLine(g *globals) (string, error) {
	name, err := g.databaseName()
	if err != nil {
		return "", err
	}
	if !postgres.IsURL(name) {
		if name, err = filepath.Abs(name); err != nil {
			return "", err
		}
	}
	line := "rote add FILE --db " + shellQuoted(name)
	if g.Organization != "default" {
		line += " --organization " + shellQuoted(g.Organization)
	}
	return line, nil
}

var shellSafe = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellQuoted quotes text as one word for a shell.
func shellQuoted(text string) string {
	if shellSafe.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// fileDirPrefix is the prefix of the directories in which files of results are
// stored for the client.
const fileDirPrefix = "rote-files-"

// fileDir is a temporary directory that is created for the first file.
type fileDir struct {
	mu   sync.Mutex
	made *tempdir.Dir
}

func (d *fileDir) path() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made == nil {
		tempdir.Sweep(fileDirPrefix)
		made, err := tempdir.Make(fileDirPrefix)
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

// parentInterval is how often watchParent checks whether the parent process is
// alive.
const parentInterval = 500 * time.Millisecond

// watchParent calls orphaned when the process that started this one has ended.
// Other processes, such as package runners, may keep standard input open after
// it, and the browser would then keep running without a client.
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
