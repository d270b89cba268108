package browser

import (
	"encoding/json"
	"testing"

	"rote/routine"
	"rote/routine/javascript/facts"
)

// The script of an extraction waits for items that come after the page did, and still is
// proved to only read.
func TestExtractionWaitsForItems(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": `<ul></ul><table id=t></table><script>setTimeout(() => {
		document.querySelector('ul').innerHTML = '<li><a href="/a">One</a><b>1</b></li><li><a href="/b">Two</a><b>2</b></li>';
		document.querySelector('table').outerHTML = '<table id=later><tr><th>No<tr><td>7<tr><td>8</table>';
	}, 400)</script>`}) + "/"
	first := openPage(t, url)
	for _, selector := range []string{"ul li", "#later"} {
		eval(t, first, `(async () => { while (!document.querySelector('#later')) await new Promise(done => setTimeout(done, 20)); })()`)
		var operation struct {
			JS string `json:"js"`
		}
		x := look(t, first, routine.Look{Extract: selector}).Extraction
		if err := json.Unmarshal(x.Operations[0], &operation); err != nil {
			t.Fatal(err)
		}
		if !facts.Prove(operation.JS).Reads {
			t.Errorf("%s is not proved to only read", operation.JS)
		}
		var items []map[string]any
		if err := json.Unmarshal([]byte(eval(t, openPage(t, url), operation.JS)), &items); err != nil || len(items) != 2 {
			t.Errorf("%s returns %v, %v", operation.JS, items, err)
		}
	}
}
