package lesson

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// The answer stays short, whatever the operations and the page are.
func TestSaveAnswersAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long text ", 1000)
	script := `{"type":"js_evaluate","js":` + routine.JSONText("(() => { const a = 'lamp'; return '"+long+"' + 'lamp'; })()") + `}`
	c := newClassroom(t, searchPage(found))
	operations := []string{typeLamp, script}
	for i := range 60 {
		operations = append(operations, fmt.Sprintf(`{"type":"input_text","selector":"#f%d > b:nth-of-type(2)","text":"%s %d"}`, i, long[:190], i))
	}
	c.browser.Page.Describe = func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
		return routine.ElementDescription{Matches: 1, Selector: "#x", Grade: "A", GivenGrade: "D", Target: routine.Target{Role: "textbox", Name: long,
			Matches: 1}}, nil
	}
	id := c.teach(t, nil, append(operations, order)...)
	check := func(saved *Saved) {
		t.Helper()
		if n := len(routine.RawJSON(saved)); n > 32<<10 || len(saved.Text()) > 32<<10 {
			t.Errorf("the answer has %d bytes, its text %d", n, len(saved.Text()))
		}
	}
	dry, err := c.Save(t.Context(), author, id, SaveRequest{Parameters: raw(`{"name":"what","from":"lamp"}`)})
	if err != nil {
		t.Fatal(err)
	}
	check(dry)
	whole, err := c.Save(t.Context(), author, id, SaveRequest{DryRun: true, Whole: true})
	if err != nil || !strings.Contains(string(whole.Definition), long) || strings.Contains(whole.Next, "shortened") {
		t.Errorf("a routine for a file is shortened: %v %.500s", err, whole.Definition)
	}
	to := string(dry.Replaced[1].To)
	if len(dry.Replaced) != 2 || !strings.HasPrefix(to, `"(() => { const a = '{{what}}'; return 'long`) || len(to) > 200 || !strings.HasSuffix(to, `…"`) {
		t.Errorf("replaced: %s", to)
	}
	c.browser.Page.Click = routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "nothing matches %s", long))
	elements := slices.Repeat([]routine.Element{{Selector: long, Text: long, Where: long, Problem: long}}, 15)
	c.browser.Page.Evidence = routinetest.ShowEvidence(&routine.Evidence{Elements: elements})
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "long"})
	wantError(t, err, routine.CodeNotProved, "nothing matches")
	check(saved)
	if len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}
