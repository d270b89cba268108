package browser

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/color"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// shop puts a product's part between what a page also has. Its right button
// says so in the log.
func shop(product string) string {
	return `<pre id=log></pre><script>var say = s => document.getElementById('log').textContent += s + ';'</script>
<header><a href="/">Home</a> <nav><a class="nav-link" href="/deals">Deals</a> <a class="nav-link" href="/help">Help</a> <a class="nav-link" href="/account">Your account</a></nav>
<form role=search><input name=q type=search placeholder="Search the shop"><button class="search-go">Search</button></form></header>
<main><h1>Kettle</h1>` + product + `<button class="wish">Add to wish list</button> <button class="share">Share</button></main>
<footer><form><input type=email name=mail placeholder="Your e-mail"><button class="subscribe">Subscribe</button></form><a href="/imprint">Imprint</a></footer>`
}

// first is the first element of the evidence that has no problem.
const first = "first"

// mistakes are ten mistakes that authors of routines make, each with what a reader
// of the evidence would click next.
var mistakes = []struct {
	name, product, selector string
	problem                 string // of the element that the selector matches
	next                    []string
}{
	{"wrong id", `<button id=buy-now onclick="say('right')">Buy now</button>`, "#buy", "", []string{first}},
	{"renamed class", `<button class="css-1x2y3z9 purchase-button" onclick="say('right')">Order</button>`, "button.btn-purchase-v2", "", []string{first}},
	{"in a frame", `<iframe id=checkout
		srcdoc="<p>Pay</p><a href='#t'>Terms</a><button class=pay onclick=&quot;parent.say('right')&quot;>Pay</button>"></iframe>`,
		"#checkout button.pay", "", []string{first}},
	{"in shadow DOM", `<buy-box></buy-box><script>document.querySelector('buy-box').attachShadow({mode: 'open'}).innerHTML =
		'<input name=n><button class="add" onclick="say(\'right\')">Add to cart</button>'</script>`, "buy-box button", "", []string{first}},
	{"covered", `<button id=buy onclick="say('right')">Buy</button><div class=consent style="position:fixed;inset:0;background:#0008">
		<div role=dialog><p>Cookies?</p><button class=agree onclick="document.querySelector('.consent').remove()">Agree</button></div></div>`,
		"#buy", "is covered by div.consent", []string{first, "#buy"}},
	{"disabled", `<form><label>
		<input type=checkbox name=terms required onchange="document.getElementById('buy').disabled = !this.checked"> I accept the terms
		</label><button type=button id=buy disabled onclick="say('right')">Buy</button></form>`,
		"#buy", "is disabled", []string{first, "#buy"}},
	{"too early", `<div id=box></div><script>fetch('/stock').then(() =>
		document.getElementById('box').innerHTML = '<button id=buy onclick="say(\'right\')">Buy</button>')</script>`,
		"#buy", "", []string{first}},
	{"two matches", `<button class=buy disabled>Buy new</button><button class=buy disabled>Buy used</button>
		<button class="buy-refurbished" onclick="say('right')">Buy refurbished</button>`, ".buy", "is disabled", []string{first}},
	{"hidden twin", `<button id=buy style="display:none" onclick="say('trap')">Buy now</button>
		<button class="product-cta" onclick="say('right')">Buy now</button>`, "#buy", "is not displayed (display: none)", []string{first}},
	{"off-screen", `<button id=buy style="position:absolute;left:-9999px" onclick="say('trap')">Buy now</button>
		<button name=order onclick="say('right')">Buy now</button>`, "#buy", "is outside the visible page", []string{first}},
}

// The evidence of a failed click is enough to know what to click instead.
func TestEvidenceNamesTheRightSelector(t *testing.T) {
	t.Parallel()
	gates := make([]chan struct{}, len(mistakes)) // the stock is known when closed
	pages := map[string]any{}
	for i, m := range mistakes {
		gates[i] = make(chan struct{})
		pages[fmt.Sprintf("/%d/", i)] = shop(m.product)
	}
	pages["/stock"] = func(_ http.ResponseWriter, r *http.Request) {
		var i int
		_, _ = fmt.Sscanf(r.Header.Get("Referer")[len("http://"+r.Host):], "/%d/", &i)
		select {
		case <-gates[i]:
		case <-r.Context().Done():
		}
	}
	url := site(t, pages)
	for i, m := range mistakes {
		if sampled(shared, i) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			at := fmt.Sprintf("%s/%d/", url, i)
			p := openPage(t, at)
			if _, err := p.Click(shortContext(t), click(m.selector)); err == nil {
				t.Fatal("the click did not fail")
			}
			close(gates[i])
			e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: m.selector})
			problem := ""
			var usable []string
			for _, x := range e.Elements {
				if x.Matched && problem == "" {
					problem = x.Problem
				}
				if x.Problem == "" {
					usable = append(usable, x.Selector)
				}
			}
			if problem != m.problem || len(usable) == 0 {
				t.Fatalf("the match's problem is %q, want %q; the elements are %+v", problem, m.problem, e.Elements)
			}
			again := openPage(t, at)
			for _, next := range m.next {
				if next == first {
					next = usable[0]
				}
				if _, err := again.Click(testContext(t), click(next)); err != nil {
					t.Fatalf("%v; the elements were %+v", err, e.Elements)
				}
			}
			if got := eval(t, again, `(() => document.getElementById('log').textContent)()`); got != `"right;"` {
				t.Fatalf("log %s; the elements were %+v", got, e.Elements)
			}
		})
	}
}

// shownRows are elements of a page, some of which show a secret: seen reports whether a
// screenshot may show the element's text.
var shownRows = []shownRow{
	{"text", `<p>plain</p>`, true},
	{"a field", `<input value=plain>`, true},
	{"a password", `<input type=password value=anything>`, false},
	{"a one-time code", `<input autocomplete="section-a one-time-code" value=123456>`, false},
	{"a field that holds a secret", `<input value="my s3cret key">`, false},
	{"a text area that holds a secret", `<textarea>s3cret</textarea>`, false},
	{"text that holds a secret", `<p>Hello s3cret!</p>`, false},
	{"a hint in a field", `<input placeholder=s3cret>`, false},
	{"a choice", `<select><option>s3cret</select>`, false},
	{"text that holds it in parts", `<p>s3<i style="visibility:visible">cr</i>et</p>`, false},
	{"in another spelling", `<p>s3%63ret</p>`, false},
	{"in a shadow root", `<b-x></b-x><script>document.querySelector('b-x').attachShadow({mode: 'open'}).innerHTML = '<p>s3cret</p>'</script>`, false},
	{"in a frame", `<iframe style="border:0" srcdoc="<p>s3cret</p>"></iframe>`, false},
	{"in a frame of another origin", `<iframe style="border:0" src="data:text/html,s3cret"></iframe>`, false},
	{"drawn", `<canvas id=c></canvas><script>
		{const x = document.getElementById('c').getContext('2d'); x.font = '30px serif'; x.fillText('s3cret', 0, 30)}</script>`, false},
	{"a choice by its label", `<select><option label="my s3cret">x</select>`, false},
	{"a group of choices", `<select size=3><optgroup label=s3cret><option>x</select>`, false},
	{"another choice", `<select><option>x</select>`, true},
	{"in front of it", `<style>#before::before { content: attr(data-x) }</style><p id=before data-x=s3cret></p>`, false},
	{"behind it", `<style>#after::after { content: "my S3" "cret"; visibility: visible }</style><p id=after></p>`, false},
	{"partly in front of it", `<style>#half::before { content: "s3" }</style><p id=half>cret</p>`, false},
	{"escaped", `<style>#escaped::before { content: "\73 3cret" }</style><p id=escaped></p>`, false},
	{"around a box of none", `<style>#none { display: contents } #none::before { content: "s3cret" }</style><p id=none></p>`, false},
	{"quotes", `<style>#quotes { quotes: "s3cret" "x" } #quotes::before { content: open-quote }</style><p id=quotes></p>`, false},
	{"a bullet", `<ul style="margin: 0; padding-left: 200px; list-style-type: 's3cret'"><li></li></ul>`, false},
	{"a text in front of it", `<style>#plain::before { content: "plain" }</style><p id=plain></p>`, true},
	{"a number of a list", `<ol start=4711 style="margin: 0; padding-left: 100px"><li></li></ol>`, false},
	{"a counter", `<style>#counter { counter-reset: n 4711 } #counter::before { content: counter(n) }</style><p id=counter></p>`, false},
	{"a number in other words", `<p>4,711.00</p>`, false},
	{"another number", `<p>47</p>`, true},
	{"a missing image", `<img alt=s3cret style="width: 200px; height: 38px" src="/none">`, false},
	{"a button", `<input type=submit value="s3cret">`, false},
	{"a background",
		`<p style='height: 40px; background: url("data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22><text y=%2230%22>s3cret</text></svg>")'></p>`,
		false},
	{"a coded background", `<style>#coded::before { content: ""; display: block; height: 40px;
		background: url("data:image/svg+xml;base64,CODED") }</style><p id=coded></p>`, false},
	{"an image", `<img style="height: 40px" src='data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><text y="30">s%33cret</text></svg>'>`, false},
	{"another image", `<img style="height: 40px" src='data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><text y="30">plain</text></svg>'>`, true},
	{"a drawing", `<svg height=40><defs><text id=drawn y=30>s3cret</text></defs><use href="#drawn"/></svg>`, false},
	{"folded white space", `<p>s3 cret</p>`, false},
	{"in capitals", `<p style="text-transform: uppercase">s3cret</p>`, false},
	{"in a closed shadow root", `<b-z></b-z><script>document.querySelector('b-z').attachShadow({mode: 'closed'}).innerHTML = '<p>s3cret</p>'</script>`, false},
	{"in a closed one in a frame", `<iframe style="border:0" srcdoc="<b-z><template shadowrootmode=closed>s3cret</template></b-z>"></iframe>`, false},
	{"in a closed one in a closed one",
		`<b-v><template shadowrootmode=closed><b-w><template shadowrootmode=closed><p>s3cret</template></b-w></template></b-v>`, false},
	{"between shadow and light",
		`<b-y>cret</b-y><script>document.querySelector('b-y').attachShadow({mode: 'open'}).innerHTML = '<p>s3<slot></slot></p>'</script>`, false},
	{"one that the page shows again", `<p id=again>s3cret</p>` +
		`<script>setInterval(() => document.getElementById('again').removeAttribute('style'))</script>`, false},
	{"one with a slow style", `<p style="transition:all 9s;visibility:visible!important">s3cret</p>`, false},
}

type shownRow struct {
	name, html string
	seen       bool
}

// The picture shows what is in view, but no secret: each row is an element at a
// place of its own, which is dark in the picture when its text is seen.
func TestScreenshotShowsNoSecret(t *testing.T) {
	p, secrets := pageOfRows(t, shownRows)
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#b", Secrets: secrets})
	if e.Screenshot == nil {
		t.Fatal("there is no screenshot")
	}
	checkRows(t, shownRows, e.Screenshot)
}

// pageOfRows is a page with the rows, and its secrets.
func pageOfRows(t *testing.T, rows []shownRow) (*page, []string) {
	t.Helper()
	coded := base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><text y="30">s3cret</text></svg>`))
	html := `<style>* {font: 20px serif} div {position: absolute; left: 0; height: 40px; width: 400px; overflow: hidden} p, input, textarea {margin: 0; border: 0; outline: 0}</style>`
	for i, r := range rows {
		html += fmt.Sprintf(`<div style="left:%dpx;top:%dpx">%s</div>`, 420*(i/19), 40*(i%19), strings.ReplaceAll(r.html, "CODED", coded))
	}
	return openPage(t, site(t, map[string]any{"/": html})+"/"), []string{"s3cret", "s3%63ret", coded[70:76], "4711"}
}

// checkRows checks which of the rows a screenshot shows.
func checkRows(t *testing.T, rows []shownRow, s *routine.Screenshot) {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(s.Data))
	if err != nil || picture.Bounds().Dx() != s.Width || picture.Bounds().Dy() != s.Height || s.Size != len(s.Data) {
		t.Fatalf("%+v %v %v", s.ContentType, picture.Bounds(), err)
	}
	for i, r := range rows {
		seen := false
		for y := 40*(i%19) + 2; y < 40*(i%19)+38; y++ {
			for x := 420 * (i / 19); x < 420*(i/19)+400; x++ {
				if luma := color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y; luma < 100 {
					seen = true
				}
			}
		}
		if seen != r.seen {
			t.Errorf("%s: seen %v", r.name, seen)
		}
	}
}

// A screenshot stays small even if the page is very detailed.
func TestScreenshotIsSmall(t *testing.T) {
	const noise = `<canvas id=c width=1280 height=800 style="position:fixed;inset:0"></canvas><script>
const x = c.getContext('2d'), d = x.createImageData(1280, 800); for (let i = 0; i < d.data.length; i++) d.data[i] = i % 4 === 3 ? 255 : Math.random() * 256; x.putImageData(d, 0, 0)</script>`
	p := openPage(t, site(t, map[string]any{"/": noise})+"/")
	e := p.Evidence(testContext(t), routine.Inspection{})
	if e.Screenshot == nil || e.Screenshot.Size > 100<<10 || e.Screenshot.Width < 640 {
		t.Fatalf("%+v", e.Screenshot)
	}
}

// Evidence quotes the texts of the page, but never the values of its fields.
func TestEvidenceOfElements(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<title>The  shop</title>
<input name=user value=ada><textarea id=note>private</textarea><div id=editor contenteditable>draft</div><input type=password name=pw value=hunter2>
<input type=submit value=Send><input type=hidden name=csrf value=x><label for=agree>I agree</label><input type=checkbox id=agree>
<button aria-label="s3cret words"><svg></svg></button><button>` + strings.Repeat("x", 55) + `s3cret</button><button data-testid=s3cret-7>t</button>
<button id=item-48213 class="is-open css-1a2b3c">Odd</button><ul><li><button>Del</button></li><li><button>Del</button></li></ul>
<span style="cursor:pointer" class=chip>Chip <b>1</b></span><button name='a"b\\c'>Quote</button>`})+"/")
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseText, Selector: "#user", Secrets: []string{"s3cret"}})
	want := []routine.Element{
		{Selector: `input[name="user"]`, Role: "textbox"},
		{Selector: "#note", Role: "textbox"}, {Selector: "#editor", Role: "textbox"}, {Selector: `input[name="pw"]`, Role: "textbox"},
	}
	if diff := cmp.Diff(want, e.Elements[:4]); diff != "" || e.Title != "The shop" {
		t.Errorf("%s %q", diff, e.Title)
	}
	p = openPage(t, p.now().url)
	e = p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Secrets: []string{"s3cret"}})
	want = []routine.Element{
		{Selector: `input[value="Send"]`, Role: "button", Text: "Send"},
		{Selector: "#agree", Role: "checkbox", Text: "I agree"},
		{Selector: "body > button:nth-of-type(1)", Role: "button", Text: "*** words"},
		{Selector: "body > button:nth-of-type(2)", Role: "button", Text: strings.Repeat("x", 55) + "***"},
		{Selector: "body > button:nth-of-type(3)", Role: "button", Text: "t"},
		{Selector: "#item-48213", Role: "button", Text: "Odd"},
		{Selector: "ul > li:nth-of-type(1) > button", Role: "button", Text: "Del"},
		{Selector: "ul > li:nth-of-type(2) > button", Role: "button", Text: "Del"},
		{Selector: `button[name="a\"b\\\\c"]`, Role: "button", Text: "Quote"},
		{Selector: `input[name="user"]`, Role: "textbox"}, {Selector: "#note", Role: "textbox"}, {Selector: "#editor", Role: "textbox"}, {Selector: `input[name="pw"]`, Role: "textbox"},
		{Selector: "span.chip", Role: "span", Text: "Chip 1"},
	}
	if diff := cmp.Diff(want, e.Elements); diff != "" {
		t.Error(diff)
	}
	p = openPage(t, p.now().url)
	for _, x := range e.Elements {
		if got := eval(t, p, fmt.Sprintf(`(() => document.querySelectorAll(%q).length)()`, x.Selector)); got != "1" {
			t.Errorf("%s matches %s elements", x.Selector, got)
		}
	}
}

// Evidence includes frames of other origins, with selectors that match only there.
func TestEvidenceOfFrames(t *testing.T) {
	t.Parallel()
	bank := site(t, map[string]any{"/": `<pre id=log></pre><button class=pay onclick="log.textContent += 'right;'">Pay</button><button class=back>Back</button>`})
	url := site(t, map[string]any{"/": `<button class=back>Back</button><iframe width=600 height=300 src="` + bank + `"></iframe>`})
	p := openPage(t, url+"/")
	if _, err := p.HTML(testContext(t), ".pay"); err != nil { // it is there
		t.Fatal(err)
	}
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "iframe #pay"})
	want := []routine.Element{{Selector: "button.pay", Role: "button", Text: "Pay", Where: "in a frame of " + strings.TrimPrefix(bank, "http://")},
		{Selector: "button.back", Role: "button", Text: "Back"}}
	if diff := cmp.Diff(want, e.Elements); diff != "" || e.Screenshot == nil || e.Text != "Back | Pay Back" {
		t.Error(diff)
	}
	p = openPage(t, url+"/")
	if _, err := p.Click(testContext(t), click("button.pay")); err != nil {
		t.Fatal(err)
	}
}

// Selectors are not masked, so they contain nothing that may be secret.
func TestEvidenceSelectorsHoldNoValues(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<input value=typed><a href="/reset?token=abc">Reset</a><a href="/a?page=2">Next</a>
<input type=radio name=size value=l><input type=radio name=size value=m><div class=box tabindex=0>Note <textarea>private</textarea></div><button id="a$b" class="a$b" name="a$b">Mine</button>`})+"/")
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Secrets: []string{"a$b"}})
	want := []routine.Element{
		{Selector: `input[value="l"]`, Role: "radio"}, {Selector: `input[value="m"]`, Role: "radio"}, {Selector: "button", Role: "button", Text: "Mine"},
		{Selector: "body > a:nth-of-type(1)", Role: "link", Text: "Reset"}, {Selector: `a[href="/a?page=2"]`, Role: "link", Text: "Next"},
		{Selector: "body > input:nth-of-type(1)", Role: "textbox"}, {Selector: "div.box", Role: "div"}, {Selector: "textarea", Role: "textbox"},
	}
	if diff := cmp.Diff(want, e.Elements); diff != "" {
		t.Error(diff)
	}
}

// The last words of a page tell why an element is missing.
func TestEvidenceOfWhatWentWrong(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{
		"/": `<script>console.log('start', 1); setTimeout(() => { none() }); fetch('/stock', {method: 'POST', body: 'x'}).finally(() =>
			fetch('http://127.0.0.1:1/gone')).catch(() => document.title = 'done')</script>`,
		"/stock": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	})
	p := openPage(t, url+"/")
	eval(t, p, `(async () => { while (document.title !== 'done') await new Promise(r => setTimeout(r, 5)) })()`)
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#b"})
	if got := strings.Join(e.Console, "|"); got != "log: start 1|exception: Uncaught ReferenceError: none is not defined (line 1)" {
		t.Errorf("console %s", got)
	}
	want := []routine.FailedRequest{{Method: "POST", URL: url + "/stock", Status: 503}, {Method: "GET", URL: "http://127.0.0.1:1/gone", Error: "ERR_UNSAFE_PORT"}}
	if diff := cmp.Diff(want, e.FailedRequests); diff != "" || e.URL != url+"/" {
		t.Errorf("%s at %s", diff, e.URL)
	}
}

// A page that hangs is stopped and then inspected. After a crash of the page or the
// browser, the evidence still has the URL. None of these delays the run.
func TestEvidenceOfPagesThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": `<title>T</title><button id=b>x</button>`})
	const hang = `(() => { setTimeout(() => { for (;;); }) })()`
	t.Run("hung", func(t *testing.T) {
		b := own(t)
		b.outlineTime = 500 * time.Millisecond
		p := mustOpen(t, b)
		if _, err := p.Navigate(testContext(t), url+"/"); err != nil {
			t.Fatal(err)
		}
		eval(t, p, hang)
		e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#c"})
		if e.URL != url+"/" || e.Title != "T" || len(e.Elements) != 1 || e.Screenshot == nil {
			t.Errorf("%+v", e)
		}
	})
	t.Run("hung, and time is short", func(t *testing.T) {
		p := openPage(t, url+"/")
		eval(t, p, hang)
		if e := p.Evidence(shortContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#c"}); e.URL != url+"/" || e.Elements != nil || e.Screenshot != nil {
			t.Errorf("%+v", e)
		}
	})
	t.Run("crashed", func(t *testing.T) {
		p := openPage(t, url+"/")
		p.crash()
		if e := p.Evidence(testContext(t), routine.Inspection{}); e.URL != url+"/" || e.Elements != nil || e.Screenshot != nil {
			t.Errorf("%+v", e)
		}
	})
	t.Run("not yet anywhere", func(t *testing.T) {
		if e := openPage(t, "").Evidence(testContext(t), routine.Inspection{Selector: "#b"}); e.URL != "about:blank" || e.Elements == nil || len(e.Elements) > 0 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("a page that could not be reached", func(t *testing.T) {
		p := openPage(t, url+"/")
		_, err := p.Navigate(testContext(t), "http://127.0.0.1:1/x")
		wantCode(t, err, routine.CodeNavigationFailed, "could not be opened")
		if e := p.Evidence(testContext(t), routine.Inspection{}); e.URL != "http://127.0.0.1:1/x" {
			t.Errorf("%+v", e)
		}
	})
}

// On a page of any size the likeliest is found.
func TestEvidenceOfAHugePage(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": strings.Repeat(`<p class="row buy"><button class=x>buy</button></p>`, 20000) + `<button id=buy-now>Buy</button>`})+"/")
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#buy"})
	if len(e.Elements) == 0 || e.Elements[0].Selector != "#buy-now" {
		t.Errorf("%+v", e.Elements)
	}
}
