package stopwatch

import (
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	n := 0
	if took := Time(func() {
		for start := ProcessorTime(); ProcessorTime()-start < 50*time.Millisecond; {
			n++
		}
	}); took < 40*time.Millisecond || n == 0 { // the two clocks differ a little
		t.Errorf("50 ms of work took %v", took)
	}
	never := make(chan struct{})
	if took := Time(func() {
		select {
		case <-never:
		case <-time.After(200 * time.Millisecond):
		}
	}); took >= 200*time.Millisecond {
		t.Errorf("200 ms without work took %v", took)
	}
}
