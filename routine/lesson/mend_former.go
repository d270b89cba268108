package lesson

import (
	"context"

	"rote/routine"
	"rote/routine/lesson/judge"
)

// formerResult returns the result of the last completed run of a routine that is mended; nil
// if there is none, or if the caller may not read it.
func (w *saving) formerResult(ctx context.Context) *routine.Result {
	if w.lesson.mendedRoutine == "" {
		return nil
	}
	filter := routine.ExecutionFilter{RoutineID: w.lesson.mendedRoutine, Status: routine.ExecutionCompleted, Limit: 1}
	runs, _, err := w.lessons.service.Executions(ctx, w.caller, filter)
	if err != nil || len(runs) == 0 {
		return nil
	}
	last, err := w.lessons.service.Execution(ctx, w.caller, runs[0].ID)
	if err != nil {
		return nil
	}
	return last.Result
}

// judgeFormer compares the result of a mended routine with that of its last completed run: an
// operation that acts on a wrong element often works, and gives something else.
func (w *saving) judgeFormer(now, former *routine.Result) []judge.Check {
	differs := judge.Warned
	if w.request.SameResult {
		differs = judge.Failed
	}
	switch {
	case former == nil && w.request.SameResult:
		return []judge.Check{judge.Failed(judge.CheckFormer, "there is no completed run of the routine to compare the result with")}
	case former == nil:
		return nil
	case judge.Empty(now) && !judge.Empty(former):
		return []judge.Check{differs(judge.CheckFormer, "the result is empty; that of the last completed run was not")}
	case !judge.Result(former, now).Passed:
		return []judge.Check{differs(judge.CheckFormer, "the result is %s; that of the last completed run was %s", judge.Shape(now), judge.Shape(former))}
	}
	return []judge.Check{judge.Passed(judge.CheckFormer, "of the same form as that of the last completed run")}
}
