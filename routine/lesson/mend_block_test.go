package lesson

import (
	"slices"
	"strings"
	"testing"
)

// The page of a lesson that mends a routine leaves out what the routine's x-block names, and
// the routine keeps it when it is saved.
func TestMendKeepsBlockedResources(t *testing.T) {
	c := newClassroom(t, redesigned())
	r, e := c.failedRun(t, strings.Replace(lampRoutine, `"name"`, `"x-block":["image"],"name"`, 1), `{"word":"lamp"}`)
	started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.browser.LastOpening().Block; !slices.Equal(got, []string{"image"}) {
		t.Errorf("the lesson blocks %q", got)
	}
	d, err := c.all[started.ID].assemble(SaveRequest{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.definition.Block; !slices.Equal(got, []string{"image"}) {
		t.Errorf("it is saved with %q", got)
	}
}
