package console

import (
	"fmt"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/operation"
)

// waterfall is the table of a run's operations with the time that each took.
type waterfall struct {
	Rows []operationRow
	// Scale are the labels of the axis, from left to right.
	Scale []string
	// Shortened is the time without an operation that the bars leave out; 0: none.
	Shortened float64
}

// operationRow is one operation of a run, or what happened before the first or after the last one.
type operationRow struct {
	// ID is that of the element on the page.
	ID string
	// Number counts operations from 1; 0 for a row that is no operation.
	Number int
	// Text says what the row is, as in "click #search".
	Text string
	// Status is completed, failed, skipped, running or pending; empty for a row that is no
	// operation. A pending operation of a run that has ended was not reached.
	Status  string
	Seconds *float64
	Error   string
	// Details is the JSON that the operation has recorded; empty: nothing.
	Details string
	Bars    []bar
}

// bar is a stretch of the time of a run, in percent of its width, as attributes of SVG.
type bar struct{ Class, X, Width string }

// maxDetails limits the details of one operation that the page shows, in bytes.
const maxDetails = 4 << 10

// recordsOf returns the records of the operations that have ended.
func recordsOf(e *routine.Execution) []routine.OperationRecord {
	if e.Result != nil {
		return e.Result.OperationsMetadata
	}
	return e.Operations
}

// newWaterfall returns the operations of a run. d is the definition that ran, or nil if it is
// not known: then the rows say only the type, and only operations that have ended are listed.
func newWaterfall(e *routine.Execution, d *routine.Definition, now time.Time) waterfall {
	x := newRunTime(e, now)
	w := waterfall{Shortened: x.shortened, Scale: []string{"0", duration(x.total / 2), duration(x.total)}}
	if x.shortened > 0 {
		w.Scale[1] = ""
	}
	w.Rows = append(w.Rows, x.beforeRow())
	records := recordsOf(e)
	var texts []string
	if d != nil {
		texts = operation.DescribeAll(d.Operations)
	}
	for i := range max(len(records), len(texts)) {
		row := operationRow{ID: fmt.Sprint("operation-", i+1), Number: i + 1, Status: "pending"}
		if i < len(texts) {
			row.Text = texts[i]
		}
		at := slices.IndexFunc(records, func(r routine.OperationRecord) bool { return r.Index == i })
		switch {
		case at >= 0:
			row.fill(&records[at], x)
		case e.Status == routine.ExecutionRunning && i == len(records):
			row.Status, row.Bars = "running", x.bars("running", x.ended, now.Sub(e.CreatedAt).Seconds())
		case !e.Open():
			row.Status = "not reached"
		}
		w.Rows = append(w.Rows, row)
	}
	return w
}

// fill adds what the record of an operation says.
func (row *operationRow) fill(r *routine.OperationRecord, x *runTime) {
	row.Seconds, row.Status = new(r.DurationSeconds), "completed"
	if row.Text == "" {
		row.Text = r.Type
	}
	switch {
	case r.Error != nil:
		row.Status, row.Error = "failed", *r.Error
	case r.Details["skipped"] == true:
		row.Status = "skipped"
	}
	if len(r.Details) > 0 {
		row.Details = routine.JSONText(r.Details)
		if len(row.Details) > maxDetails {
			row.Details = routine.Truncate(row.Details[:maxDetails], maxDetails-1)
		}
	}
	if r.StartSeconds != nil {
		begun := x.started + *r.StartSeconds
		row.Bars = x.bars(row.Status, begun, begun+r.DurationSeconds)
	}
}

// runTime maps the time of a run, in seconds from its creation, to the width of the bars.
type runTime struct {
	// started is when it got a browser, first and ended are when the first operation began
	// and the last one that has ended did.
	started, first, ended, total float64
	pieces                       []piece
	// shortened is the time in long gaps between operations, which are drawn short.
	shortened float64
}

// piece is a stretch of time that is drawn at one scale: from one second to another, from one
// percent to another.
type piece struct {
	from, to, left, right float64
	gap                   bool
}

const (
	// longGap is the part of a run's time from which a gap without an operation is drawn
	// short, because it would squeeze all else, and shortGap the part that it then gets.
	longGap, shortGap = 0.10, 0.05
)

func newRunTime(e *routine.Execution, now time.Time) *runTime {
	x := &runTime{total: now.Sub(e.CreatedAt).Seconds()}
	switch {
	case e.CompletedAt != nil:
		x.total = e.CompletedAt.Sub(e.CreatedAt).Seconds()
	case e.Open():
		x.total = roundUp(x.total) // so that the bars stay where they are for a while
	}
	x.total = max(x.total, 0.001)
	if e.StartedAt != nil {
		x.started = e.StartedAt.Sub(e.CreatedAt).Seconds()
	}
	x.first, x.ended = x.started, x.started
	at := 0.0
	for i, r := range recordsOf(e) {
		if r.StartSeconds == nil {
			continue
		}
		begun := x.started + *r.StartSeconds
		if i == 0 {
			x.first = begun
		}
		x.ended = max(x.ended, begun+r.DurationSeconds)
		x.addPiece(at, begun, true)
		x.addPiece(max(at, begun), begun+r.DurationSeconds, false)
		at = max(at, begun+r.DurationSeconds)
	}
	x.addPiece(at, x.total, !e.Open() && at > 0)
	x.layOut()
	return x
}

// addPiece appends a piece of time. A gap has no operation.
func (x *runTime) addPiece(from, to float64, gap bool) {
	if to = min(to, x.total); to > from {
		x.pieces = append(x.pieces, piece{from: from, to: to, gap: gap && to-from > longGap*x.total})
	}
}

// layOut gives each piece its part of the width.
func (x *runTime) layOut() {
	shown := 0.0
	weight := func(p piece) float64 {
		if p.gap {
			return shortGap * x.total
		}
		return p.to - p.from
	}
	for _, p := range x.pieces {
		shown += weight(p)
		if p.gap {
			x.shortened += p.to - p.from
		}
	}
	at := 0.0
	for i := range x.pieces {
		p := &x.pieces[i]
		p.left, p.right = at, at+weight(*p)/shown*100
		at = p.right
	}
}

// percent returns the place of a second on the axis.
func (x *runTime) percent(second float64) float64 {
	for _, p := range x.pieces {
		if second <= p.to {
			return p.left + max(0, second-p.from)/(p.to-p.from)*(p.right-p.left)
		}
	}
	return 100
}

// bars returns the bar of a stretch of time; none if it is empty.
func (x *runTime) bars(class string, from, to float64) []bar {
	if to <= from {
		return nil
	}
	left, right := x.percent(from), x.percent(to)
	return []bar{{class, fmt.Sprintf("%.2f%%", left), fmt.Sprintf("%.2f%%", right-left)}}
}

// beforeRow returns the row of the time before the first operation, with the gaps that are
// drawn short.
func (x *runTime) beforeRow() operationRow {
	row := operationRow{ID: "operation-before", Text: "waiting, browser", Seconds: new(x.first)}
	row.Bars = append(x.bars("waited", 0, x.started), x.bars("opened", x.started, x.first)...)
	for _, p := range x.pieces {
		if p.gap {
			middle := (p.left + p.right) / 2
			row.Bars = append(row.Bars, bar{"gap", fmt.Sprintf("%.2f%%", middle), "1"})
		}
	}
	return row
}

// roundUp returns the next of 1, 2, 5, 10, 20, 50, … seconds.
func roundUp(seconds float64) float64 {
	for step := 1.0; ; step *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if seconds <= m*step {
				return m * step
			}
		}
	}
}
