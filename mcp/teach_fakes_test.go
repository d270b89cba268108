package mcp

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson"
	"rote/routine/lesson/judge"
	"rote/routine/requests"
)

// fakeLessons answers every call with what the test has set, and keeps the requests.
type fakeLessons struct {
	mu       sync.Mutex
	requests []any
	callers  []routine.Principal
	err      error
	started  lesson.Started
	snapshot lesson.Snapshot
	tried    lesson.Tried
	undone   lesson.Undone
	ended    lesson.Info
	saved    lesson.Saved
	// reports are sent to the callback of each request that has one.
	reports []routine.Progress
}

// record keeps a request without its callback, and sends the reports to it.
func (f *fakeLessons) record(p routine.Principal, request any, progress func(routine.Progress)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests, f.callers = append(f.requests, request), append(f.callers, p)
	if progress != nil {
		for _, r := range f.reports {
			progress(r)
		}
	}
	return f.err
}

// one returns the only request since the last call of one.
func (f *fakeLessons) one(t *testing.T) any {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) != 1 {
		t.Fatalf("%d requests: %+v", len(f.requests), f.requests)
	}
	request := f.requests[0]
	f.requests = nil
	return request
}

// about is a request about a lesson.
type about struct {
	Lesson  string
	Request any
}

func (f *fakeLessons) Start(_ context.Context, p routine.Principal, q lesson.StartRequest) (*lesson.Started, error) {
	progress := q.Progress
	q.Progress = nil
	return &f.started, f.record(p, q, progress)
}

func (f *fakeLessons) Import(_ context.Context, p routine.Principal, q lesson.ImportRequest) (*lesson.Imported, error) {
	imported, err := importer.Import(q.Request)
	if err != nil {
		return nil, err
	}
	progress := q.Progress
	q.Progress = nil
	return &lesson.Imported{Imported: *imported, Resolved: &lesson.Resolved{Tried: f.tried, Replaced: []lesson.ReplacedTarget{}}}, f.record(p, q, progress)
}

func (f *fakeLessons) Snapshot(_ context.Context, p routine.Principal, id string, q lesson.SnapshotRequest) (*lesson.Snapshot, error) {
	return &f.snapshot, f.record(p, about{id, q}, nil)
}

func (f *fakeLessons) Screenshot(_ context.Context, _ routine.Principal, id string) (*routine.Screenshot, error) {
	return &routine.Screenshot{ContentType: "image/jpeg", Data: []byte("picture of " + id)}, nil
}

func (f *fakeLessons) Try(_ context.Context, p routine.Principal, id string, q lesson.TryRequest) (*lesson.Tried, error) {
	progress := q.Progress
	q.Progress = nil
	return &f.tried, f.record(p, about{id, q}, progress)
}

func (f *fakeLessons) Undo(_ context.Context, p routine.Principal, id string, q lesson.UndoRequest) (*lesson.Undone, error) {
	progress := q.Progress
	q.Progress = nil
	return &f.undone, f.record(p, about{id, q}, progress)
}

func (f *fakeLessons) Requests(_ context.Context, p routine.Principal, id string, q lesson.RequestsQuery) (*lesson.RequestList, error) {
	return &someRequests, f.record(p, about{id, q}, nil)
}

func (f *fakeLessons) Request(_ context.Context, p routine.Principal, id string, number int) (*lesson.RequestOperation, error) {
	return &someRequest, f.record(p, about{id, number}, nil)
}

func (f *fakeLessons) Save(_ context.Context, p routine.Principal, id string, q lesson.SaveRequest) (*lesson.Saved, error) {
	progress := q.Progress
	q.Progress = nil
	return &f.saved, f.record(p, about{id, q}, progress)
}

var (
	someRequests = lesson.RequestList{Listing: requests.Listing{Lines: []requests.Line{{Number: 3, Method: "GET", URL: "/api/lamps", Status: 200, Type: "json"}}}}
	someRequest  = lesson.RequestOperation{Number: 3, Operations: []json.RawMessage{json.RawMessage(`{"type":"fetch"}`)}, NotTried: "it acts"}
)

func (f *fakeLessons) End(_ context.Context, p routine.Principal, id string) (lesson.Info, error) {
	return f.ended, f.record(p, about{id, nil}, nil)
}

// open is a lesson with one operation.
var open = lesson.Info{ID: "Lesson_1", State: lesson.Open, Operations: []lesson.Operation{
	{Number: 1, Type: "navigate", Summary: "navigate /", Definition: json.RawMessage(`{"type":"navigate","url":"https://shop.example/"}`)}}}

func newFakeLessons() *fakeLessons {
	snapshot := lesson.Snapshot{Seen: routine.Seen{Text: routine.PageTextNotice + "\npage / \"Shop\" — 1 of 1 lines\nbutton \"Go\" | #go"}}
	return &fakeLessons{started: lesson.Started{Info: open, Snapshot: &snapshot}, snapshot: snapshot, tried: lesson.Tried{Info: open, OK: true,
		Steps: []lesson.Step{{OK: true, Number: 1, Record: routine.OperationRecord{Type: "navigate"}, URL: "https://shop.example/"}}},
		undone: lesson.Undone{Info: open, Snapshot: &snapshot}, ended: open,
		saved: lesson.Saved{Saved: true, Routine: &lesson.SavedRoutine{ID: "Routine_1", Name: "search_lamps", Version: 1, Status: routine.StatusActive},
			Proof: &lesson.Proof{Execution: "e1", Passed: true, Seconds: 1.4, Checks: []judge.Check{{Check: "result_shape", Passed: true, Message: "items[23]"}}}}}
}

func raw(texts ...string) (list []json.RawMessage) {
	for _, text := range texts {
		list = append(list, json.RawMessage(text))
	}
	return list
}
