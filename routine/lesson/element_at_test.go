package lesson

import (
	"context"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestElementAtAPointOfThePicture(t *testing.T) {
	c := newClassroom(t, routinetest.Page{ElementAt: func(_ context.Context, x, y float64) (routine.ElementDescription, error) {
		if x != 0.25 || y != 0.75 {
			return routine.ElementDescription{}, routine.Errorf(routine.CodeElementNotFound, "there is nothing")
		}
		return routine.ElementDescription{Matches: 1, Selector: "#go"}, nil
	}})
	id := c.start(t)
	if d, err := c.ElementAt(t.Context(), author, id, 0.25, 0.75); err != nil || d.Selector != "#go" {
		t.Error(d, err)
	}
	_, err := c.ElementAt(t.Context(), author, id, 0, 1)
	wantError(t, err, routine.CodeElementNotFound, "nothing")
	other := author
	other.UserID = "bob"
	_, err = c.ElementAt(t.Context(), other, id, 0.25, 0.75)
	wantError(t, err, routine.CodeNotFound, id)
	if info, err := c.Get(author, id); err != nil || len(info.Operations) != 1 {
		t.Errorf("looking at an element changed the lesson: %+v, %v", info, err)
	}
}
