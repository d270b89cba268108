package optional

import "testing"

// fakeTest is a test that records whether it was skipped or failed.
type fakeTest struct {
	testing.TB
	name            string
	skipped, failed bool
}

func (f *fakeTest) Helper()               {}
func (f *fakeTest) Name() string          { return f.name }
func (f *fakeTest) Skip(...any)           { f.skipped = true }
func (f *fakeTest) Fatalf(string, ...any) { f.failed = true }

func TestSkips(t *testing.T) {
	for _, row := range []struct {
		name, variable, value, test string
		skip                        func(testing.TB)
		skipped, failed             bool
	}{
		{"full size by default", "ROTE_FULL_SIZE", "", "TestX", FullSize, true, false},
		{"full size on request", "ROTE_FULL_SIZE", "1", "TestX", FullSize, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv(row.variable, row.value)
			f := &fakeTest{name: row.test}
			row.skip(f)
			if f.skipped != row.skipped || f.failed != row.failed {
				t.Errorf("skipped: %v, failed: %v", f.skipped, f.failed)
			}
		})
	}
}

func TestSpeedTagAndName(t *testing.T) {
	f := &fakeTest{name: "TestSpeedOfX"}
	if Speed(f); f.skipped == speedTag || f.failed {
		t.Errorf("skipped: %v, failed: %v, with the tag speed: %v", f.skipped, f.failed, speedTag)
	}
	f = &fakeTest{name: "TestX"} // which .ci/run does not select
	if Speed(f); !f.failed {
		t.Error("a test of speed has a name that does not begin with TestSpeed")
	}
}

func TestOneGoroutineSkipsUnderTheRaceDetector(t *testing.T) {
	f := &fakeTest{}
	if OneGoroutine(f); f.skipped != raceDetector || f.failed {
		t.Errorf("skipped: %v, with the race detector: %v", f.skipped, raceDetector)
	}
}
