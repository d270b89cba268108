package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

// covered is an expression that counts the visible fields and buttons of a page, and those
// that one of the selectors matches.
const covered = `(() => {
  const selectors = %s, all = [...document.querySelectorAll('input,select,textarea,button')].filter(e => e.checkVisibility());
  return [all.filter(e => selectors.some(s => e.matches(s))).length, all.length];
})()`

// At its default size, a look names almost all fields and buttons of a page.
func TestLookNamesFieldsAndButtons(t *testing.T) {
	t.Parallel()
	const count, minCovered = 8, 0.95
	pages := map[string]any{}
	r := new(sequence)
	for n := range count {
		pages[fmt.Sprintf("/%d", n)] = strings.Repeat(designedPage(r, n%4), 1+n%3)
	}
	url := site(t, pages)
	named, all := 0, 0
	for n := range count {
		p := openPage(t, fmt.Sprintf("%s/%d", url, n))
		var selectors []string
		list := ""
		for _, x := range look(t, p, routine.Look{}).Lines {
			switch {
			case x.Matches > 0:
				list = x.Selector
			case x.InItem:
				selectors = append(selectors, list+" "+x.Selector)
			case x.Selector != "":
				selectors = append(selectors, x.Selector)
			}
		}
		encoded, err := routine.EncodeJSON(selectors)
		if err != nil {
			t.Fatal(err)
		}
		var counts [2]int
		if err := json.Unmarshal([]byte(eval(t, p, fmt.Sprintf(covered, encoded))), &counts); err != nil {
			t.Fatal(err)
		}
		named, all = named+counts[0], all+counts[1]
	}
	t.Logf("%d of %d fields and buttons are named", named, all)
	if all == 0 || float64(named) < minCovered*float64(all) {
		t.Errorf("%d of %d fields and buttons are named", named, all)
	}
}
