package browser

import (
	"strings"
	"testing"
	"time"

	"rote/routine"
)

func TestPresent(t *testing.T) {
	t.Parallel()
	frame := site(t, map[string]any{"/": `<form id=inner>`})
	base := site(t, map[string]any{"/": `<form id=login hidden></form><iframe src="` + strings.Replace(frame, "127.0.0.1", "localhost", 1) + `"></iframe>`})
	p := openPage(t, base+"/")
	ctx := testContext(t)
	for selector, want := range map[string]bool{"form#login": true, "#inner": true, "#orders": false} {
		began := time.Now()
		if found, err := p.Present(ctx, selector); found != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", selector, found, err, want)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it waited for %v", selector, took)
		}
	}
	_, err := p.Present(ctx, "form[")
	wantCode(t, err, routine.CodeElementNotFound, "no CSS selector")
}
