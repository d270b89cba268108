package browser

import (
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// A page that takes all memory is refused more of it, or crashes, alone.
func TestPageThatTakesAllMemory(t *testing.T) {
	b := New(Config{Egress: shared.config.Egress, MaxMemory: 768 << 20, Warm: 1})
	t.Cleanup(b.Close)
	home := site(t, map[string]any{"/": "x", "/form": form})
	greedy, other := mustOpen(t, b), mustOpen(t, b)
	if _, err := greedy.Navigate(testContext(t), home+"/"); err != nil {
		t.Fatal(err)
	}
	e, err := greedy.Evaluate(testContext(t), script(`(() => { const all = []; try { for (;;) { const b = new Uint8Array(64 << 20); for (let i = 0; i < b.length; i += 4096) b[i] = 1; all.push(b) } }
		catch (e) { return e.name + ' after ' + all.length } })()`, 10*time.Second))
	switch {
	case routine.CodeOf(err) == routine.CodeBrowserCrashed:
	case err != nil || !strings.HasPrefix(string(e.JSON), `"RangeError after `):
		t.Fatal(string(e.JSON), err)
	}
	formTask(t, other, home+"/form")
	if pidOf(other) != pidOf(greedy) {
		t.Fatal("the browser was replaced")
	}
}
