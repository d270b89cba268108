package operation

import (
	"context"
	"errors"
	"time"

	"rote/routine"
	"rote/routine/pattern"
)

// opWaitForURL is the operation wait_for_url. Its fields are described in
// schemas/operations/wait_for_url.json.
type opWaitForURL struct {
	URLRegex  string          `json:"url_regex" fill:"regexp"`
	TimeoutMS routine.Integer `json:"timeout_ms"`
}

func (o *opWaitForURL) subject() string { return o.URLRegex }
func (o *opWaitForURL) limit() (time.Duration, string) {
	return o.TimeoutMS.Milliseconds(), "timeout_ms"
}

func (o *opWaitForURL) Do(ctx context.Context, r *Run) error {
	re, err := pattern.Compile(o.URLRegex)
	if err != nil {
		return routine.Errorf(routine.CodeInvalid, "url_regex does not compile: %w", err)
	}
	last := ""
	url, err := r.Page.WaitURL(ctx, func(url string) (bool, error) {
		last = url
		ok, err := re.Match(url)
		if err != nil {
			return false, routine.Errorf(routine.CodeTimeout, "matching url_regex with %s took more than %v: simplify it", routine.ShownURL(url), pattern.MaxMatchTime)
		}
		return ok, nil
	})
	switch {
	case errors.Is(err, routine.ErrOperationLimit):
		return routine.Errorf(routine.CodeTimeout, "the URL did not match %s within %d ms; it is %s", routine.Quote(o.URLRegex), o.TimeoutMS, routine.ShownURL(last))
	case err != nil && ctx.Err() != nil:
		return routine.Errorf(routine.CodeTimeout, "the URL did not match %s; it is %s", routine.Quote(o.URLRegex), routine.ShownURL(last))
	}
	if err != nil {
		return err
	}
	r.SetDetail("url", url)
	return nil
}
