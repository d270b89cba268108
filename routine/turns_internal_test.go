package routine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// An organization whose work waits is given its turn after the next work of each
// other organization, however much those have waiting.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		release, err := turns.of("a")(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var order []string // guarded by the turn
		for _, row := range []struct {
			organization string
			runs         int
		}{{"a", 6}, {"b", 2}, {"c", 1}} {
			for i := range row.runs {
				go func() {
					release, err := turns.of(row.organization)(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					order = append(order, fmt.Sprint(row.organization, i))
					release()
					release() // does nothing
				}()
				synctest.Wait()
			}
		}
		release()
		synctest.Wait()
		if got := strings.Join(order, " "); got != "b0 c0 a0 b1 a1 a2 a3 a4 a5" {
			t.Errorf("the order was %s", got)
		}
	})
}

// Work that is given up while it waits takes no turn.
func TestTurnThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		release, err := turns.of("a")(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := Errorf(CodeTimeout, "enough")
		given := make(chan error, 1)
		go func() {
			_, err := turns.of("b")(ctx)
			given <- err
		}()
		synctest.Wait()
		cancel(enough)
		if err := <-given; !errors.Is(err, enough) {
			t.Error(err)
		}
		release()
		if release, err = turns.of("c")(t.Context()); err != nil {
			t.Fatal(err)
		}
		release()
		if n := len(turns.queue.shares); n != 0 {
			t.Errorf("%d organizations are remembered", n)
		}
	})
}

// Only sanitizers that work on a large text wait for a turn, each for that of its
// own organization.
func TestLargeTextsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		release, err := turns.of("a")(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const truncate = `[{"type":"truncate","max_chars":5}]`
		large, small := bytes.Repeat([]byte("x"), maxLightText+1), bytes.Repeat([]byte("x"), maxLightText)
		ended := map[string]bool{}
		var mu sync.Mutex
		for _, row := range []struct {
			name, organization, sanitizer string
			body                          []byte
			waits                         bool
		}{
			{"a large text of the same organization", "a", truncate, large, true},
			{"a large text of another organization", "b", truncate, large, true},
			{"a small text", "a", truncate, small, false},
			{"a large text without sanitizer", "b", ``, large, false},
			{"a large text with an empty sanitizer", "b", `[]`, large, false},
		} {
			go func() {
				r := &Run{LargeText: turns.of(row.organization), Result: &Result{}}
				if text, err := r.sanitize(t.Context(), []byte(row.sanitizer), row.body); err != nil || text == "" {
					t.Errorf("%s: %d bytes, %v", row.name, len(text), err)
				}
				mu.Lock()
				defer mu.Unlock()
				ended[row.name] = true
			}()
			synctest.Wait()
			mu.Lock()
			if ended[row.name] == row.waits {
				t.Errorf("%s: that it waits is %v, want %v", row.name, !ended[row.name], row.waits)
			}
			mu.Unlock()
		}
		release()
		synctest.Wait()
		if len(ended) != 5 || len(turns.queue.shares) != 0 {
			t.Errorf("ended: %v", ended)
		}
	})
}
