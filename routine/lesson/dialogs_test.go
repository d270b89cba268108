package lesson

import (
	"context"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/routinetest"
)

// dialogPage is a page with a dialog that is there unless missing is set: #ok and elements
// that were found by their texts are in it, everything else is not.
func dialogPage(missing *bool) routinetest.Page {
	inDialog := func(selector string) bool { return selector == "#ok" || selector == operation.MarkSelector }
	return routinetest.Page{
		Describe: func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
			if *missing && inDialog(selector) {
				return routine.ElementDescription{}, nil
			}
			return routine.ElementDescription{Matches: 1, Selector: selector, Grade: "A", GivenGrade: "A", InDialog: inDialog(selector)}, nil
		},
		Click: func(_ context.Context, q routine.Click) (routine.Match, error) {
			if *missing && inDialog(q.Selector) || q.Selector == "#gone" {
				return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, "no element matches %q", q.Selector)
			}
			return routine.Match{Matches: 1}, nil
		},
		Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) {
			if *missing {
				return routine.Evaluation{}, routine.Errorf(routine.CodeScriptError, "0 visible elements are button 'OK': one is wanted")
			}
			return routine.Evaluation{}, nil
		},
	}
}

const (
	clickOK     = `{"type":"click","selector":"#ok"}`
	clickNamed  = `{"type":"click","x-target":{"role":"button","name":"OK"}}`
	clickOther  = `{"type":"click","selector":"#other"}`
	clickGone   = `{"type":"click","selector":"#gone"}`
	clickIfOK   = `{"type":"click","selector":"#ok","x-optional":true}`
	typeInOK    = `{"type":"input_text","selector":"#ok","text":"a"}`
	returnsPage = `{"type":"return_html"}`
)

// A click in a dialog says how to make it optional: when it is kept, and when the dialog does
// not come.
func TestDialogThatComesSometimes(t *testing.T) {
	for _, row := range []struct {
		name, operation string
		kept, missing   bool // whether the answers have the advice
	}{
		{"a click", clickOK, true, true},
		{"by its text", clickNamed, true, true},
		{"elsewhere", clickOther, false, false},
		{"an optional click", clickIfOK, false, false},
		{"a text", typeInOK, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			missing := false
			c := newClassroom(t, dialogPage(&missing))
			id := c.start(t)
			if text := c.tried(t, id, TryRequest{Operations: raw(row.operation)}).Text(); strings.Contains(text, optionalAdvice) != row.kept {
				t.Errorf("advice wanted %v:\n%s", row.kept, text)
			}
			c.tried(t, id, TryRequest{Operations: raw(returnsPage)})
			missing = true
			again := c.tried(t, id, TryRequest{Operations: raw(row.operation)})
			if text := again.Text(); !again.OK && strings.Contains(text, optionalAdvice) != row.missing {
				t.Errorf("advice wanted %v:\n%s", row.missing, text)
			}
			if text := c.tried(t, id, TryRequest{Operations: raw(clickGone)}).Text(); strings.Contains(text, optionalAdvice) {
				t.Errorf("another element was never in a dialog:\n%s", text)
			}
			saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "n", Description: "D.", Prove: ProveAll})
			if row.missing && (routine.CodeOf(err) != routine.CodeNotProved || !strings.Contains(saved.Next, `with try_operation and "at":2`) ||
				!strings.HasSuffix(saved.Next, optionalAdvice)) || !row.missing && saved != nil && strings.Contains(saved.Next, optionalAdvice) {
				t.Errorf("%+v, %v", saved, err)
			}
			undone := c.undone(t, id, UndoRequest{To: 3})
			if text := undone.Text(); strings.Contains(text, optionalAdvice) != row.missing {
				t.Errorf("advice wanted %v:\n%s", row.missing, text)
			}
		})
	}
}
