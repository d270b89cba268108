package sqlite

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"modernc.org/sqlite"

	"rote/routine"
	"rote/routine/routinetest"
)

// An execution exists exactly if the call that creates it succeeds, also when the context
// of the call ends while its statement is committed.
func TestContextEndsDuringCreation(t *testing.T) {
	s := open(t, tempPath(t))
	create(t, s) // prepares the statement
	var end context.CancelFunc
	conn, err := s.write.Conn(t.Context())
	must(t, err)
	must(t, conn.Raw(func(driver any) error {
		driver.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
			end()
			for range 100 { // lets the driver see that the context has ended
				runtime.Gosched()
			}
			return 0
		})
		return nil
	}))
	must(t, conn.Close())
	for range 20 {
		var ctx context.Context
		ctx, end = context.WithCancel(t.Context())
		e := routinetest.Execution(t)
		created := s.CreateExecution(ctx, e)
		_, found := s.Execution(t.Context(), e.ID)
		if found != nil && !errors.Is(found, routine.ErrNotFound) {
			t.Fatal(found)
		}
		if (created == nil) != (found == nil) {
			t.Fatalf("the call returns %v, and a look for the execution %v", created, found)
		}
	}
	end = func() {} // for the commits of Close
}
