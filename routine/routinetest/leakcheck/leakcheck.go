// Package leakcheck finds goroutines that tests have left, on a machine that may be busy
// with other work.
package leakcheck

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience limits how long goroutines that are about to end may take for that.
// goleak itself waits less than half a second.
const patience = 10 * time.Second

// Find returns an error if goroutines that options do not exclude have not ended
// within 10 seconds.
func Find(options ...goleak.Option) error { return find(patience, options...) }

func find(patience time.Duration, options ...goleak.Option) error {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find(options...)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// Main runs the tests of a package and ends the process. The tests fail if they
// leave goroutines.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
