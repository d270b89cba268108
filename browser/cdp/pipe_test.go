package cdp

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// A message that is too long fails the call it answers and nothing else.
func TestPipeBoundsMessages(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := NewPipe(r, w, 1000)
	defer p.Close()
	long := `{"id":7,"result":"` + strings.Repeat("x", 1<<17) + `"}`
	go func() { _, _ = w.WriteString("short\x00" + long + "\x00" + strings.Repeat("y", 999) + "\x00") }()
	for _, want := range []struct {
		text string
		err  error
	}{{"short", nil}, {long[:headBytes] + long[len(long)-endBytes:], ErrOversize}, {strings.Repeat("y", 999), nil}} {
		got, err := p.Read()
		if string(got) != want.text || !errors.Is(err, want.err) {
			t.Fatalf("%d bytes %.80q, %v", len(got), got, err)
		}
	}
}
