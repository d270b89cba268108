package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rote/routine"
)

// maxNamedRuns limits how many runs the notice names.
const maxNamedRuns = 5

// stopRuns tells the user which runs it waits for, and returns when they have
// ended or ctx has.
func (a *app) stopRuns(ctx context.Context) {
	if running := a.service.InFlight(); len(running) > 0 {
		fmt.Fprintln(a.streams.err, stopNotice(running, a.drainTime))
	}
	a.service.Close(ctx)
}

// stopNotice returns a message that says which runs the program waits for, how
// long, and how to stop at once.
func stopNotice(running []*routine.Execution, wait time.Duration) string {
	var named []string
	for _, e := range running[:min(len(running), maxNamedRuns)] {
		named = append(named, fmt.Sprintf("%s of %.60q", e.ID, e.RoutineName))
	}
	if more := len(running) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	runs := "1 run"
	if len(running) > 1 {
		runs = fmt.Sprintf("%d runs", len(running))
	}
	return fmt.Sprintf("rote: stopping, which waits up to %v for %s in flight: %s. "+
		"A second signal (Ctrl-C) ends them at once.", wait, runs, strings.Join(named, ", "))
}
