package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
)

// openWithTurns opens a page whose run waits for turns.
func openWithTurns(t *testing.T, url string, turn func(context.Context) (func(), error)) *page {
	t.Helper()
	opened, err := shared.Open(testContext(t), routine.PageOptions{Turn: turn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	if _, err := opened.Navigate(testContext(t), url); err != nil {
		t.Fatal(err)
	}
	return opened.(*tabs).first
}

// bodyOf answers with that many bytes.
func bodyOf(size int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", size)) }
}

// All but the first piece of a large body is moved in turns, one for each piece.
func TestLargeBodyTakesTurns(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	url := site(t, map[string]any{"/": "x", "/large": bodyOf(size), "/small": bodyOf(100 << 10)})
	var taken, held atomic.Int32
	p := openWithTurns(t, url+"/", func(context.Context) (func(), error) {
		taken.Add(1)
		held.Add(1)
		return sync.OnceFunc(func() { held.Add(-1) }), nil
	})
	fetch := func(path string, want int) {
		t.Helper()
		r, err := p.Fetch(testContext(t), routine.Fetch{URL: path, Method: "GET"}, 4<<20)
		if err != nil || len(r.Body) != want || held.Load() != 0 {
			t.Fatalf("%d bytes, %d turns held, %v", len(r.Body), held.Load(), err)
		}
	}
	fetch("/small", 100<<10)
	if n := taken.Load(); n != 0 {
		t.Errorf("a small body took %d turns", n)
	}
	fetch("/large", size)
	if n := taken.Load(); n < 7 {
		t.Errorf("a body of 2 MiB took %d turns", n)
	}
}

// A run whose site is slow has no turn while it waits for the site.
func TestSlowBodyTakesNoTurn(t *testing.T) {
	t.Parallel()
	more, sent := make(chan struct{}), make(chan struct{})
	url := site(t, map[string]any{"/": "x", "/slow": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 600<<10))
		w.(http.Flusher).Flush()
		close(sent)
		select {
		case <-more:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, strings.Repeat("x", 100<<10))
	}})
	var taken atomic.Int32
	released := make(chan struct{}, 100)
	p := openWithTurns(t, url+"/", func(context.Context) (func(), error) {
		taken.Add(1)
		return sync.OnceFunc(func() { released <- struct{}{} }), nil
	})
	done := make(chan error, 1)
	go func() {
		r, err := p.Fetch(testContext(t), routine.Fetch{URL: "/slow", Method: "GET"}, 4<<20)
		if err == nil && len(r.Body) != 700<<10 {
			err = fmt.Errorf("%d bytes", len(r.Body))
		}
		done <- err
	}()
	<-sent
	<-released // of the second piece
	select {
	case err := <-done:
		t.Fatalf("the body ended before it was sent: %v", err)
	case <-released:
		t.Fatal("there was a turn for a piece that was not sent")
	default:
	}
	if n := taken.Load(); n != 1 {
		t.Errorf("%d turns were taken for one piece", n)
	}
	close(more)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A page that no longer answers loses its turn, so that the other runs have
// theirs.
func TestHungPageLosesItsTurn(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": "x", "/large": bodyOf(1 << 20)})
	hang := make(chan func(), 1)
	released := make(chan struct{}, 10)
	p := openWithTurns(t, url+"/", func(context.Context) (func(), error) {
		select {
		case f := <-hang:
			f()
		default:
		}
		return func() { released <- struct{}{} }, nil
	})
	hang <- func() { eval(t, p, `(() => { setTimeout(() => { for (;;) {} }) })()`) }
	ctx, cancel := context.WithCancelCause(testContext(t))
	done := make(chan error, 1)
	go func() {
		_, err := p.Fetch(ctx, routine.Fetch{URL: "/large", Method: "GET"}, 4<<20)
		done <- err
	}()
	<-released
	select {
	case err := <-done:
		t.Fatalf("the page did not hang: %v", err)
	default:
	}
	enough := errors.New("enough")
	cancel(enough)
	if err := <-done; !errors.Is(err, enough) {
		t.Error(err)
	}
}

// A run that ends while it waits for its turn fails with what ended it.
func TestRunEndsWhileItWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": "x", "/large": bodyOf(1 << 20)})
	p := openWithTurns(t, url+"/", func(ctx context.Context) (func(), error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	over := errors.New("over")
	ctx, cancel := context.WithTimeoutCause(testContext(t), 100*time.Millisecond, over)
	defer cancel()
	if _, err := p.Fetch(ctx, routine.Fetch{URL: "/large", Method: "GET"}, 4<<20); !errors.Is(err, over) {
		t.Error(err)
	}
}
