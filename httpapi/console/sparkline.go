package console

import (
	"fmt"
	"slices"
	"strings"

	"rote/routine"
)

// Geometry of a sparkline, in pixels.
const (
	sparkHeight = 20
	sparkStep   = 7 // from bar to bar
	sparkBar    = 5
	sparkLeast  = 3 // the height of the shortest bar
)

// sparkline draws the newest runs as bars, the oldest first. Bars of failed runs hang from
// the top, so that not only the colour tells them.
type sparkline struct {
	Good, Bad     string // the d attributes of two paths
	Width, Height int
	// Words are for people who do not see the picture.
	Words string
	// Median is the median duration of the completed runs in seconds; nil: none completed.
	Median *float64
}

// newSparkline returns the sparkline of runs, newest first; nil if none has ended.
func newSparkline(runs []*routine.Execution) *sparkline {
	var ended []*routine.Execution
	var longest float64
	var completed []float64
	for _, e := range slices.Backward(runs) {
		if e.Open() {
			continue
		}
		ended = append(ended, e)
		if e.DurationSeconds != nil {
			longest = max(longest, *e.DurationSeconds)
			if e.Status == routine.ExecutionCompleted {
				completed = append(completed, *e.DurationSeconds)
			}
		}
	}
	if len(ended) == 0 {
		return nil
	}
	s := &sparkline{Width: len(ended) * sparkStep, Height: sparkHeight}
	var good, bad strings.Builder
	failed := 0
	for i, e := range ended {
		height := sparkLeast
		if e.DurationSeconds != nil && longest > 0 {
			height += int(*e.DurationSeconds / longest * (sparkHeight - sparkLeast))
		}
		if e.Status == routine.ExecutionFailed {
			failed++
			fmt.Fprintf(&bad, "M%d 0v%dh%dv-%dz", i*sparkStep, height, sparkBar, height)
			continue
		}
		fmt.Fprintf(&good, "M%d %dv-%dh%dv%dz", i*sparkStep, sparkHeight, height, sparkBar, height)
	}
	s.Good, s.Bad = good.String(), bad.String()
	s.Words = fmt.Sprintf("last runs: %d completed, %d failed", len(ended)-failed, failed)
	if len(completed) > 0 {
		slices.Sort(completed)
		s.Median = &completed[len(completed)/2]
	}
	return s
}
