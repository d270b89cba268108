package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// relay is a program that rote takes for its browser: this program again, which starts the
// browser and counts what passes between the two.
type relay struct {
	executable string
	counts     string // the file in which the relay keeps its counts
}

// The relay finds the browser, and the file for its counts, in the environment.
const (
	relayBrowser = "ROTE_BENCH_RELAY_BROWSER"
	relayCounts  = "ROTE_BENCH_RELAY_COUNTS"
)

// startRelay prepares a relay to a browser. rote may start it as another user.
func (b *bench) startRelay(browser string) (*relay, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rote-bench-relay-")
	if err != nil {
		return nil, err
	}
	b.addCleanup(func() error { return os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return nil, err
	}
	r := &relay{filepath.Join(dir, "browser"), filepath.Join(dir, "counts")}
	binary := filepath.Join(dir, "relay")
	if err := os.WriteFile(binary, program, 0o755); err != nil { //nolint:gosec // it is a program
		return nil, err
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=%s %s=%s exec %s \"$@\"\n", relayBrowser, browser, relayCounts, r.counts, binary)
	return r, os.WriteFile(r.executable, []byte(script), 0o755) //nolint:gosec // it is a program
}

// settled waits until nothing more is counted and returns the counts.
func (r *relay) settled(ctx context.Context) (traffic, error) {
	var last string
	for {
		select {
		case <-ctx.Done():
			return traffic{}, context.Cause(ctx)
		case <-time.After(10 * countInterval):
		}
		text, err := os.ReadFile(r.counts)
		if err != nil {
			return traffic{}, err
		}
		if string(text) != last || last == "" {
			last = string(text)
			continue
		}
		var t traffic
		_, err = fmt.Sscan(last, &t.messages, &t.bytes)
		return t, err
	}
}

// countInterval is the time between two writes of the counts.
const countInterval = 50 * time.Millisecond

// runRelay is the program of the relay: it passes on what comes through the pipes of its
// client, which are files 3 and 4, until one of the two sides ends.
func runRelay(browser, counts string) error {
	theirIn, toBrowser, err := os.Pipe()
	if err != nil {
		return err
	}
	fromBrowser, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(browser, os.Args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, _ = theirIn.Close(), theirOut.Close()
	var mu sync.Mutex
	var all traffic
	pass := func(to, from *os.File) {
		buffer := make([]byte, 1<<20)
		for {
			n, err := from.Read(buffer)
			mu.Lock()
			all.messages += float64(strings.Count(string(buffer[:n]), "\x00"))
			all.bytes += float64(n)
			mu.Unlock()
			if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
				_ = to.Close()
				return
			}
		}
	}
	go pass(toBrowser, os.NewFile(3, "from the client"))
	go pass(os.NewFile(4, "to the client"), fromBrowser)
	go func() {
		for range time.Tick(countInterval) {
			mu.Lock()
			text := strconv.Itoa(int(all.messages)) + " " + strconv.Itoa(int(all.bytes))
			mu.Unlock()
			if os.WriteFile(counts+".new", []byte(text), 0o666) == nil { //nolint:gosec // another user reads it
				_ = os.Rename(counts+".new", counts)
			}
		}
	}()
	return cmd.Wait()
}

// relayIfAsked runs the relay and ends the process, if this process was started as one.
func relayIfAsked(log io.Writer) {
	browser := os.Getenv(relayBrowser)
	if browser == "" {
		return
	}
	if err := runRelay(browser, os.Getenv(relayCounts)); err != nil {
		fmt.Fprintln(log, "relay:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
