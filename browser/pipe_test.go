package browser

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// A message that is too long fails the call it answers and nothing else.
func TestPipeBoundsMessages(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := newPipe(r, w)
	p.most.Store(1000)
	defer p.close()
	long := `{"id":7,"result":"` + strings.Repeat("x", 1<<17) + `"}`
	go func() { _, _ = w.WriteString("short\x00" + long + "\x00" + strings.Repeat("y", 999) + "\x00") }()
	for _, want := range []struct {
		text string
		err  error
	}{{"short", nil}, {long[:headBytes], errOversize}, {strings.Repeat("y", 999), nil}} {
		got, err := p.read()
		if string(got) != want.text || !errors.Is(err, want.err) {
			t.Fatalf("%d bytes %.80q, %v", len(got), got, err)
		}
	}
}

// Chromium's answers begin with the id, which is all that is read of a long one.
func TestLongAnswer(t *testing.T) {
	b := own(t)
	p := mustOpen(t, b)
	p.i.pipe.most.Store(10_000)
	if _, err := p.await(testContext(t), p.send(proto.RuntimeEvaluate{Expression: "'x'.repeat(1e6)"})); !errors.Is(err, errOversize) {
		t.Fatal(err)
	}
	if got := eval(t, p, "(() => 1 + 1)()"); got != "2" {
		t.Fatal(got)
	}
}
