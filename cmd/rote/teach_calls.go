package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"rote/routine"
	"rote/routine/lesson"
)

// lessons is what rote teach needs of [lesson.Lessons].
type lessons interface {
	Start(ctx context.Context, p routine.Principal, q lesson.StartRequest) (*lesson.Started, error)
	Snapshot(ctx context.Context, p routine.Principal, id string, q lesson.SnapshotRequest) (*lesson.Snapshot, error)
	Try(ctx context.Context, p routine.Principal, id string, q lesson.TryRequest) (*lesson.Tried, error)
	Undo(ctx context.Context, p routine.Principal, id string, q lesson.UndoRequest) (*lesson.Undone, error)
	Requests(ctx context.Context, p routine.Principal, id string, q lesson.RequestsQuery) (*lesson.RequestList, error)
	Request(ctx context.Context, p routine.Principal, id string, number int) (*lesson.RequestOperation, error)
	Save(ctx context.Context, p routine.Principal, id string, q lesson.SaveRequest) (*lesson.Saved, error)
	End(ctx context.Context, p routine.Principal, id string) (lesson.Info, error)
}

// lessonClient makes the calls of one lesson.
type lessonClient struct {
	lessons   lessons
	principal routine.Principal
	progress  func(routine.Progress)
	id        string // of the lesson; empty if there is none
	// operations counts the kept operations, unsaved is true if some were not saved.
	operations int
	unsaved    bool
}

// toolCall is one call, with the names that agents use over MCP. The argument lesson may
// be left out.
type toolCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// lessonAnswer is the answer to a call. It is encoded as JSON for programs.
type lessonAnswer interface {
	// Text is the answer for a reader.
	Text() string
}

// call makes a call. ok reports whether what was asked for was done: a call whose
// operation fails has an answer, and ok is false.
func (t *lessonClient) call(ctx context.Context, c toolCall) (answer lessonAnswer, ok bool, err error) {
	if t.id == "" && c.Tool != "start_lesson" {
		return nil, false, routine.Errorf(routine.CodeNotFound, "there is no lesson: call start_lesson first")
	}
	switch c.Tool {
	case "start_lesson":
		return t.start(ctx, c)
	case "take_snapshot":
		var q lesson.SnapshotRequest
		if err := c.decode(&q); err != nil {
			return nil, false, err
		}
		answer, err := t.lessons.Snapshot(ctx, t.principal, t.id, q)
		return answer, true, err
	case "try_operation":
		return t.try(ctx, c)
	case "undo_operations":
		return t.undo(ctx, c)
	case "list_network_requests":
		return t.requests(ctx, c)
	case "save_lesson":
		return t.save(ctx, c)
	case "end_lesson":
		if err := c.decode(&struct{}{}); err != nil {
			return nil, false, err
		}
		answer, err := t.lessons.End(ctx, t.principal, t.id)
		if err == nil {
			t.id = ""
		}
		return answer, true, err
	}
	return nil, false, routine.Errorf(routine.CodeInvalid, "there is no tool %s: there are start_lesson, take_snapshot, list_network_requests, "+
		"try_operation, undo_operations, save_lesson and end_lesson", routine.Quote(routine.Truncate(c.Tool, 60)))
}

func (t *lessonClient) requests(ctx context.Context, c toolCall) (lessonAnswer, bool, error) {
	var q struct {
		lesson.RequestsQuery
		ID *int `json:"id"`
	}
	if err := c.decode(&q); err != nil {
		return nil, false, err
	}
	if q.ID != nil {
		answer, err := t.lessons.Request(ctx, t.principal, t.id, *q.ID)
		return answer, true, err
	}
	answer, err := t.lessons.Requests(ctx, t.principal, t.id, q.RequestsQuery)
	return answer, true, err
}

// save saves the lesson. A routine that is not proved is an answer too.
func (t *lessonClient) save(ctx context.Context, c toolCall) (lessonAnswer, bool, error) {
	q := lesson.SaveRequest{Via: routine.ViaCLI}
	if err := c.decode(&q); err != nil {
		return nil, false, err
	}
	q.Progress = t.progress
	answer, err := t.lessons.Save(ctx, t.principal, t.id, q)
	if notProved := answer != nil && routine.CodeOf(err) == routine.CodeNotProved; err != nil && !notProved {
		return nil, false, err
	}
	if answer.Routine != nil { // also as a draft
		t.unsaved = false
	}
	return answer, err == nil, nil
}

func (t *lessonClient) start(ctx context.Context, c toolCall) (lessonAnswer, bool, error) {
	q := lesson.StartRequest{}
	if err := c.decode(&q); err != nil {
		return nil, false, err
	}
	q.Progress = t.progress
	answer, err := t.lessons.Start(ctx, t.principal, q)
	if err != nil {
		return nil, false, err
	}
	t.id = answer.ID
	t.keep(answer.Info)
	return answer, q.Routine != "" || allDone(answer.Done), nil
}

func (t *lessonClient) try(ctx context.Context, c toolCall) (lessonAnswer, bool, error) {
	var q struct {
		lesson.TryRequest
		Operation json.RawMessage `json:"operation"`
	}
	if err := c.decode(&q); err != nil {
		return nil, false, err
	}
	if (q.Operation != nil) == (len(q.Operations) > 0) {
		return nil, false, routine.Errorf(routine.CodeInvalid, "give either operation or operations")
	}
	if q.Operation != nil {
		q.Operations = []json.RawMessage{q.Operation}
	}
	if len(q.Operations) > 1 {
		q.Progress = t.progress
	}
	answer, err := t.lessons.Try(ctx, t.principal, t.id, q.TryRequest)
	if err != nil {
		return nil, false, err
	}
	t.keep(answer.Info)
	return answer, answer.OK, nil
}

func (t *lessonClient) undo(ctx context.Context, c toolCall) (lessonAnswer, bool, error) {
	q := lesson.UndoRequest{}
	if err := c.decode(&q); err != nil {
		return nil, false, err
	}
	q.Progress = t.progress
	answer, err := t.lessons.Undo(ctx, t.principal, t.id, q)
	if err != nil {
		return nil, false, err
	}
	t.keep(answer.Info)
	return answer, allDone(answer.Replayed), nil
}

// keep notes which operations the lesson has now.
func (t *lessonClient) keep(info lesson.Info) {
	t.operations = len(info.Operations)
	t.unsaved = t.operations > 0
}

// allDone reports whether the last of some operations has not failed.
func allDone(steps []lesson.Step) bool { return len(steps) == 0 || steps[len(steps)-1].OK }

// decode decodes the arguments of a call into a struct. An unknown argument is
// CodeInvalid.
func (c toolCall) decode(into any) error {
	all := map[string]json.RawMessage{}
	if len(c.Arguments) > 0 {
		if err := json.Unmarshal(c.Arguments, &all); err != nil {
			return routine.Errorf(routine.CodeInvalid, "the arguments of %s must be a JSON object: %w", c.Tool, err)
		}
	}
	delete(all, "lesson") // there is only one
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode arguments: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return routine.Errorf(routine.CodeInvalid, "invalid arguments of %s: %w", c.Tool, err)
	}
	return nil
}
