package leakcheck

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A goroutine that ends late, which goleak alone would report, is none that was left.
func TestFindWaits(t *testing.T) {
	before := goleak.IgnoreCurrent()
	if err := find(0, before); err != nil {
		t.Errorf("nothing was started: %v", err)
	}
	end := make(chan struct{})
	go func() { <-end }()
	if err := find(0, before); err == nil || !strings.Contains(err.Error(), "TestFindWaits") {
		t.Errorf("a goroutine is left: %v", err)
	}
	time.AfterFunc(time.Second, func() { close(end) })
	if err := Find(before); err != nil {
		t.Errorf("it ended after a second: %v", err)
	}
}
