package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"rote/routine/routinetest/leakcheck"
	"rote/routine/routinetest/scratch"
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

// testMain runs the tests and fails when anything of a browser is left.
func testMain(m *testing.M) int {
	removeTemp, err := scratch.Use()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := errors.Join(scratch.CheckGone(ProfilePrefix), removeTemp(), leakcheck.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// testTime bounds one test; what a test waits for comes much sooner.
const testTime = 60 * time.Second

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	t.Cleanup(cancel)
	return ctx
}
