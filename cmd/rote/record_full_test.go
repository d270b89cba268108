package main

import (
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/recording"
)

// That a recording is full is said once, and again after a step back.
func TestRecordingIsFull(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := &recordTerminal{out: &out, denials: func() []routine.Denial { return nil }}
	press := func(times int) {
		for range times {
			s.add(recording.Event{Kind: recording.Press, Key: "Enter", Page: "1"})
		}
	}
	press(recording.MaxOperations + 3)
	if said := strings.Count(out.String(), "at most 300 operations"); said != 1 {
		t.Errorf("it was said %d times", said)
	}
	if done, err := s.command(t.Context(), nil, "u"); done || err != nil {
		t.Fatal(done, err)
	}
	press(3)
	if said := strings.Count(out.String(), "at most 300 operations"); said != 2 {
		t.Errorf("it was said %d times", said)
	}
}
