package service

import (
	"context"
	"sync"
	"time"

	"rote/routine"
	"rote/routine/definition"
)

const (
	// pictureInterval is how old a picture of a live view may be.
	pictureInterval = time.Second
	// maxPictureTime bounds the time for one picture.
	maxPictureTime = 300 * time.Millisecond
)

// liveView is what watchers see of a run. A picture is taken when somebody asks for one, at most
// one each second for all watchers. Its methods may be called from any goroutine.
type liveView struct {
	// page is nil while the run has none.
	mu   sync.Mutex
	page routine.Picturable

	// taking is held while a picture is taken, so that others wait for the same one.
	taking  sync.Mutex
	picture []byte
	takenAt time.Time
}

// show sets the page of the run; nil: it has none any more.
func (v *liveView) show(p routine.Page) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.page, _ = p.(routine.Picturable)
}

func (v *liveView) shown() routine.Picturable {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.page
}

// take returns a picture that is not older than pictureInterval.
func (v *liveView) take(ctx context.Context, now func() time.Time) ([]byte, error) {
	v.taking.Lock()
	defer v.taking.Unlock()
	if v.picture != nil && now().Sub(v.takenAt) < pictureInterval {
		return v.picture, nil
	}
	page := v.shown()
	if page == nil {
		return nil, errNoPage
	}
	ctx, cancel := context.WithTimeout(ctx, maxPictureTime)
	defer cancel()
	picture, err := page.Picture(ctx)
	if err != nil {
		return nil, routine.Errorf(routine.CodeConflict, "there is no picture of the page at this moment")
	}
	v.picture, v.takenAt = picture, now()
	return picture, nil
}

// errNoPage is the error of a picture of a run that waits, or whose page is closed.
var errNoPage = routine.Errorf(routine.CodeConflict, "the run has no page at present")

// HasLiveView reports whether [Config].LiveView is set.
func (s *Service) HasLiveView() bool { return s.liveView }

// LiveView returns what the page of a running execution shows now, as a JPEG image that is not
// stored. Nothing is hidden in it, so there is none of a run whose page may show secrets, and of
// one that starts with the saved state of a project only for people of that project. The page
// does not notice. It has the error codes of Execution; CodeForbidden if p may not see the page;
// CodeConflict, with the reason, if there is no picture at present.
func (s *Service) LiveView(ctx context.Context, p routine.Principal, id string) ([]byte, error) {
	e, err := s.Execution(ctx, p, id)
	if err != nil {
		return nil, err
	}
	run := s.activeRun(id)
	switch {
	case !s.liveView:
		return nil, routine.Errorf(routine.CodeForbidden, "the live view is off: start the server with --live-view")
	case !e.Open():
		return nil, routine.Errorf(routine.CodeConflict, "the run has ended")
	case run == nil:
		return nil, routine.Errorf(routine.CodeConflict, "another process has the run")
	case run.view.shown() == nil:
		return nil, errNoPage
	case len(run.given) > 0 || definition.HoldsSecrets(run.definition):
		return nil, routine.Errorf(routine.CodeForbidden, "the page may show secrets, so it is not shown")
	case !run.definition.Incognito && p.ProjectID != run.caller.ProjectID:
		return nil, routine.Errorf(routine.CodeForbidden, "the run has the saved state of another project, so its page is not shown")
	}
	return run.view.take(ctx, s.now)
}
