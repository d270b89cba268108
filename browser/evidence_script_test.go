package browser

import (
	"testing"
	"time"

	"rote/routine"
)

// A script that changed the document and is over costs the evidence nothing:
// its picture is there, and no question to the page waits for timers that no
// longer run.
func TestEvidenceAfterAScriptThatChangedThePage(t *testing.T) {
	frame := site(t, map[string]any{"/": `<button class=pay>Pay</button>`})
	url := site(t, map[string]any{"/": `<title>T</title><button id=b>x</button><iframe src="` + frame + `"></iframe>`})
	p := openPage(t, url+"/")
	if _, err := p.HTML(testContext(t), ".pay"); err != nil { // the frame is there
		t.Fatal(err)
	}
	if _, err := p.Evaluate(testContext(t), watchedScript(`(() => { document.querySelector('#b').textContent = 'changed' })()`)); err != nil {
		t.Fatal(err)
	}
	if !p.hasLeftovers() {
		t.Fatal("the script left nothing behind, so this test shows nothing")
	}
	start := time.Now()
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#c"})
	if e.Screenshot == nil || len(e.Elements) != 2 || e.Title != "T" {
		t.Errorf("%+v after %v", e, time.Since(start))
	}
}
