package lesson

import (
	"context"
	"strings"

	"rote/routine"
)

// Undo keeps the first operations of a lesson of p and, unless Replay is false, does them
// again on a new page: with the values that the lesson has now. If one of them fails, those
// before it are kept. If doing them is interrupted, because the call was cancelled, its time
// was over or the page was lost, all of them are kept, those not done again as unproved. Of a
// routine that is mended, To may also count operations that were not done yet: they are done
// then. A lesson that has lost its page gets a new one. CodeInvalid, CodeBusy if too many
// lessons are open, CodeConflict and the codes of Get.
func (s *Lessons) Undo(ctx context.Context, p routine.Principal, id string, q UndoRequest) (*Undone, error) {
	ctx, l, release, err := s.acquire(ctx, p, id, "undo_operations")
	if err != nil {
		return nil, err
	}
	defer release()
	replay := q.Replay == nil || *q.Replay
	last := len(l.kept)
	if replay {
		last += len(l.remaining)
	}
	if q.To < 0 || q.To > last {
		return nil, routine.Errorf(routine.CodeInvalid, "to must be how many operations to keep, from 0 to %d, not %d", last, q.To)
	}
	s.markChanged(l)
	u := &Undone{}
	l.noteLateRequests(ctx)
	if !replay {
		l.drop(q.To)
	} else if err := l.replayFirst(ctx, q, u); err != nil {
		return nil, err
	}
	u.Info = s.describe(l)
	return u, nil
}

// drop keeps the first operations and leaves the page as it is. The operations of a mended
// routine that were not done yet stay.
func (l *lesson) drop(to int) {
	to = beforeBridge(l.kept, to)
	if l.page != nil {
		l.dropped += len(l.kept) - to
	}
	l.kept = l.kept[:to:to]
}

// replayFirst does the first operations again on a new page and keeps them.
func (l *lesson) replayFirst(ctx context.Context, q UndoRequest, u *Undone) error {
	ctx, cancel := context.WithTimeoutCause(ctx, replayTime, errReplayTime)
	defer cancel()
	if err := l.lessons.reopen(l); err != nil {
		return err
	}
	if err := l.openPage(ctx); err != nil {
		return err
	}
	all := append(l.kept[:len(l.kept):len(l.kept)], l.remaining...)
	to := beforeBridge(all, q.To)
	u.Replayed = l.replay(ctx, all[:to], q.Progress)
	l.noteLateRequests(ctx)
	done := 0
	for i, step := range u.Replayed {
		if step.OK {
			done++
			u.DoneAgain = append(u.DoneAgain, all[i].acting...)
		}
	}
	keep := done
	if u.interrupted = done < to && (ctx.Err() != nil || l.lost != nil); u.interrupted {
		keep = max(done, min(to, len(l.kept)))
		for _, k := range all[done:keep] {
			k.unproved = true
		}
	}
	keep = beforeBridge(all, keep)
	if l.hasRoutine() && to >= len(l.kept) { // none of the operations is dropped
		l.remaining = all[keep:]
	}
	l.kept = all[:keep:keep]
	l.limitMemory()
	if l.lost == nil {
		if seen, err := l.snapshot(ctx, SnapshotRequest{}); err == nil {
			u.Snapshot = seen
		}
	}
	return nil
}

// beforeBridge returns to, or one less if that would keep the first of two operations that
// belong together ("x-bridge") without the second.
func beforeBridge(all []*keptOperation, to int) int {
	if to > 0 && to < len(all) && sameTextForm(all[to-1].raw, all[to].raw) {
		return to - 1
	}
	return to
}

// Text is the answer for a reader.
func (u *Undone) Text() string {
	a := &answer{}
	if len(u.DoneAgain) > 0 {
		a.line("Did again: %s.", strings.Join(u.DoneAgain, ", "))
	}
	for i, step := range u.Replayed {
		switch {
		case step.Error != nil && u.interrupted:
			a.line("Operation %d was interrupted, %s. It and the operations after it are kept, but were not done again: %s: %s.", i+1, stepName(step),
				step.Error.Code, strings.TrimSuffix(routine.Truncate(step.Error.Message, maxMessage), "."))
		case step.Error != nil:
			a.line("Operation %d fails now, and is no longer kept: %s.", i+1, stepName(step))
			a.failure(step)
		}
	}
	if u.State == PageLost && len(u.Replayed) > 0 {
		a.line("page_lost: the new page does not work any more.")
	}
	a.operations(u.Info)
	if u.Snapshot != nil {
		a.snapshot(u.Snapshot)
	}
	return a.b.String()
}
