package browser

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"rote/browser/chromium"
	"rote/routine"
)

// If the sandbox cannot start, the error of a run says what to do about it.
func TestUnavailableBrowser(t *testing.T) {
	for cause, check := range map[error]bool{fmt.Errorf("start x: %w", chromium.ErrNoSandbox): false, errors.New("EOF"): true} {
		err := unavailable(cause)
		wantCode(t, err, routine.CodeBrowserUnavailable, cause.Error())
		if strings.Contains(err.Error(), "rote browser check") != check {
			t.Error(err)
		}
	}
}

// The log says once what to do.
func TestUnconfinedWarning(t *testing.T) {
	for why, want := range map[error]string{
		fmt.Errorf("%w: do this", chromium.ErrNoSandbox): `level=WARN msg="BROWSER IS NOT CONFINED: it lacks x; do this"` + "\n",
		errors.New("/x is unreadable"):                   `level=WARN msg="BROWSER IS NOT CONFINED: it lacks x; do this" because="/x is unreadable"` + "\n",
	} {
		var b bytes.Buffer
		log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		warnUnconfined(log)("it lacks x; do this", why)
		if b.String() != want {
			t.Errorf("%v: %s, want %s", why, &b, want)
		}
	}
}
