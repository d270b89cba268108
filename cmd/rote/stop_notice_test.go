package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"rote/routine"
)

// A server that is asked to stop says what it waits for.
func TestStoppingServerNamesRuns(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve()
	answered := s.startNap()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the notice", func() bool { return strings.Contains(s.log.String(), "A second signal") })
	if said := s.log.String(); !strings.Contains(said, "waits up to 10s for 1 run in flight: ") || !strings.Contains(said, ` of "nap". A second signal (Ctrl-C) ends them at once.`) {
		t.Errorf("%s", said)
	}
	s.stop(syscall.SIGINT)
	endedInOrder(t, r, s, <-answered)
}

func TestStopNotice(t *testing.T) {
	var running []*routine.Execution
	for i := range 8 {
		running = append(running, &routine.Execution{ID: fmt.Sprint("id", i), RoutineName: "a\n" + strings.Repeat("b", 100)})
	}
	notice := stopNotice(running, defaultDrainTime)
	if !strings.Contains(notice, "8 runs in flight: id0 of ") || !strings.Contains(notice, "id4 of ") || strings.Contains(notice, "id5") ||
		!strings.Contains(notice, ", and 3 more. ") || strings.Contains(notice, "\n") || len(notice) > 700 {
		t.Error(notice)
	}
}
