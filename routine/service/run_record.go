package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"rote/routine"
	"runtime/debug"
	"slices"
	"time"
)

// saveTime bounds how long a write of the ledger may take.
const saveTime = 10 * time.Second

// unsavedWarning is in the result of an execution whose end could not be saved.
const unsavedWarning = "the database did not answer when the run ended: the execution is recorded as soon as it does. " +
	"The run itself is done: do not repeat it because of this"

// finish ends the execution in the ledger and logs it. It works after the run's
// own context has ended. What it returns is why the run failed. That the ledger
// could not be written is no failure of the run: a caller who was told so would
// run the routine again.
func (s *Service) finish(ctx context.Context, l *live, err error) error {
	e := l.last
	s.end(e, err)
	saved := s.save(context.WithoutCancel(ctx), e)
	attrs := []any{"execution_id", e.ID, "routine_id", e.RoutineID, "status", e.Status, "duration_seconds", *e.DurationSeconds}
	if err != nil {
		attrs = append(attrs, "code", e.ErrorCode)
		if cause := routine.HiddenCause(err); cause != nil {
			attrs = append(attrs, "error", cause)
		}
	}
	if saved != nil {
		s.log.ErrorContext(ctx, "execution could not be saved, which is tried again until it works", append(attrs, "error", saved)...)
		if e.Result != nil {
			e.Result.Warnings = append(e.Result.Warnings, unsavedWarning)
		}
		s.saveLater(e)
	} else {
		s.log.InfoContext(ctx, "execution", attrs...)
	}
	l.tellStatus()
	return err
}

// save writes the end of an execution. A panic of the store is an error like any
// other.
func (s *Service) save(ctx context.Context, e *routine.Execution) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	saving, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	return s.store.FinishExecution(saving, e)
}

// end fills in how and when the execution ended.
func (s *Service) end(e *routine.Execution, err error) {
	at := s.now()
	took := at.Sub(e.CreatedAt).Seconds()
	e.Status, e.CompletedAt, e.DurationSeconds = routine.ExecutionCompleted, &at, &took
	if e.Result != nil {
		e.OperationsDone = len(e.Result.OperationsMetadata)
	}
	if err == nil {
		return
	}
	failure := routine.AsError(err)
	e.Status, e.Error, e.ErrorCode = routine.ExecutionFailed, &failure.Message, failure.Code
	if e.Result != nil {
		e.Result.OK, e.Result.Error = false, &failure.Message
	}
}

// unsavedEnd is an execution that has ended in this process but could not be
// saved yet; nil: there is none with this id. It is not changed by callers.
func (s *Service) unsavedEnd(id string) *routine.Execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsaved[id]
}

// saveLater leaves the end of an execution to saveAgain.
func (s *Service) saveLater(e *routine.Execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsaved[e.ID] = e
}

// saveAgain saves the ends of executions that could not be saved when they came.
func (s *Service) saveAgain(ctx context.Context) error {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.unsaved))
	s.mu.Unlock()
	var faults []error
	for _, e := range all {
		if err := s.save(ctx, e); err != nil && !errors.Is(err, routine.ErrFinal) {
			faults = append(faults, err)
			continue
		}
		s.mu.Lock()
		delete(s.unsaved, e.ID)
		s.mu.Unlock()
	}
	return errors.Join(faults...)
}

// saveLast is saveAgain when the process ends: what it cannot save now is told as
// interrupted by the next process.
func (s *Service) saveLast(ctx context.Context) {
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	err := s.saveAgain(saving)
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

// keepFiles makes the files that the pages were sent files of the execution.
func (s *Service) keepFiles(ctx context.Context, e *routine.Execution, files []routine.File) {
	for i := range files {
		saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		err := s.store.PutFile(saving, e.ID, &files[i])
		cancel()
		if err != nil {
			s.log.WarnContext(ctx, "file could not be saved", "execution_id", e.ID, "error", err)
			e.Result.Warnings = append(e.Result.Warnings, fmt.Sprintf("the file %s could not be saved: the database did not take it", files[i].Name))
			continue
		}
		e.Files = append(e.Files, files[i].FileInfo)
	}
}

// keepScreenshot makes the screenshot of a failed run a file of its execution.
// That it is lost is told in the log only: it must not hide why the run failed.
func (s *Service) keepScreenshot(ctx context.Context, e *routine.Execution) {
	if e.Evidence == nil || e.Evidence.Screenshot == nil {
		return
	}
	shot := e.Evidence.Screenshot
	f := &routine.File{FileInfo: routine.FileInfo{Name: routine.ScreenshotFile, ContentType: shot.ContentType, Size: int64(len(shot.Data))}, Data: shot.Data}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if err := s.store.PutFile(saving, e.ID, f); err != nil {
		s.log.WarnContext(ctx, "screenshot could not be saved", "execution_id", e.ID, "error", err)
		return
	}
	shot.File = f.Name
	e.Files = append(e.Files, f.FileInfo)
}

// warnNotKept warns of the files of a run that has no row in the ledger and that are
// not its result.
func warnNotKept(e *routine.Execution, files []routine.File) {
	for _, f := range files {
		if e.Result != nil && (!e.Result.IsBase64 || e.Result.Filename != f.Name) {
			e.Result.Warnings = append(e.Result.Warnings, fmt.Sprintf("the file %s is not kept: only runs of stored routines keep files beside their result", f.Name))
		}
	}
}
