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
