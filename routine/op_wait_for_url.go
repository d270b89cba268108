package routine

import (
	"context"
	"errors"
	"time"
)

type opWaitForURL struct {
	URLRegex  string  `json:"url_regex" fill:"regexp"`
	TimeoutMS Integer `json:"timeout_ms"`
}

func (o *opWaitForURL) subject() string { return o.URLRegex }
func (o *opWaitForURL) limit() (time.Duration, string) {
	return o.TimeoutMS.Milliseconds(), "timeout_ms"
}

func (o *opWaitForURL) Do(ctx context.Context, r *Run) error {
	re, err := CompilePattern(o.URLRegex)
	if err != nil {
		return Errorf(CodeInvalid, "url_regex does not compile: %w", err)
	}
	last := ""
	url, err := r.Page.WaitURL(ctx, func(url string) (bool, error) {
		last = url
		ok, err := re.Match(url)
		if err != nil {
			return false, Errorf(CodeTimeout, "matching url_regex with %s took more than %v: simplify it", ShownURL(url), MaxMatchTime)
		}
		return ok, nil
	})
	switch {
	case errors.Is(err, ErrOperationLimit):
		return Errorf(CodeTimeout, "the URL did not match %s within %d ms; it is %s", Quote(o.URLRegex), o.TimeoutMS, ShownURL(last))
	case err != nil && ctx.Err() != nil:
		return Errorf(CodeTimeout, "the URL did not match %s; it is %s", Quote(o.URLRegex), ShownURL(last))
	}
	if err != nil {
		return err
	}
	r.Detail("url", url)
	return nil
}
