package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"rote/routine"
)

// An organization whose work waits is given its turn after the next work of each
// other organization, however much those have waiting.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		release, err := turns.forOrganization("a")(t.Context())
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
					release, err := turns.forOrganization(row.organization)(t.Context())
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
		release, err := turns.forOrganization("a")(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := routine.Errorf(routine.CodeTimeout, "enough")
		given := make(chan error, 1)
		go func() {
			_, err := turns.forOrganization("b")(ctx)
			given <- err
		}()
		synctest.Wait()
		cancel(enough)
		if err := <-given; !errors.Is(err, enough) {
			t.Error(err)
		}
		release()
		if release, err = turns.forOrganization("c")(t.Context()); err != nil {
			t.Fatal(err)
		}
		release()
		if n := len(turns.queue.shares); n != 0 {
			t.Errorf("%d organizations are remembered", n)
		}
	})
}
