package lesson

import (
	"encoding/json"
	"strings"
	"testing"
)

// A proof by check_last that repeats an earlier acting operation says so before and after.
func TestCheckLastSaysWhatItRepeats(t *testing.T) {
	c := newClassroom(t, searchPage(found))
	id := c.teach(t, nil, order, order)
	c.acts(t, id, 2, "POST /cart")
	c.acts(t, id, 3, "POST /orders")
	const warning = "operation 2 does POST /cart again when proved: check_last leaves out only operation 3"
	for _, q := range []SaveRequest{{}, {Prove: ProveCheckLast}, {Name: "buy", Description: "Buys.", Prove: ProveCheckLast}} {
		saved, err := c.Save(t.Context(), author, id, q)
		if err != nil || !strings.Contains(saved.Text(), warning) || strings.Contains(saved.Text(), "POST /orders again") {
			t.Errorf("%v\n%s", err, saved.Text())
		}
	}
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "buy", Description: "Buys.", Prove: ProveNo})
	if err != nil || strings.Contains(saved.Text(), warning) {
		t.Errorf("%v\n%s", err, saved.Text())
	}
}

func TestNextSaveSaysWhatItRepeats(t *testing.T) {
	text := strings.Replace(lampRoutine, `{"type":"return_html"}`,
		`{"type":"click","selector":"#cart","x-acting":["POST /cart"]},{"type":"click","selector":"#order","x-acting":["POST /orders"]}`, 1)
	c := newClassroom(t, redesigned())
	started := c.mend(t, text, `{"word":"lamp"}`)
	c.acts(t, started.ID, 3, "POST /filter")
	tried := c.tried(t, started.ID, TryRequest{At: 4, Operations: []json.RawMessage{started.Candidates[0].Operation}})
	want := `"prove":"check_last"} Operation 3 does POST /filter again when proved. Operation 5 (click #cart) was not tried and may change something.`
	if !strings.HasSuffix(tried.Next, want) {
		t.Errorf("next %q, want … %q", tried.Next, want)
	}
}
