package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

func TestWaterfall(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	record := func(i int, start, took float64) routine.OperationRecord {
		return routine.OperationRecord{Index: i, Type: fmt.Sprint("op", i), StartSeconds: &start, DurationSeconds: took}
	}
	for _, c := range []struct {
		name    string
		e       routine.Execution
		want    string
		shorten float64
	}{
		{"completed", routine.Execution{Status: routine.ExecutionCompleted, CompletedAt: new(at.Add(10 * time.Second)), StartedAt: &at,
			Operations: []routine.OperationRecord{record(0, 1, 4), record(1, 5, 4.5)}},
			"waiting, browser opened 0.00% 10.00% | op0 completed 10.00% 40.00% | op1 completed 50.00% 45.00%", 0},
		{"with a long wait", routine.Execution{Status: routine.ExecutionCompleted, CompletedAt: new(at.Add(100 * time.Second)),
			StartedAt: new(at.Add(85 * time.Second)), Operations: []routine.OperationRecord{record(0, 5, 10)}},
			"waiting, browser waited 0.00% 31.48% opened 31.48% 1.85% gap 16.67% 1 | op0 completed 33.33% 66.67%", 90},
		{"running", routine.Execution{Status: routine.ExecutionRunning, StartedAt: &at, Operations: []routine.OperationRecord{record(0, 0, 1)}},
			"waiting, browser | op0 completed 0.00% 20.00%", 0},
		{"of an older version", routine.Execution{Status: routine.ExecutionCompleted, CompletedAt: new(at.Add(time.Second)), StartedAt: &at,
			Operations: []routine.OperationRecord{{Index: 0, Type: "op0", DurationSeconds: 1}}}, "waiting, browser | op0", 0},
		{"pending", routine.Execution{Status: routine.ExecutionPending}, "waiting, browser", 0},
	} {
		c.e.CreatedAt = at
		w := newWaterfall(&c.e, nil, at.Add(3*time.Second))
		var rows []string
		for _, row := range w.Rows {
			text := row.Text
			for _, b := range row.Bars {
				text += " " + b.Class + " " + b.X + " " + b.Width
			}
			rows = append(rows, text)
		}
		if got := strings.Join(rows, " | "); got != c.want || w.Shortened != c.shorten {
			t.Errorf("%s:\n%s, %v short\nwant\n%s, %v short", c.name, got, w.Shortened, c.want, c.shorten)
		}
	}
}
