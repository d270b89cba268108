// Package optional skips the tests that the default run leaves out. .ci/run runs
// them in steps of their own.
package optional

import (
	"os"
	"strings"
	"testing"
)

// speedPrefix begins the name of each test of speed, by which .ci/run selects
// them.
const speedPrefix = "TestSpeed"

// Speed skips a test that measures how fast rote is, unless the build tag speed is
// set. Other work on the machine, such as the tests of other packages, would change
// what it measures. The name of the test must begin with TestSpeed.
func Speed(t testing.TB) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), speedPrefix) {
		t.Fatalf("the name of a test of speed begins with %s", speedPrefix)
	}
	if !speedTag {
		t.Skip("without -tags speed: tests of speed need a machine that does nothing else")
	}
}

// FullSize skips a test with inputs of the full size, unless ROTE_FULL_SIZE is
// set. Such tests need minutes and a gigabyte of memory.
func FullSize(t testing.TB) {
	t.Helper()
	if !IsFullSize() {
		t.Skip("ROTE_FULL_SIZE is not set: tests with inputs of the full size need minutes and a gigabyte of memory")
	}
}

// IsFullSize reports whether ROTE_FULL_SIZE asks for inputs of the full size.
func IsFullSize() bool { return os.Getenv("ROTE_FULL_SIZE") != "" }

// OneGoroutine skips a test under the race detector. The test is for code that
// runs in one goroutine, in which the detector finds nothing, and takes ten times
// as long there.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if raceDetector {
		t.Skip("under the race detector: what the test runs uses one goroutine")
	}
}
