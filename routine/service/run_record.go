package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/audit"
)

// saveTimeout limits one write of an execution or its files to the store.
const saveTimeout = 10 * time.Second

// unsavedWarning is in the result of an execution whose end could not be saved.
const unsavedWarning = "the database did not answer when the run ended: the execution is recorded as soon as it does. " +
	"The run itself is done: do not repeat it because of this"

// createExecution stores the execution of a new run: as running if the run has its place
// in the queue already, so that it need not be changed a moment later, and otherwise as
// pending. Callers are told that it is pending first, in either case.
//
// It does not use the context of the caller: otherwise, after a caller has gone, nobody
// could know whether the row exists. The error wraps ErrKeyTaken if another execution has
// the idempotency key.
func (s *Service) createExecution(ctx context.Context, run *activeRun) error {
	e := *run.execution
	e.QueuedCall = run.queuedCall
	if run.queuedCall == nil && run.ticket.isRunning() {
		run.startedAt = new(s.now())
		e.Status, e.StartedAt = routine.ExecutionRunning, run.startedAt
	}
	saving, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	if err := s.store.CreateExecution(saving, &e); err != nil {
		return storeError(ctx, "create execution", err)
	}
	s.audit.Changed(audit.WithVia(ctx, e.Via), run.caller, audit.ExecutionStarted, slog.String("execution_id", e.ID), slog.String("routine_id", e.RoutineID),
		slog.Int("version", e.RoutineVersion))
	return nil
}

// recordEnd stores and logs the end of a run that ended with err, or completed if err is
// nil. It works also after ctx has ended, and returns the error of the run. A store that
// does not answer is not a failure of the run, because a caller who got an error would run
// the routine again: the execution is saved later, and its result has a warning. If another
// process has ended the execution, because this one looked dead, its end is that of the run.
func (s *Service) recordEnd(ctx context.Context, run *activeRun, err error) error {
	e := run.execution
	s.setEnd(e, err)
	saveErr := s.saveEnd(context.WithoutCancel(ctx), e)
	if errors.Is(saveErr, routine.ErrStateKey) {
		s.dropState(ctx, e, saveErr)
		saveErr = s.saveEnd(context.WithoutCancel(ctx), e)
	}
	attrs := []any{"execution_id", e.ID, "routine_id", e.RoutineID, "status", e.Status, "duration_seconds", *e.DurationSeconds}
	if err != nil {
		attrs = append(attrs, "code", e.ErrorCode)
		if cause := routine.HiddenCause(err); cause != nil {
			attrs = append(attrs, "error", cause)
		}
	}
	if errors.Is(saveErr, routine.ErrFinal) {
		if stored := s.storedEnd(ctx, e.ID); stored != nil {
			s.log.WarnContext(ctx, "the end of a run was not recorded, because another process has ended its execution", append(attrs, "recorded", stored.ErrorCode)...)
			*e = *stored
			run.emitStatus()
			return failureOf(e)
		}
	}
	if saveErr != nil {
		s.log.ErrorContext(ctx, "execution could not be saved, which is tried again until it works", append(attrs, "error", saveErr)...)
		if e.Result != nil {
			e.Result.Warnings = append(e.Result.Warnings, unsavedWarning)
		}
		s.saveLater(e)
	} else {
		s.log.InfoContext(ctx, "execution", attrs...)
	}
	run.emitStatus()
	return err
}

// storedEnd returns the execution with this id as it is stored, also after ctx has ended.
// It returns nil if the store does not answer.
func (s *Service) storedEnd(ctx context.Context, id string) *routine.Execution {
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	e, err := s.store.Execution(reading, id)
	if err != nil || e.Open() {
		return nil
	}
	return e
}

// setEnd sets the status, the time and the error with which an execution ended.
func (s *Service) setEnd(e *routine.Execution, err error) {
	at := s.now()
	took := max(at.Sub(e.CreatedAt), 0).Seconds() // clocks may differ, and be set back
	e.Status, e.CompletedAt, e.DurationSeconds = routine.ExecutionCompleted, &at, &took
	if e.Result != nil {
		e.OperationsDone = len(e.Result.OperationsMetadata)
	}
	if err == nil {
		return
	}
	failure := routine.AsError(err)
	e.Status, e.Error, e.ErrorCode, e.State = routine.ExecutionFailed, &failure.Message, failure.Code, nil
	if e.Result != nil {
		e.Result.OK, e.Result.Error = false, &failure.Message
	}
}

// saveEnd stores the end of an execution. It returns a panic of the store as an error.
func (s *Service) saveEnd(ctx context.Context, e *routine.Execution) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = routine.PanicError(p)
		}
	}()
	saving, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	return s.store.FinishExecution(saving, e)
}

// unsavedExecution returns an execution that has ended in this process but is not saved
// yet, or nil if there is none with this id. Callers must not change it.
func (s *Service) unsavedExecution(id string) *routine.Execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsaved[id]
}

// saveLater keeps an ended execution until saveUnsaved has stored it.
func (s *Service) saveLater(e *routine.Execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsaved[e.ID] = e
}

// saveUnsaved stores the ends of executions that could not be stored before.
func (s *Service) saveUnsaved(ctx context.Context) error {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.unsaved))
	s.mu.Unlock()
	var faults []error
	for _, e := range all {
		err := s.saveEnd(ctx, e)
		if errors.Is(err, routine.ErrStateKey) {
			stateless := *e // others read e
			stateless.State = nil
			err = s.saveEnd(ctx, &stateless)
		}
		if err != nil && !errors.Is(err, routine.ErrFinal) {
			faults = append(faults, err)
			continue
		}
		s.mu.Lock()
		delete(s.unsaved, e.ID)
		s.mu.Unlock()
	}
	return errors.Join(faults...)
}

// saveUnsavedAtExit is the last saveUnsaved of the process. What it cannot store is
// logged; another process will record these executions as interrupted.
func (s *Service) saveUnsavedAtExit(ctx context.Context) {
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := s.saveUnsaved(saving)
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.unsaved {
		s.log.ErrorContext(ctx, "execution could not be saved before the service stopped: it will be shown as interrupted",
			"execution_id", id, "status", e.Status, "error", err)
	}
}

// keepFiles stores the files that the pages of a run downloaded as files of its
// execution. A file that cannot be stored becomes a warning in the result, and so does one
// that arrived although an operation has set the result: its author may not expect it.
func (s *Service) keepFiles(ctx context.Context, e *routine.Execution, files []routine.File) {
	for i := range files {
		saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
		err := s.store.PutFile(saving, e.ID, &files[i])
		cancel()
		if err != nil {
			s.log.WarnContext(ctx, "file could not be saved", "execution_id", e.ID, "error", err)
			e.Result.Warnings = append(e.Result.Warnings, fmt.Sprintf("the file %s could not be saved: the database did not take it", files[i].Name))
			continue
		}
		e.Files = append(e.Files, files[i].FileInfo)
		if e.Result.OK && e.Result.Data != nil && !e.Result.IsBase64 {
			e.Result.Warnings = append(e.Result.Warnings,
				fmt.Sprintf("the page sent the file %s, which is not the result, because an operation set that: it is kept with the execution", files[i].Name))
		}
	}
}

// keepScreenshot stores the screenshot of a failed run as a file of its execution. A
// screenshot that cannot be stored is only logged, because the error of the execution
// must say why the run failed.
func (s *Service) keepScreenshot(ctx context.Context, e *routine.Execution) {
	if e.Evidence == nil || e.Evidence.Screenshot == nil {
		return
	}
	shot := e.Evidence.Screenshot
	info := routine.FileInfo{Name: routine.ScreenshotFile, ContentType: shot.ContentType, Size: int64(len(shot.Data))}
	f := &routine.File{FileInfo: info, Data: shot.Data}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := s.store.PutFile(saving, e.ID, f); err != nil {
		s.log.WarnContext(ctx, "screenshot could not be saved", "execution_id", e.ID, "error", err)
		return
	}
	shot.File = f.Name
	e.Files = append(e.Files, f.FileInfo)
}

// warnNotKept adds a warning for each file of a run that is not stored. The file that is
// the result of the run needs none.
func warnNotKept(e *routine.Execution, files []routine.File) {
	for _, f := range files {
		if e.Result != nil && (!e.Result.IsBase64 || e.Result.Filename != f.Name) {
			e.Result.Warnings = append(e.Result.Warnings,
				fmt.Sprintf("the file %s is not kept: only executions in the ledger keep files beside their result", f.Name))
		}
	}
}
