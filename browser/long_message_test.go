package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// Chromium's answers begin with the id, which is all that is read of a long one.
func TestLongAnswer(t *testing.T) {
	b := own(t)
	b.launcher.(*localLauncher).MaxMessage = 10_000
	p := mustOpen(t, b)
	if _, err := p.Await(testContext(t), p.Send(proto.RuntimeEvaluate{Expression: "'x'.repeat(1e6)"})); !errors.Is(err, cdp.ErrOversize) {
		t.Fatal(err)
	}
	if got := eval(t, p, "(() => 1 + 1)()"); got != "2" {
		t.Fatal(got)
	}
}

// The event of an upload does not contain its body, so that no page can block the
// pipe with it. While scripts are watched, the body is in the event of the paused
// request. If it is too long to be read, the request is refused and the page does
// not hang.
func TestLongUpload(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			b := New(Config{Egress: shared.config.Egress, Executable: kind.executable(t), Warm: 1, Log: complaints})
			b.launcher.(*localLauncher).MaxMessage = 50_000
			t.Cleanup(b.Close)
			uploads(t, mustOpen(t, b))
		})
	}
}

func uploads(t *testing.T, p *page) {
	t.Helper()
	base := site(t, map[string]any{
		"/": `<script>const upload = () => fetch('/to', {method: 'POST', body: 'x'.repeat(100000)}).then(r => r.text(), String)</script>`,
		"/to": func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n)
		}})
	if _, err := p.Navigate(testContext(t), base+"/"); err != nil {
		t.Fatal(err)
	}
	longest := atomic.Int64{}
	p.i.client.Listen(p.session, func(method string, params json.RawMessage) {
		longest.Store(max(longest.Load(), int64(len(params))))
		p.event(method, params)
	})
	upload := func() string {
		v, err := cdp.Evaluate(testContext(t), p, proto.RuntimeEvaluate{Expression: `upload()`, AwaitPromise: true})
		if err != nil {
			t.Fatal(err)
		}
		return string(v.Value)
	}
	if got := upload(); got != `"100000"` || longest.Load() > 50_000 {
		t.Error(got, longest.Load())
	}
	if _, err := p.Evaluate(testContext(t), watchedScript(`(() => { document.title = 'watched' })()`)); err != nil {
		t.Fatal(err)
	}
	if got := upload(); got != `"TypeError: Failed to fetch"` {
		t.Error(got)
	}
}
