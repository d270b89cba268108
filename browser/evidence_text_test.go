package browser

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// The text starts with what a person would read first: alerts, then the content. It
// has no typed text, no hidden text, and no navigation or footer.
func TestEvidenceQuotesThePage(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, html, want string }{
		{"a refused login", `<nav>Home Deals</nav><form><h1>Sign in</h1><label>Name <input value=ada></label>
			<p class=hint>Wrong  <b>pass</b>word</p><button>Go</button></form><footer>Imprint</footer>`, "Sign in Name Wrong password Go"},
		{"an alert below", `<main><p>` + strings.Repeat("word ", 100) + `</p><div role=alert>Sold out</div></main>`, "Sold out | " + strings.TrimSpace(strings.Repeat("word ", 58))},
		{"alerts in one another, and one not shown", `<div class=alert-box><p class=error>No stock</p></div><p class=error hidden>Offline</p>`, "No stock"},
		{"what was put in", `<p>a</p><textarea>mine</textarea><div contenteditable>mine</div><select><option>x</select><script>1</script><style>i{}</style><p style="opacity:0">mine</p>`, "a"},
		{"secrets, also in parts", `<p>pw s3<b>cr</b>et <i>s3cret</i></p><p class=error>s3cret!</p>`, "pw *** *** ***!"},
		{"nothing but what stands around", `<header>Down for <br>repair</header>`, "Down for repair"},
		{"a shadow root", `<x-a></x-a><p>b</p><script>document.querySelector('x-a').attachShadow({mode:'open'}).innerHTML = '<p role=alert>No</p>'</script>`, "No b"},
		{"nothing", ``, ""},
		{"a header that only its name tells", `<div class="site-header"><a>Home</a> <a>Deals</a> <button>Menu</button></div>` +
			`<div id=sideNav><a>One</a> <a>Two</a></div>
			<div><p>Your order</p></div><div class=card-header>Total</div>`, "Your order Total | Home Deals Menu | One Two"},
		{"a main part in a shadow root", `<x-app></x-app><script>document.querySelector('x-app').attachShadow({mode:'open'}).innerHTML =
			'<div>Skip</div><header>Shop</header><main><p>Cart</p></main>'</script>`, "Cart"},
		{"a frame of a long page", `<p>` + strings.Repeat("word ", 100) + `</p><iframe srcdoc="<header>Bank</header><p>Sign in here</p>"></iframe>`,
			strings.TrimSpace(strings.Repeat("word ", 57)) + " | Sign in here"},
		{"a frame with all that matters", `<header>Shop</header><iframe srcdoc="<main>Sign in here</main>"></iframe>`, "Sign in here | Shop"},
	}
	pages := map[string]any{}
	for _, r := range rows {
		pages["/"+strings.ReplaceAll(r.name, " ", "-")] = r.html
	}
	url := site(t, pages)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, url+"/"+strings.ReplaceAll(r.name, " ", "-"))
			e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Secrets: []string{"s3cret"}})
			if e.Text != r.want {
				t.Errorf("got  %q\nwant %q", e.Text, r.want)
			}
		})
	}
}

// For an operation that only reads, the evidence lists elements of any kind whose
// names are similar to the selector's.
func TestEvidenceForReadingOperations(t *testing.T) {
	t.Parallel()
	p := site(t, map[string]any{
		"/table": `<a href=/x>Home</a><button>Go</button><table id=t><tr><td>1</table>`,
		"/none":  `<p>Nothing to see</p>`,
		"/class": `<button>Go</button><div id=x><ul class=hits><li>1</ul></div><div class=search-reslts hidden>2</div>`,
	})
	for _, r := range []struct {
		at       string
		use      routine.ElementUse
		selector string
		want     []string // the first
	}{
		{"/table", routine.UseRead, "table#tab", []string{"#t"}},
		{"/table", routine.UseRead, "#table", []string{"#t"}},
		{"/class", routine.UseRead, "ul.results", []string{"ul.hits"}},
		{"/none", routine.UseRead, "#tab", nil},
	} {
		e := openPage(t, p+r.at).Evidence(testContext(t), routine.Inspection{Use: r.use, Selector: r.selector})
		var got []string
		for _, x := range e.Elements[:min(len(e.Elements), len(r.want))] {
			got = append(got, x.Selector)
		}
		if diff := cmp.Diff(r.want, got); diff != "" {
			t.Errorf("%s: %s of %v", r.selector, diff, e.Elements)
		}
	}
	// What is not shown can be read all the same.
	e := openPage(t, p+"/class").Evidence(testContext(t), routine.Inspection{Use: routine.UseRead, Selector: ".search-results"})
	if x := e.Elements[0]; x.Selector != "div.search-reslts" || x.Problem != "" {
		t.Errorf("%+v", e.Elements)
	}
}

// What a frame of another origin says comes before the header of the page, and has room
// beside a long text.
func TestEvidenceQuotesFrames(t *testing.T) {
	t.Parallel()
	bank := site(t, map[string]any{"/": `<header>Bank</header><main>Sign in here</main><button class=pay>Pay</button>`})
	frame := `<iframe width=600 height=300 src="` + bank + `"></iframe>`
	for html, want := range map[string]string{
		`<header>Shop</header>` + frame:                       "Sign in here | Shop",
		`<p>` + strings.Repeat("word ", 100) + `</p>` + frame: strings.Repeat("word ", 56) + "word… | Sign in here",
	} {
		p := openPage(t, site(t, map[string]any{"/": html})+"/")
		if _, err := p.HTML(testContext(t), ".pay"); err != nil { // it is there
			t.Fatal(err)
		}
		if e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick}); e.Text != want {
			t.Errorf("got  %q\nwant %q", e.Text, want)
		}
	}
}
