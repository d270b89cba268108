package window

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"rote/browser/chromium"
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
	if err := errors.Join(scratch.CheckGone(chromium.ProfilePrefix), removeTemp(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}
