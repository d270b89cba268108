package lesson

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/selector"
)

// Snapshot describes what is on the page of a lesson of p. CodeInvalid, CodeElementNotFound,
// CodeTimeout if the page is busy, CodePageLost, CodeConflict and the codes of Get.
func (s *Lessons) Snapshot(ctx context.Context, p routine.Principal, id string, q SnapshotRequest) (*Snapshot, error) {
	if q.Scope != "" && q.Extract != "" {
		return nil, routine.Errorf(routine.CodeInvalid, "give either scope or extract")
	}
	if err := cmp.Or(checkSelector("scope", q.Scope), checkSelector("extract", q.Extract)); err != nil {
		return nil, err
	}
	ctx, l, release, err := s.acquireWithPage(ctx, p, id, "a snapshot")
	if err != nil {
		return nil, err
	}
	defer release()
	seen, err := l.snapshot(ctx, q)
	return seen, l.checkPage(ctx, err)
}

// checkSelector returns an error if an argument that may be empty has a selector that is no
// CSS.
func checkSelector(argument, text string) error {
	if text == "" {
		return nil
	}
	fault := selector.Check(text)
	if fault == nil {
		return nil
	}
	message := argument + " " + fault.Message
	if fault.Hint != "" {
		message += "; " + fault.Hint
	}
	return routine.Errorf(routine.CodeInvalid, "%s", message)
}

// maxSameData is the room, in bytes, for the line about a request with the same data.
const maxSameData = 120

// snapshot looks at the page.
func (l *lesson) snapshot(ctx context.Context, q SnapshotRequest) (*Snapshot, error) {
	most := q.MaxBytes
	if q.Extract != "" {
		most = max(cmp.Or(most, routine.DefaultLook)-maxSameData, routine.MinLook)
	}
	seen, err := l.page.Look(ctx, routine.Look{Scope: q.Scope, Find: q.Find, Extract: q.Extract, MaxBytes: most, Secrets: l.session.Secrets()})
	if err != nil {
		return nil, err
	}
	return &Snapshot{Seen: seen, SameData: l.sameDataRequest(ctx, seen.Extraction)}, nil
}

// isErrorPage reports whether a URL is that of the page which the browser shows when it could
// not open another one.
func isErrorPage(url string) bool { return strings.HasPrefix(url, "chrome-error:") }

// Text is the snapshot for a reader.
func (s *Snapshot) Text() string {
	switch {
	case isErrorPage(s.Seen.URL):
		return "No page is open, because the last one could not be opened: undo_operations does the kept operations again on a new page.\n"
	case s.SameData == 0:
		return s.Seen.Text
	}
	return fmt.Sprintf("The same data is in request %d: list_network_requests with id %d gives it as a fetch operation.\n%s", s.SameData, s.SameData, s.Seen.Text)
}

// Screenshot returns a picture of the visible part of the page of a lesson of p, in which
// secrets are blanked out. The codes of Snapshot.
func (s *Lessons) Screenshot(ctx context.Context, p routine.Principal, id string) (*routine.Screenshot, error) {
	ctx, l, release, err := s.acquireWithPage(ctx, p, id, "a screenshot")
	if err != nil {
		return nil, err
	}
	defer release()
	shot, err := l.page.Capture(ctx, l.session.Secrets())
	return shot, l.checkPage(ctx, err)
}

// ElementAt describes the element at a point of the picture of a lesson of p, for an operation
// on it. x and y are fractions of the picture. CodeElementNotFound if there is none; the codes of
// Snapshot.
func (s *Lessons) ElementAt(ctx context.Context, p routine.Principal, id string, x, y float64) (*routine.ElementDescription, error) {
	ctx, l, release, err := s.acquireWithPage(ctx, p, id, "an element")
	if err != nil {
		return nil, err
	}
	defer release()
	d, err := l.page.ElementAt(ctx, x, y, l.session.Secrets())
	if err != nil {
		return nil, l.checkPage(ctx, err)
	}
	return &d, nil
}

// checkPage returns an error of the page. If the page no longer works, the lesson loses it.
func (l *lesson) checkPage(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if gone := l.page.Usable(ctx); gone != nil {
		return l.lessons.lose(l, "because "+l.session.Mask(routine.AsError(gone).Message))
	}
	return err
}
