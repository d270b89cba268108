package engine

import (
	"context"

	"rote/routine"
	"rote/routine/operation"
)

// loginWatch notices that a site has ended the login that a run depends on.
type loginWatch struct {
	signedOut  func(context.Context, routine.Page) error // nil: nothing is noticed
	repeatable bool
	acted      bool // an operation has acted
	repeat     bool // see Outcome.Repeat
}

// doLoggedIn does an operation as do does. It asks whether the site has ended the login before
// the first operation that acts, because a page may show its login only then, after each
// operation that opens a page, and when an operation has failed. CodeSessionExpired.
func (r *runner) doLoggedIn(ctx context.Context, o routine.Operation) error {
	acts := operation.Acts(o)
	if acts && !r.login.acted {
		if err := r.checkLogin(ctx); err != nil {
			return err
		}
	}
	r.login.acted = r.login.acted || acts
	err := r.do(ctx, o)
	k, _ := operation.KindOf(o.Type())
	if err == nil && !k.OpensPage {
		return nil
	}
	ended := r.checkLogin(ctx)
	if err == nil || routine.CodeOf(ended) == routine.CodeSessionExpired {
		return ended
	}
	return err
}

// checkLogin returns an error if the page shows that the site has ended the login.
func (r *runner) checkLogin(ctx context.Context) error {
	if r.login.signedOut == nil || ctx.Err() != nil {
		return nil
	}
	err := r.login.signedOut(ctx, r.Page)
	r.login.repeat = r.login.repeatable && !r.login.acted && routine.CodeOf(err) == routine.CodeSessionExpired
	return err
}
