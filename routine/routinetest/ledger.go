package routinetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

var ledgerPromises = []promise{
	{"the records so far are read back until the end", operationsAreKept},
	{"the records of an execution that has ended are not saved", operationsAreFinal},
	{"the records of many executions are saved at once, whatever they contain", progressOfMany},
	{"a save of no progress succeeds", progressOfNone},
	{"an execution that has ended is not asked to end", cancelNeedsOpen},
	{"executions are listed newest first, ties by id, without results", executionOrder},
	{"parameters are listed as far as they are not large", largeParameters},
	{"executions are listed by organization, routine and status", executionFilters},
	{"executions are listed by front end, code, user, version and time", executionOrigins},
	{"a page behind a cursor misses nothing and repeats nothing", executionCursors},
	{"a total is counted as far as the filter says", executionCounts},
	{"the newest executions of several routines come at once", recentRuns},
	{"a page of executions comes with the number of all", executionPages},
	{"files are kept whole, whatever their size", filesAreKept},
	{"a file takes the place of one with its name", fileIsReplaced},
	{"a file needs an open execution", fileNeedsOpen},
	{"an unknown file is not found", fileNotFound},
	{"a large result is kept like a small one", largeResult},
	{"files are copied in and out", filesAreCopied},
}

var records = []routine.OperationRecord{
	{Index: 0, Type: "navigate", DurationSeconds: 0.25, Details: map[string]any{"url": "https://shop.example/?a=1&b=<2>"}},
	{Index: 1, Type: "click", DurationSeconds: 1.5, Error: new("no such element")},
}

func operationsAreKept(t *testing.T, s routine.Store) {
	e := create(t, s)
	for n := range records {
		saveProgress(t, s, e, records[:n+1])
		e.Operations, e.OperationsDone = records[:n+1], n+1
		wantExecution(t, s, e)
	}
	must(t, s.FinishExecution(t.Context(), Ended(e)))
	e = Ended(e)
	e.Operations = nil
	wantExecution(t, s, e)
}

func operationsAreFinal(t *testing.T, s routine.Store) {
	e := create(t, s)
	must(t, s.FinishExecution(t.Context(), Failed(e)))
	open := create(t, s)
	must(t, s.SaveProgress(t.Context(), map[string][]routine.OperationRecord{e.ID: records, "no-such-id": records, open.ID: records}))
	wantExecution(t, s, Failed(e))
	open.Operations, open.OperationsDone = records, len(records)
	wantExecution(t, s, open)
}

// saveProgress saves the records of one execution.
func saveProgress(t *testing.T, s routine.Store, e *routine.Execution, records []routine.OperationRecord) {
	t.Helper()
	must(t, s.SaveProgress(t.Context(), map[string][]routine.OperationRecord{e.ID: records}))
}

// progressOfMany saves records that a Store could damage when it saves many in one
// statement.
func progressOfMany(t *testing.T, s routine.Store) {
	var deep any = "deep"
	for range 1500 {
		deep = []any{deep}
	}
	all := map[string][]routine.OperationRecord{}
	var want []*routine.Execution
	for i, details := range []map[string]any{
		nil,
		{"quotes": `"'\\ $1 ?1 {{x}}`},
		{"control": "nul \x00 tab \t line \u2028 emoji 🙂 end"},
		{"large": strings.Repeat("é", 1<<17)},
		{"deep": deep},
	} {
		pending, running := create(t, s), create(t, s, func(e *routine.Execution) { e.Status, e.StartedAt = routine.ExecutionRunning, new(Time) })
		for _, e := range []*routine.Execution{pending, running} {
			for n := range i {
				e.Operations = append(e.Operations, routine.OperationRecord{Index: n, Type: "click", DurationSeconds: 0.1, Details: details})
			}
			e.OperationsDone = i
			all[e.ID] = e.Operations
			want = append(want, e)
		}
	}
	other := create(t, s)
	must(t, s.SaveProgress(t.Context(), all))
	for _, e := range append(want, other) {
		got, err := s.Execution(t.Context(), e.ID)
		must(t, err)
		equal(t, "operations done", got.OperationsDone, e.OperationsDone)
		// As text, because comparing the deep value takes minutes.
		got.Operations = append([]routine.OperationRecord{}, got.Operations...)
		if text, wanted := routine.JSONText(got.Operations), routine.JSONText(append([]routine.OperationRecord{}, e.Operations...)); text != wanted {
			t.Errorf("records %.100s of %d bytes, want %.100s of %d bytes", text, len(text), wanted, len(wanted))
		}
	}
}

func progressOfNone(t *testing.T, s routine.Store) {
	must(t, s.SaveProgress(t.Context(), nil))
}

func cancelNeedsOpen(t *testing.T, s routine.Store) {
	e := create(t, s)
	must(t, s.FinishExecution(t.Context(), Ended(e)))
	wantErr(t, "RequestCancel", s.RequestCancel(t.Context(), e.ID, Time), routine.ErrFinal)
	wantErr(t, "RequestCancel", s.RequestCancel(t.Context(), "no-such-id", Time), routine.ErrNotFound)
	wantExecution(t, s, Ended(e))
}

// wantListed compares by whole values, which lists have without results.
func wantListed(t *testing.T, s routine.Store, f routine.ExecutionFilter, total int, want ...*routine.Execution) {
	t.Helper()
	f.OrganizationID = "acme"
	got, n, err := s.Executions(t.Context(), f)
	must(t, err)
	listed := []*routine.Execution{}
	for _, e := range want {
		c := *e
		c.Result = nil
		listed = append(listed, &c)
	}
	equal(t, fmt.Sprintf("list of %+v", f), got, listed)
	equal(t, "total", n, total)
}

func largeParameters(t *testing.T, s routine.Store) {
	of := func(id string, bytes int) *routine.Execution {
		return create(t, s, func(e *routine.Execution) {
			e.ID, e.Parameters = id, json.RawMessage(`"`+strings.Repeat("é", bytes/2-1)+`"`)
		})
	}
	small, large := of("1", routine.MaxListedParameters), of("2", routine.MaxListedParameters+2)
	none := create(t, s, func(e *routine.Execution) { e.ID, e.Parameters = "3", nil })
	wantExecution(t, s, large)
	cut := *large
	cut.Parameters, cut.ParametersOmitted = nil, true
	wantListed(t, s, routine.ExecutionFilter{}, 3, none, &cut, small)
}

func executionOrder(t *testing.T, s routine.Store) {
	at := func(id string, created time.Time) *routine.Execution {
		return create(t, s, func(e *routine.Execution) { e.ID, e.CreatedAt = id, created })
	}
	tieB, newest, oldest, tieA := at("b", Time), at("0", Time.Add(time.Microsecond)), at("z", Time.Add(-time.Hour)), at("a", Time)
	must(t, s.FinishExecution(t.Context(), Ended(tieB)))
	saveProgress(t, s, oldest, records)
	oldest.OperationsDone = len(records)
	wantListed(t, s, routine.ExecutionFilter{}, 4, newest, Ended(tieB), tieA, oldest)
}

func executionFilters(t *testing.T, s routine.Store) {
	at := func(seconds int, edit func(*routine.Execution)) *routine.Execution {
		return create(t, s, func(e *routine.Execution) { e.CreatedAt = Time.Add(time.Duration(seconds) * time.Second) }, edit)
	}
	at(0, func(e *routine.Execution) { e.OrganizationID, e.RoutineID = "other", "r" })
	a := at(1, func(e *routine.Execution) { e.RoutineID = "r" })
	b := at(2, func(e *routine.Execution) { e.RoutineID = "r'%" })
	c := Ended(at(3, func(e *routine.Execution) { e.RoutineID = "r" }))
	must(t, s.FinishExecution(t.Context(), c))
	wantListed(t, s, routine.ExecutionFilter{}, 3, c, b, a)
	wantListed(t, s, routine.ExecutionFilter{RoutineID: "r"}, 2, c, a)
	wantListed(t, s, routine.ExecutionFilter{RoutineID: "r'%"}, 1, b)
	wantListed(t, s, routine.ExecutionFilter{RoutineID: "%"}, 0)
	wantListed(t, s, routine.ExecutionFilter{Status: routine.ExecutionPending}, 2, b, a)
	wantListed(t, s, routine.ExecutionFilter{RoutineID: "r", Status: routine.ExecutionCompleted}, 1, c)
	scheduled := create(t, s, func(e *routine.Execution) {
		e.RoutineID, e.ScheduleID, e.CreatedAt = "r", "Schedule_1", Time.Add(time.Hour)
	})
	create(t, s, func(e *routine.Execution) { e.ScheduleID = "Schedule_2" })
	wantListed(t, s, routine.ExecutionFilter{ScheduleID: "Schedule_1"}, 1, scheduled)
	wantListed(t, s, routine.ExecutionFilter{ScheduleID: "Schedule_1", RoutineID: "r", Status: routine.ExecutionPending}, 1, scheduled)
	wantListed(t, s, routine.ExecutionFilter{ScheduleID: "Schedule_1", Status: routine.ExecutionFailed}, 0)
	wantListed(t, s, routine.ExecutionFilter{ScheduleID: "Schedule_'%"}, 0)
}

func executionPages(t *testing.T, s routine.Store) {
	var all []*routine.Execution
	for i := range 5 {
		all = append([]*routine.Execution{create(t, s, func(e *routine.Execution) { e.CreatedAt = Time.Add(time.Duration(i)) })}, all...)
	}
	for i, e := range all {
		e.CreatedAt = Time // what is below a microsecond is not kept, and ties go by id
		wantListed(t, s, routine.ExecutionFilter{Limit: 1, Offset: i}, 5, e)
	}
	wantListed(t, s, routine.ExecutionFilter{Limit: 2, Offset: 4}, 5, all[4])
	wantListed(t, s, routine.ExecutionFilter{Limit: 2, Offset: 5}, 5)
	wantListed(t, s, routine.ExecutionFilter{Offset: 3}, 5, all[3:]...)
}

// large is beyond what a database should hold in a row.
var large = bytes.Repeat([]byte{0, 1, 0xff, '<'}, 1<<19)

func file(name string, data []byte) *routine.File {
	return &routine.File{FileInfo: routine.FileInfo{Name: name, ContentType: "image/jpeg", Size: int64(len(data))}, Data: data}
}

func filesAreKept(t *testing.T, s routine.Store) {
	e, other := create(t, s), create(t, s)
	for _, f := range []*routine.File{file("b", large), file("a.jpg", []byte{0xff, 0}), file("empty", []byte{}), file("c", large)} {
		passed := *f
		passed.Size = 99 // the data tells
		must(t, s.PutFile(t.Context(), e.ID, &passed))
		e.Files = append(e.Files, f.FileInfo)
		got, err := s.File(t.Context(), e.ID, f.Name)
		must(t, err)
		equal(t, "file", got, f)
	}
	e.Files[0], e.Files[1], e.Files[2], e.Files[3] = e.Files[1], e.Files[0], e.Files[3], e.Files[2]
	wantExecution(t, s, e)
	wantExecution(t, s, other)
	must(t, s.FinishExecution(t.Context(), Ended(e)))
	wantExecution(t, s, Ended(e))
}

func fileIsReplaced(t *testing.T, s routine.Store) {
	e := create(t, s)
	for _, data := range [][]byte{{1}, large, large[:2<<19], {2}} {
		must(t, s.PutFile(t.Context(), e.ID, file("f", data)))
		got, err := s.File(t.Context(), e.ID, "f")
		must(t, err)
		equal(t, "file", got, file("f", data))
	}
	e.Files = []routine.FileInfo{file("f", []byte{2}).FileInfo}
	wantExecution(t, s, e)
}

func fileNeedsOpen(t *testing.T, s routine.Store) {
	e := create(t, s)
	must(t, s.FinishExecution(t.Context(), Ended(e)))
	wantErr(t, "PutFile", s.PutFile(t.Context(), e.ID, file("f", large)), routine.ErrFinal)
	wantErr(t, "PutFile", s.PutFile(t.Context(), "no-such-id", file("f", nil)), routine.ErrNotFound)
	wantExecution(t, s, Ended(e))
}

func fileNotFound(t *testing.T, s routine.Store) {
	e, other := create(t, s), create(t, s)
	must(t, s.PutFile(t.Context(), other.ID, file("f", nil)))
	for _, id := range []string{e.ID, "no-such-id"} {
		_, err := s.File(t.Context(), id, "f")
		wantErr(t, "File", err, routine.ErrNotFound)
	}
}

func largeResult(t *testing.T, s routine.Store) {
	e, created := Ended(create(t, s)), Ended(Execution(t))
	text := append([]byte{'"'}, bytes.Repeat([]byte("é<"), 1<<20)...)
	e.Result.Data = append(text, '"')
	created.Result.Data = e.Result.Data
	must(t, s.FinishExecution(t.Context(), e))
	must(t, s.CreateExecution(t.Context(), created))
	wantExecution(t, s, e)
	wantExecution(t, s, created)
}

func filesAreCopied(t *testing.T, s routine.Store) {
	e := create(t, s)
	passed := file("f", []byte("data"))
	must(t, s.PutFile(t.Context(), e.ID, passed))
	passed.Data[0] = 'X'
	for range 2 {
		got, err := s.File(t.Context(), e.ID, "f")
		must(t, err)
		equal(t, "file", got, file("f", []byte("data")))
		got.Data[0] = 'X'
	}
}
