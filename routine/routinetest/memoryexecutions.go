package routinetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// execution is a row of the ledger with its files.
type execution struct {
	*routine.Execution
	cancelled bool
	files     map[string]*routine.File
	// queued reports whether no process has it. Its call may be lost.
	queued bool
	call   []byte
}

func (s *Store) CreateExecution(_ context.Context, e *routine.Execution) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.executions[e.ID]; there {
		return fmt.Errorf("create execution: id %s is in use", e.ID)
	}
	kept, err := copyExecution(e)
	if err == nil {
		err = checkQueuedCall(e)
	}
	if err == nil {
		err = s.take(e.Key, e.ID)
	}
	if err == nil && e.Claim != nil {
		err = s.move(e.Claim, func(sc *schedule) {
			sc.LastAt, sc.LastExecutionID = copyTime(&e.Claim.Due), e.ID
		})
	}
	if err != nil {
		return fmt.Errorf("create execution: %w", err)
	}
	if e.Callback != nil {
		id := fmt.Sprint("msg_", len(s.webhooks))
		s.webhooks[id] = &webhook{Webhook: routine.Webhook{ID: id, ExecutionID: e.ID, Callback: *e.Callback}, due: copyTime(&e.CreatedAt)}
	}
	kept.Files, kept.Key, kept.Callback, kept.QueuedCall, kept.Claim, kept.SecretUses = nil, nil, nil, nil, nil, nil
	s.executions[e.ID] = &execution{Execution: kept, files: map[string]*routine.File{}, queued: e.QueuedCall != nil, call: slices.Clone(e.QueuedCall)}
	return nil
}

func (s *Store) StartExecution(_ context.Context, id string, at time.Time) error {
	return s.change("start execution", id, func(e *execution) error {
		if e.Status != routine.ExecutionPending {
			return fmt.Errorf("it is %s", e.Status)
		}
		e.Status, e.StartedAt = routine.ExecutionRunning, copyTime(&at)
		return nil
	})
}

func (s *Store) SaveProgress(_ context.Context, records map[string][]routine.OperationRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, all := range records {
		e, there := s.executions[id]
		if !there || !e.Open() {
			continue
		}
		copied, err := copyJSON(all)
		if err != nil {
			return fmt.Errorf("save progress: %w", err)
		}
		e.Operations, e.OperationsDone = copied, len(copied)
	}
	return nil
}

func (s *Store) FinishExecution(_ context.Context, end *routine.Execution) error {
	if end.Open() {
		return fmt.Errorf("finish execution: %q is not a final status", end.Status)
	}
	state := end.State
	end, err := copyExecution(end)
	if err != nil {
		return fmt.Errorf("finish execution: %w", err)
	}
	return s.change("finish execution", end.ID, func(e *execution) error {
		if state != nil {
			s.states[projectOf{e.OrganizationID, state.ProjectID}] = slices.Clone(state.Data)
		}
		e.Status, e.Result, e.Error, e.ErrorCode = end.Status, end.Result, end.Error, end.ErrorCode
		e.StartedAt, e.CompletedAt, e.DurationSeconds = end.StartedAt, end.CompletedAt, end.DurationSeconds
		e.OperationsDone, e.Operations, e.Evidence = end.OperationsDone, nil, end.Evidence
		e.queued, e.call = false, nil
		s.saveSecretUses(end.SecretUses)
		return nil
	})
}

func (s *Store) RequestCancel(_ context.Context, id string, at time.Time) error {
	return s.change("request cancel of execution", id, func(e *execution) error {
		if e.queued {
			e.fail(routine.CodeCancelled, routine.CancelledMessage, at)
			return nil
		}
		e.cancelled = true
		s.signal(routine.Signal{Cancel: id})
		return nil
	})
}

func (s *Store) Execution(_ context.Context, id string) (*routine.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, there := s.executions[id]
	if !there {
		return nil, fmt.Errorf("execution %s: %w", id, routine.ErrNotFound)
	}
	c, err := copyExecution(e.Execution)
	if err != nil {
		return nil, err
	}
	for _, f := range e.files {
		c.Files = append(c.Files, f.FileInfo)
	}
	slices.SortFunc(c.Files, func(a, b routine.FileInfo) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

func (s *Store) Executions(_ context.Context, f routine.ExecutionFilter) ([]*routine.Execution, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Execution{}
	for _, e := range s.executions {
		if matchesExecution(e.Execution, f) {
			c, err := copyExecution(e.Execution)
			if err != nil {
				return nil, 0, err
			}
			c.Result, c.Operations, c.Evidence = nil, nil, nil
			if len(c.Parameters) > routine.MaxListedParameters {
				c.Parameters, c.ParametersOmitted = nil, true
			}
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *routine.Execution) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	total := min(len(list), f.MaxCounted()+1)
	if f.Before != nil {
		list = slices.DeleteFunc(list, func(e *routine.Execution) bool {
			return cmp.Or(e.CreatedAt.Compare(f.Before.CreatedAt.Truncate(time.Microsecond)), cmp.Compare(e.ID, f.Before.ID)) >= 0
		})
	}
	return pageOf(list, f.Limit, f.Offset), total, nil
}

func (s *Store) RecentRuns(ctx context.Context, organizationID string, routineIDs []string, n int) (map[string][]*routine.Execution, error) {
	runs := map[string][]*routine.Execution{}
	for _, id := range routineIDs {
		list, _, err := s.Executions(ctx, routine.ExecutionFilter{OrganizationID: organizationID, RoutineID: id, Limit: n})
		if err != nil {
			return nil, err
		}
		for i, e := range list {
			list[i] = &routine.Execution{ID: e.ID, OrganizationID: organizationID, RoutineID: id, RoutineVersion: e.RoutineVersion,
				Status: e.Status, ErrorCode: e.ErrorCode, CreatedAt: e.CreatedAt, DurationSeconds: e.DurationSeconds}
		}
		if len(list) > 0 {
			runs[id] = list
		}
	}
	return runs, nil
}

// matchesExecution reports whether a filter selects an execution, whatever the page.
func matchesExecution(e *routine.Execution, f routine.ExecutionFilter) bool {
	return e.OrganizationID == f.OrganizationID && (f.RoutineID == "" || e.RoutineID == f.RoutineID) &&
		(f.ScheduleID == "" || e.ScheduleID == f.ScheduleID) && (f.Status == "" || e.Status == f.Status) &&
		(f.Via == "" || e.Via == f.Via) && (f.Code == "" || e.ErrorCode == f.Code) && (f.CreatedBy == "" || e.CreatedBy == f.CreatedBy) &&
		(f.Version == 0 || e.RoutineVersion == f.Version) &&
		(f.Since.IsZero() || !e.CreatedAt.Before(f.Since.Truncate(time.Microsecond))) &&
		(f.Until.IsZero() || e.CreatedAt.Before(f.Until.Truncate(time.Microsecond)))
}

func (s *Store) RecoverExecutions(context.Context, time.Time) (int, error) { return 0, nil }

func (s *Store) PutFile(_ context.Context, executionID string, f *routine.File) error {
	return s.change("put file of execution", executionID, func(e *execution) error {
		c := copyFile(f)
		c.Size = int64(len(f.Data))
		e.files[f.Name] = c
		return nil
	})
}

func (s *Store) File(_ context.Context, executionID, name string) (*routine.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, there := s.executions[executionID]; there && e.files[name] != nil {
		return copyFile(e.files[name]), nil
	}
	return nil, fmt.Errorf("file %s of execution %s: %w", name, executionID, routine.ErrNotFound)
}

// change changes an execution that has not ended.
func (s *Store) change(doing, id string, change func(*execution) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, there := s.executions[id]
	err := routine.ErrNotFound
	if there {
		err = routine.ErrFinal
		if e.Open() {
			err = change(e)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", doing, id, err)
	}
	return nil
}

func (s *Store) Prune(_ context.Context, r routine.Retention, now time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.executions), func(a, b *execution) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	var size int64
	n, full := 0, false
	for _, e := range all {
		bytes, err := e.size()
		if err != nil {
			return n, err
		}
		size += bytes
		full = full || r.Size > 0 && size > r.Size
		old := r.Age > 0 && e.CreatedAt.Before(now.Add(-r.Age))
		if (old || full) && !e.Open() && !s.needed(e.ID, now) {
			delete(s.executions, e.ID)
			n++
		}
	}
	maps.DeleteFunc(s.signIns, func(_ [32]byte, in routine.SignIn) bool { return !in.Valid(now) })
	return n, nil
}

// size is the bytes of the result, the parameters, the evidence and the files.
func (e *execution) size() (int64, error) {
	n := int64(len(e.Parameters))
	for _, f := range e.files {
		n += f.Size
	}
	if e.Evidence != nil {
		text, err := routine.EncodeJSON(e.Evidence)
		if err != nil {
			return 0, err
		}
		n += int64(len(text))
	}
	if e.Result == nil {
		return n, nil
	}
	text, err := routine.EncodeJSON(e.Result)
	return n + int64(len(text)), err
}

// needed reports whether a key or a webhook still asks for an execution.
func (s *Store) needed(id string, now time.Time) bool {
	for _, k := range s.keys {
		if k.id == id && k.CreatedAt.After(now.Add(-routine.IdempotencyTime)) {
			return true
		}
	}
	for _, w := range s.webhooks {
		if w.ExecutionID == id && w.due != nil {
			return true
		}
	}
	return false
}
