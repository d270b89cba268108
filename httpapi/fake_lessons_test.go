package httpapi_test

import (
	"context"
	"encoding/json"
	"sync"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson"
	"rote/routine/lesson/candidate"
	"rote/routine/lesson/judge"
	"rote/routine/lesson/parameters"
	"rote/routine/lesson/textform"
	"rote/routine/requests"
	"rote/routine/routinetest"
)

// lessonID is the only lesson of fakeLessons.
const lessonID = "Lesson_019f0e4c-7d3a-7c1e-9d55-2f6d2b8a1c11"

// fakeLessons has one lesson and keeps the requests for it.
type fakeLessons struct {
	mu       sync.Mutex
	requests []any
	err      error // of each call
	failing  bool  // tried operations fail
}

func (f *fakeLessons) record(id string, request any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != lessonID {
		return routine.Errorf(routine.CodeNotFound, "there is no lesson %s", routine.Truncate(id, 80))
	}
	f.requests = append(f.requests, request)
	return f.err
}

// take returns the requests since the last call.
func (f *fakeLessons) take() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	requests := f.requests
	f.requests = nil
	return requests
}

func (f *fakeLessons) info() lesson.Info {
	return lesson.Info{ID: lessonID, State: lesson.Open, CreatedBy: "admin", CreatedAt: routinetest.Time, EndsAt: routinetest.Time.Add(600e9),
		Operations: []lesson.Operation{{Number: 1, Type: "navigate", Summary: "navigate /", Acting: []string{"POST /visits"},
			Definition: json.RawMessage(`{"type":"navigate","url":"https://shop.example/"}`)}}}
}

func (f *fakeLessons) snapshot() *lesson.Snapshot {
	return &lesson.Snapshot{SameData: 2, Seen: routine.Seen{URL: "https://shop.example/", Title: "Shop", Total: 2,
		Text: routine.PageTextNotice + "\npage / \"Shop\"",
		Lines: []routine.SeenLine{{Kind: "list", Selector: "li", Matches: 3},
			{Depth: 1, Kind: "button", Name: "Buy", States: []string{"disabled"}, Selector: "button", InItem: true}},
		Extraction: &routine.Extraction{Count: 3, Operations: []json.RawMessage{json.RawMessage(`{"type":"return","session_storage_key":"items"}`)},
			Rows: []json.RawMessage{json.RawMessage(`{"name":"Lamp"}`)}}}}
}

func (f *fakeLessons) steps() []lesson.Step {
	if f.failing {
		return []lesson.Step{{Record: routine.OperationRecord{Type: "click", Error: new("nothing matches #go")}, URL: "https://shop.example/",
			Error:   &lesson.StepError{Code: routine.CodeElementNotFound, Message: "nothing matches #go"},
			Nearest: []routine.Element{{Selector: "#gone", Role: "button", Text: "Go"}}}}
	}
	return []lesson.Step{{OK: true, Number: 1, Record: routine.OperationRecord{Type: "click", DurationSeconds: .25, Details: map[string]any{"matches": 1}},
		URL: "https://shop.example/done", Moved: true, Warnings: []string{"dialog"}, Element: &routine.ElementDescription{Matches: 1, Selector: "#go", Grade: "A"},
		Parameters: []routine.Parameter{{Name: "query", Type: "string", Required: true}}, Requests: []string{"3 POST /visits → 201"},
		Result:   &lesson.StepResult{Kind: "json", Shape: "[3×str]", Bytes: 17, Text: `["a","b","c"]`},
		Appeared: []string{`h1 "Done"`}, Gone: []string{`button "Go" | #go`}}}
}

func (f *fakeLessons) Start(_ context.Context, _ routine.Principal, q lesson.StartRequest) (*lesson.Started, error) {
	s := &lesson.Started{Info: f.info(), Done: f.steps(), Snapshot: f.snapshot()}
	if q.Routine != "" {
		s.Info.Routine, s.Version, s.Remaining = q.Routine, 3, s.Operations
		s.Failure = &lesson.Failure{Operation: 2, Of: 3, Summary: "click #go", Code: routine.CodeElementNotFound, Message: "nothing matches #go",
			At: routinetest.Time}
		s.Candidates = []candidate.Candidate{{Operation: json.RawMessage(`{"type":"click","selector":"#gone"}`), Selector: "#gone", Grade: "B",
			Why: "similar id", Points: 60}}
	}
	return s, f.record(lessonID, q)
}

func (f *fakeLessons) Import(_ context.Context, _ routine.Principal, q lesson.ImportRequest) (*lesson.Imported, error) {
	imported, err := importer.Import(q.Request)
	if err != nil {
		return nil, err
	}
	tried := lesson.Tried{Info: f.info(), OK: true, Steps: f.steps(), Stopped: "Operation 2, click #buy, may send something: it is a button Buy."}
	r := &lesson.Resolved{Tried: tried,
		Replaced: []lesson.ReplacedTarget{{Operation: 1, Target: textform.Target{Role: "button", Name: "Go"}, Selector: "#go", Grade: "A"}}, Snapshot: f.snapshot()}
	r.Remaining = r.Operations
	return &lesson.Imported{Imported: *imported, Resolved: r}, f.record(lessonID, q)
}

func (f *fakeLessons) List(p routine.Principal) ([]lesson.Info, error) {
	if p.UserID == guest.UserID {
		return nil, f.record(lessonID, "list")
	}
	return []lesson.Info{f.info()}, f.record(lessonID, "list")
}

func (f *fakeLessons) Get(_ routine.Principal, id string) (lesson.Info, error) {
	return f.info(), f.record(id, "get")
}

func (f *fakeLessons) Snapshot(_ context.Context, _ routine.Principal, id string, q lesson.SnapshotRequest) (*lesson.Snapshot, error) {
	return f.snapshot(), f.record(id, q)
}

func (f *fakeLessons) Screenshot(_ context.Context, _ routine.Principal, id string) (*routine.Screenshot, error) {
	return &routine.Screenshot{ContentType: "image/jpeg", Data: []byte("jpg")}, f.record(id, "screenshot")
}

func (f *fakeLessons) Try(_ context.Context, _ routine.Principal, id string, q lesson.TryRequest) (*lesson.Tried, error) {
	return &lesson.Tried{Info: f.info(), OK: !f.failing, Steps: f.steps()}, f.record(id, q)
}

func (f *fakeLessons) Undo(_ context.Context, _ routine.Principal, id string, q lesson.UndoRequest) (*lesson.Undone, error) {
	return &lesson.Undone{Info: f.info(), Replayed: f.steps(), DoneAgain: []string{"POST /visits"}, Snapshot: f.snapshot()}, f.record(id, q)
}

func (f *fakeLessons) Requests(_ context.Context, _ routine.Principal, id string, q lesson.RequestsQuery) (*lesson.RequestList, error) {
	return &lesson.RequestList{Listing: requests.Listing{Before: 2, Others: 7, Pending: 1, Find: q.Find, Lines: []requests.Line{
		{Number: 3, Method: "POST", URL: "/visits", Sent: "{page:str}", Status: 201, Type: "json", Size: 12, Answer: "{id:int}", During: "by operation 1", Times: 2},
		{Number: 4, Method: "GET", URL: "/stock?id={int}", Error: "ERR_FAILED"}}}}, f.record(id, q)
}

func (f *fakeLessons) Request(_ context.Context, _ routine.Principal, id string, number int) (*lesson.RequestOperation, error) {
	fetch := json.RawMessage(`{"type":"fetch","endpoint":{"url":"https://shop.example/stock"},"session_storage_key":"stock"}`)
	return &lesson.RequestOperation{Number: number, Operations: []json.RawMessage{fetch, json.RawMessage(`{"type":"return","session_storage_key":"stock"}`)},
		Notes: []string{"id: typed in operation 2"}, Warnings: []string{"a hash is kept as it is"},
		Parameters: []routine.Parameter{{Name: "id", Type: "integer", Required: true}}, LeftOut: []string{"x-request-id"}, Kept: []string{"x-token"},
		Tried: &lesson.RequestTrial{Status: 200, Shape: "{n:int}", Same: true, PageStatus: 200, Requests: 2, Error: "none"}, NotTried: "it acts",
		Shape: "{n:int}", Sample: `{"n":1}`}, f.record(id, number)
}

func (f *fakeLessons) Save(_ context.Context, _ routine.Principal, id string, q lesson.SaveRequest) (*lesson.Saved, error) {
	s := &lesson.Saved{Saved: true, Routine: &lesson.SavedRoutine{ID: "Routine_019f0e4c-7d3a-7c1e-9d55-2f6d2b8a1c11", Name: "buy", ToolName: "buy", Version: 1,
		Status: routine.StatusActive}, Proof: &lesson.Proof{Execution: "e", Passed: true, Seconds: 1.5,
		Checks: []judge.Check{{Check: "duration", Passed: true, Warning: true, Message: "4 times as long"}}},
		Proposals: []parameters.Proposal{{From: "Oslo", Name: "branch", Type: "enum", In: []string{"/operations/1/text"}}},
		Replaced:  []parameters.Replacement{{Pointer: "/operations/0/url", From: json.RawMessage(`"a"`), To: json.RawMessage(`"{{a}}"`)}},
		Patch:     json.RawMessage(`[{"op":"remove","path":"/tags"}]`),
		Warnings:  []routine.Problem{{Pointer: "/operations/1", Code: "selector_by_place", Message: "held only by its place"}}, Next: "run it"}
	if q.DryRun {
		s = &lesson.Saved{Saved: false, Definition: json.RawMessage(`{"name":"buy"}`), Next: "Nothing is stored yet."}
	}
	if q.Name == "unproved" {
		s.Saved, s.Proof.Passed = "draft", false
		s.Proof.Failure = &lesson.Failure{Operation: 1, Of: 2, Summary: "click #go", Code: routine.CodeElementNotFound,
			Message: "nothing matches #go", At: routinetest.Time}
		s.Proof.Nearest = []routine.Element{{Selector: "#gone", Role: "button", Text: "Go"}}
		return s, routine.Errorf(routine.CodeNotProved, "operation 1 failed")
	}
	return s, f.record(id, q)
}

func (f *fakeLessons) End(_ context.Context, _ routine.Principal, id string) (lesson.Info, error) {
	info := f.info()
	info.State = lesson.Ended
	return info, f.record(id, "end")
}
