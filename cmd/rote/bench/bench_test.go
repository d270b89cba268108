package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"rote/browser/chromium"
	"rote/routine/routinetest/leakcheck"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/scratch"
)

func TestMain(m *testing.M) {
	relayIfAsked(os.Stderr) // the test program is the relay too
	remove, err := scratch.Use()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	if err := errors.Join(remove(), leakcheck.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// A run through rote's REST and MCP costs little more than the bare protocol.
// Other work on the machine blurs that, so it has some attempts.
func TestSpeedOfRuns(t *testing.T) {
	optional.Speed(t)
	executable, err := chromium.Find("")
	if err != nil {
		t.Fatalf("this test needs a browser (go run ./cmd/rote browser install): %v", err)
	}
	b := &bench{rest: 50 * time.Millisecond, progress: io.Discard}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	if err := b.prepare(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := b.addContenders(t.Context(), engine{"shell", executable}, false); err != nil {
		t.Fatal(err)
	}
	left, how := promises, []string(nil)
	for range 10 {
		for _, c := range b.contenders {
			c.times = nil
		}
		if err := b.measure(t.Context(), 6); err != nil {
			t.Fatal(err)
		}
		if left, how = b.broken(left); len(left) == 0 {
			return
		}
		t.Log(b.table())
	}
	t.Fatalf("slower than promised: %s", how)
}

func TestBrokenPromises(t *testing.T) {
	took := func(name string, ms ...int) *contender {
		c := &contender{name: name, engine: "shell"}
		for _, n := range ms {
			c.times = append(c.times, time.Duration(n)*time.Millisecond)
		}
		return c
	}
	b := &bench{contenders: []*contender{took(floorReady, 10, 900, 10), took(oursREST, 15, 15, 15), took(oursMCP, 16, 1, 16), took(puppeteer, 39, 39, 30), took(devtoolsMCP, 191)}}
	want := []string{
		"shell: " + oursMCP + " takes 1.60 × " + floorReady + ", promised is at most 1.5",
		"shell: " + devtoolsMCP + " takes 11.94 × " + oursMCP + ", promised is at least 12",
	}
	if _, got := b.broken(promises); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}
