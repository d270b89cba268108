package cdp

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
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

// pipePair returns the ends of two pipes: bytes written to ourOut can be read from theirIn, and
// the other way round.
func pipePair(t *testing.T) (ourIn, ourOut, theirIn, theirOut *os.File) {
	t.Helper()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err = os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return ourIn, ourOut, theirIn, theirOut
}

// Messages arrive whole and in order, also if the pipe has no room for them and one side has
// to wait for the other.
func TestPipeCarriesMessages(t *testing.T) {
	ourIn, ourOut, theirIn, theirOut := pipePair(t)
	ours, theirs := NewPipe(ourIn, ourOut, 0), NewPipe(theirIn, theirOut, 0)
	defer theirs.Close()
	long := strings.Repeat("x", 300<<10) // more than the pipe holds
	rounds := [][]string{{"a", "b"}, {long, "c"}, {"d"}, {long}, {"e", long, long}}
	go func() { // the browser returns each message
		for {
			m, err := theirs.Read()
			if err != nil || theirs.Write(m) != nil {
				return
			}
		}
	}()
	wrote := make(chan error, 1)
	go func() {
		for _, round := range rounds {
			var together [][]byte
			for _, m := range round {
				together = append(together, []byte(m))
			}
			if err := ours.Write(together...); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	for _, round := range rounds {
		for _, want := range round {
			if got, err := ours.Read(); err != nil || string(got) != want {
				t.Fatalf("got %d bytes %.20q, %v; want %d", len(got), got, err, len(want))
			}
		}
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Read(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading from the closed pipe: %v", err)
	}
	if err := ours.Write([]byte("f")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing to the closed pipe: %v", err)
	}
}

// A browser that has ended ends the reading and the writing.
func TestPipeEndsWithTheBrowser(t *testing.T) {
	ourIn, ourOut, theirIn, theirOut := pipePair(t)
	p := NewPipe(ourIn, ourOut, 0)
	defer p.Close()
	if err := errors.Join(theirIn.Close(), theirOut.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("reading: %v", err)
	}
	if err := p.Write([]byte("a")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writing: %v", err)
	}
}
