package browser

import (
	"strings"
	"testing"

	"rote/routine"
)

const form = `<h1>Order lookup</h1><form id=f onsubmit="return false"><label for=q>Name</label> <input id=q name=q autocomplete=off>
<button id=go type=button>Submit</button></form><p id=result></p><script>
document.getElementById('go').addEventListener('click', async () => {
  const p = document.getElementById('result');
  p.textContent = 'Hello, ' + document.getElementById('q').value + '!'; history.pushState(null, '', '/form?done=1');
});</script>`

// formTask is the five-step task: navigate, type, click, wait for the URL, read.
func formTask(t testing.TB, p *page, url string) {
	t.Helper()
	ctx := t.Context()
	if _, err := p.Navigate(ctx, url); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Type(ctx, routine.Typing{Selector: "#q", Text: "Ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Click(ctx, routine.Click{Selector: "#go", Button: "left", Count: 1, EnsureVisible: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.WaitURL(ctx, func(u string) (bool, error) { return strings.HasSuffix(u, "done=1"), nil }); err != nil {
		t.Fatal(err)
	}
	html, err := p.HTML(ctx, "#result")
	if err != nil || html != `<p id="result">Hello, Ada!</p>` {
		t.Fatal(html, err)
	}
}

func TestFormTask(t *testing.T) {
	formTask(t, openPage(t, ""), site(t, map[string]any{"/form": form})+"/form")
}

func click(selector string) routine.Click {
	return routine.Click{Selector: selector, Button: "left", Count: 1, EnsureVisible: true}
}

func TestClickThatLeadsNowhereFails(t *testing.T) {
	url := site(t, map[string]any{"/": `<a id=denied href="http://192.0.2.1/">x</a> <a id=gone href="http://127.0.0.1:18998/">x</a>`})
	_, err := openPage(t, url+"/").Click(testContext(t), click("#denied"))
	wantCode(t, err, routine.CodeEgressDenied, "192.0.2.1")
	_, err = openPage(t, url+"/").Click(testContext(t), click("#gone"))
	wantCode(t, err, routine.CodeNavigationFailed, "127.0.0.1:18998")
}

func TestScroll(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<div id=s style="height:100px;overflow:auto"><div style="height:900px"></div></div><div style="height:5000px;width:3000px"></div>`})+"/")
	n := func(f float64) *float64 { return &f }
	for _, r := range []struct {
		name   string
		scroll routine.Scroll
		want   string
	}{
		{"absolute", routine.Scroll{X: n(10), Y: n(700)}, "[10,700,0]"},
		{"relative", routine.Scroll{DeltaY: n(-100)}, "[10,600,0]"},
		{"smooth is awaited", routine.Scroll{Y: n(1500), Smooth: true}, "[10,1500,0]"},
		{"out of range is no error", routine.Scroll{Y: n(-50)}, "[10,0,0]"},
		{"an element", routine.Scroll{Selector: "#s", DeltaY: n(40)}, "[10,0,40]"},
	} {
		if err := p.Scroll(testContext(t), r.scroll); err != nil {
			t.Fatal(r.name, err)
		}
		if got := eval(t, p, `(() => [scrollX, scrollY, document.getElementById('s').scrollTop])()`); got != r.want {
			t.Fatalf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}
