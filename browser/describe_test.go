package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// describedPage has one of everything that Describe tells apart.
const describedPage = `<form action="/session" method=post><label for=u>User</label><input id=u name=user maxlength=10 pattern="[a-z]+" required>
<input type=password name=pw aria-label=PIN>
<button class=kXyZab type=submit><svg width=20 height=20><path d="M0 0h20v20H0z"/></svg>Sign in</button></form>
<form id=order><label>Pieces <input type=number name=n min=1 max=9 step=2></label>
<select name=branch aria-label=Branch><option value="">Choose<option hidden>Please select<option>Oslo<option>Bergen<option disabled>Vik</select>
<fieldset><legend>Speed</legend><label><input type=radio name=speed value=a>Slow</label><label><input type=radio name=speed value=b>Fast</label>
<label><input type=radio name=speed value="">None</label><label><input type=radio name=speed value=c disabled>Later</label></fieldset>
<label>Passengers <input name=passengers></label><label>Code <input autocomplete=one-time-code></label><label>Card <input name=cardNumber></label>
<div contenteditable aria-label=Note>x</div></form>
<table><tr><td>Desk lamp<td><button class=add>Add</button><tr><td>Floor lamp<td><button class=add>Add</button></table>
<form action=/find><input name=find aria-label=Find autocomplete=off><button id=find>Find</button><button id=menu type=button>Menu</button>
<button id=save formmethod=post>Save</button></form>
<button class=hidden style="display:none">Ghost</button><button class=hidden>Real</button>
<ul role=listbox aria-label=City><li role=option>Oslo<li role=option>Vik</ul>`

// description is the expected answer about one selector of describedPage.
var descriptions = []struct {
	name, selector string
	use            routine.ElementUse
	want           routine.ElementDescription
}{
	{"nothing", "#none", routine.UseClick, routine.ElementDescription{}},
	{"a field", "input:nth-of-type(1)[name=user]", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `input[name="user"]`, Grade: "A", GivenGrade: "D",
		Target: routine.Target{Role: "textbox", Name: "User", Matches: 1}, InLoginForm: true, FormMethod: "post", SubmitName: "Sign in",
		Field: &routine.Field{Label: "User", Type: "text", Pattern: "[a-z]+", MaxLength: 10, Required: true}}},
	{"an icon in a button", "form svg path", routine.UseClick, routine.ElementDescription{
		Matches: 1, Selector: `button[type="submit"]`, Grade: "B", GivenGrade: "D",
		Target: routine.Target{Role: "button", Name: "Sign in", Matches: 1}, InLoginForm: true, FormMethod: "post"}},
	{"a password", "[name=pw]", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `input[name="pw"]`, Grade: "A", GivenGrade: "A",
		Target: routine.Target{Role: "textbox", Name: "PIN", Matches: 1}, InLoginForm: true, FormMethod: "post", SubmitName: "Sign in",
		Field: &routine.Field{Label: "PIN", Type: "password", Secret: true}}},
	{"a number", "#order input", routine.UseText, routine.ElementDescription{
		Matches: 8, Selector: `input[name="n"]`, Grade: "A", GivenGrade: "B",
		Target: routine.Target{Role: "spinbutton", Name: "Pieces", Matches: 1},
		Field:  &routine.Field{Label: "Pieces", Type: "number", Min: "1", Max: "9", Step: "2"}}},
	{"a list", "select", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `select[name="branch"]`, Grade: "A", GivenGrade: "B",
		Target: routine.Target{Role: "combobox", Name: "Branch", Matches: 1},
		Field:  &routine.Field{Label: "Branch", Type: "select", Options: []string{"Oslo", "Bergen"}}}},
	{"a radio button", "[value=b]", routine.UseClick, routine.ElementDescription{
		Matches: 1, Selector: `input[value="b"]`, Grade: "A", GivenGrade: "A",
		Target: routine.Target{Role: "radio", Name: "Fast", Matches: 1},
		Field:  &routine.Field{Label: "Fast", Type: "radio", Options: []string{"Slow", "Fast"}, Values: []string{"a", "b"}}}},
	{"the label of a radio button", "fieldset label", routine.UseClick, routine.ElementDescription{
		Matches: 4, Selector: `label:has(input[value="a"])`, Grade: "B", GivenGrade: "C",
		Target: routine.Target{Role: "label", Name: "Slow", Matches: 1},
		Field:  &routine.Field{Label: "Slow", Type: "radio", Options: []string{"Slow", "Fast"}, Values: []string{"a", "b"}}}},
	{"no secret field", "[name=passengers]", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `input[name="passengers"]`, Grade: "A", GivenGrade: "A",
		Target: routine.Target{Role: "textbox", Name: "Passengers", Matches: 1},
		Field:  &routine.Field{Label: "Passengers", Type: "text"}}},
	{"a one-time code", "[autocomplete=one-time-code]", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `input[autocomplete="one-time-code"]`, Grade: "A", GivenGrade: "A",
		Target: routine.Target{Role: "textbox", Name: "Code", Matches: 1},
		Field:  &routine.Field{Label: "Code", Type: "text", Secret: true}}},
	{"the number of a card", "[name=cardNumber]", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `input[name="cardNumber"]`, Grade: "A", GivenGrade: "A",
		Target: routine.Target{Role: "textbox", Name: "Card", Matches: 1},
		Field:  &routine.Field{Label: "Card", Type: "text", Secret: true}}},
	{"an editor", "[contenteditable]", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `div[aria-label="Note"]`, Grade: "A", GivenGrade: "B",
		Target: routine.Target{Role: "textbox", Name: "Note", Matches: 1},
		Field:  &routine.Field{Label: "Note", Type: "contenteditable"}, Value: "x"}},
	{"a button in a row", "tr:nth-of-type(2) .add", routine.UseClick, routine.ElementDescription{
		Matches: 1, Selector: `tbody > tr:nth-of-type(2) > td:nth-of-type(2) > button`, Grade: "D", GivenGrade: "D",
		Target: routine.Target{Role: "button", Name: "Add", Near: "Floor lamp", Matches: 1}}},
	{"a button of a form that searches", "#find", routine.UseClick, routine.ElementDescription{
		Matches: 1, Selector: "#find", Grade: "A", GivenGrade: "A", Target: routine.Target{Role: "button", Name: "Find", Matches: 1}, FormMethod: "get"}},
	{"a field of such a form, which gets no suggestions", "[autocomplete=off]", routine.UseText, routine.ElementDescription{
		Matches: 1, Selector: `input[name="find"]`, Grade: "A", GivenGrade: "C", Target: routine.Target{Role: "textbox", Name: "Find", Matches: 1},
		FormMethod: "get", SubmitName: "Find", Field: &routine.Field{Label: "Find", Type: "text"}}},
	{"a button that submits nothing", "#menu", routine.UseClick, routine.ElementDescription{
		Matches: 1, Selector: "#menu", Grade: "A", GivenGrade: "A", Target: routine.Target{Role: "button", Name: "Menu", Matches: 1}}},
	{"a button with a method of its own", "#save", routine.UseClick, routine.ElementDescription{
		Matches: 1, Selector: "#save", Grade: "A", GivenGrade: "A", Target: routine.Target{Role: "button", Name: "Save", Matches: 1}, FormMethod: "post"}},
	{"the visible match", ".hidden", routine.UseClick, routine.ElementDescription{
		Matches: 2, GivenGrade: "C",
		Target: routine.Target{Role: "button", Name: "Real", Matches: 1}}},
	{"an option", "[role=option]", routine.UseClick, routine.ElementDescription{
		Matches: 2, GivenGrade: "B",
		Target: routine.Target{Role: "option", Name: "Oslo", Matches: 1},
		Field:  &routine.Field{Label: "City", Type: "listbox", Options: []string{"Oslo", "Vik"}, OptionsVary: true}}},
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": describedPage}) + "/"
	p := openPage(t, url)
	for _, c := range descriptions {
		d, err := p.Describe(testContext(t), c.selector, c.use, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.want.Matches > 0 {
			c.want.FrameURL = url
			if opened := time.UnixMilli(int64(d.DocumentAt)); time.Since(opened).Abs() > time.Hour {
				t.Errorf("%s: its document was opened at %v", c.name, opened)
			}
			c.want.DocumentAt = d.DocumentAt
		}
		if c.want.Selector == "" {
			c.want.Selector, c.want.Grade = d.Selector, d.Grade
		}
		for _, selector := range d.Alternatives {
			if _, n, err := p.OuterHTML(testContext(t), selector); n != 1 {
				t.Errorf("%s: the alternative %s matches %d elements: %v", c.name, selector, n, err)
			}
		}
		c.want.Alternatives = d.Alternatives
		if diff := cmp.Diff(c.want, d); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	eval(t, p, `(() => document.querySelector('#order select').setAttribute('data-rote-mark', '1'))()`) // by a text form
	if d, err := p.Describe(testContext(t), `[data-rote-mark="1"]`, routine.UseText, nil); err != nil || d.Selector != `select[name="branch"]` ||
		strings.Contains(strings.Join(d.Alternatives, " "), "data-rote-mark") {
		t.Errorf("the marked list: %+v %v", d, err)
	}
	_, err := p.Describe(testContext(t), "a[", routine.UseClick, nil)
	wantCode(t, err, routine.CodeElementNotFound, "no CSS selector")
}

// Secrets are in no name, and no selector is made of them.
func TestDescribeMasksSecrets(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<button id=s3cret class=go aria-label="Delete s3cret">x</button>`})+"/?q=s3cret")
	d, err := p.Describe(testContext(t), "button", routine.UseClick, []string{"s3cret"})
	if err != nil || d.Selector != "button.go" || d.Target.Name != "" ||
		strings.Contains(strings.Join(d.Alternatives, " ")+d.FrameURL, "s3cret") {
		t.Errorf("%+v %v", d, err)
	}
}

// Elements in frames of other origins and in shadow roots are described like others, with
// selectors that find no element before them.
func TestDescribeInFramesAndShadowRoots(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "full" && testing.Short() {
				t.Skip("on the shell only")
			}
			inner := site(t, map[string]any{"/": `<section id=inner><label>Name <input name=user></label><b id=in></b></section>`})
			other := strings.Replace(inner, "127.0.0.1", "localhost", 1) + "/"
			p := mustOpen(t, kind.browser())
			url := site(t, map[string]any{"/": `<label>Name <input name=user></label><iframe src="` + other + `"></iframe><x-a></x-a>
				<script>document.querySelector('x-a').attachShadow({mode: 'open'}).innerHTML = '<button class=go><i>Go</i></button>'</script>`})
			if _, err := p.Navigate(testContext(t), url+"/"); err != nil {
				t.Fatal(err)
			}
			if _, err := p.HTML(testContext(t), "#in"); err != nil { // the frame is there
				t.Fatal(err)
			}
			d, err := p.Describe(testContext(t), "#inner input", routine.UseText, nil)
			if err != nil || d.Matches != 1 || d.Selector != `#inner input[name="user"]` || d.FrameURL != other || d.Target.Matches != 2 ||
				d.Field == nil || d.Field.Label != "Name" {
				t.Errorf("in the frame: %+v %v", d, err)
			}
			if d, err = p.Describe(testContext(t), "input", routine.UseText, nil); err != nil || d.Matches != 2 || d.Selector != `input[name="user"]` {
				t.Errorf("in the page: %+v %v", d, err)
			}
			if d, err = p.Describe(testContext(t), "i", routine.UseClick, nil); err != nil || d.Selector != "button.go" || d.Target.Name != "Go" {
				t.Errorf("in the shadow root: %+v %v", d, err)
			}
		})
	}
}

// What an operation could have meant is named as evidence names it, and the page stays usable.
func TestNearest(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": shop(`<button id=buy-now onclick="say('right')">Buy now</button>`)})+"/")
	found, err := p.Nearest(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#buy"})
	if err != nil || len(found) == 0 || found[0].Selector != "#buy-now" {
		t.Fatalf("%+v %v", found, err)
	}
	if _, err := p.Click(testContext(t), click(found[0].Selector)); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, p, `(() => document.getElementById('log').textContent)()`); got != `"right;"` {
		t.Errorf("log %s", got)
	}
}

// WaitQuiet waits for requests and changes, but not without end.
func TestWaitQuiet(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(quietRequests + 200*time.Millisecond):
			fmt.Fprint(w, "here")
		case <-r.Context().Done():
		}
	}
	url := site(t, map[string]any{
		"/still": `<p>still</p>`,
		"/late": `<p id=p></p><script>setTimeout(() => fetch('/data').then(r => r.text()).then(text => {
			document.getElementById('p').textContent = text }), 100)</script>`,
		"/data":     slow,
		"/changes":  `<p id=p></p><script>setInterval(() => p.textContent = Math.random(), 20)</script>`,
		"/animated": `<p id=p>x</p><script>setInterval(() => p.style.left = Math.random() + 'px', 20)</script>`,
		"/hostile": `<p id=p></p><script>MutationObserver.prototype.observe = null; performance.now = () => 0;
			(function turn() { p.innerHTML = '<b>x</b>'.repeat(99); setTimeout(turn) })()</script>`,
		"/hangs": `<p>x</p>`,
		"/shadow": `<x-a></x-a><script>const r = document.querySelector('x-a').attachShadow({mode: 'open'});
			setInterval(() => r.textContent = Math.random(), 20)</script>`,
	})
	for _, c := range []struct {
		path  string
		least time.Duration
	}{{"/still", quietRequests}, {"/animated", quietRequests}, {"/changes", maxQuietWait}, {"/hostile", maxQuietWait},
		{"/shadow", maxQuietWait}, {"/hangs", maxQuietWait}} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, url+c.path)
			if c.path == "/hangs" {
				eval(t, p, `(() => { setTimeout(() => { for (const end = Date.now() + 4000; Date.now() < end;); }) })()`)
			}
			took, err := p.WaitQuiet(testContext(t))
			if err != nil || took < c.least {
				t.Errorf("took %v, want at least %v: %v", took, c.least, err)
			}
		})
	}
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		p := openPage(t, url+"/late")
		if took, err := p.WaitQuiet(testContext(t)); err != nil || took >= maxQuietWait {
			t.Errorf("took %v: %v", took, err)
		}
		if got := eval(t, p, `(() => document.getElementById('p').textContent)()`); got != `"here"` {
			t.Errorf("the page has %s", got)
		}
	})
}

// choosingPage has lists that change, and lists that do not.
const choosingPage = `<label>Make <select name=make><option value="">Choose</option><option>Aurora<option>Corvid</select></label>
<label>Model <select name=model><option>any</select></label><label>Year <select name=year></select></label>
<label>City <input name=city list=cities><datalist id=cities><option value=Oslo></datalist></label>
<label>Size <select name=size><option>S<option>S<option>M</select></label>
<label>Cover <select name=cover><option>Full &nbsp; cover<option>Half</select></label>
<label>Gap <select name=gap><option>` + "A\u200bB" + `<option>C</select></label>
<label><input type=radio name=kind value=car>Car</label><label><input type=radio name=kind value=van>Van</label>
<label><input type=radio name=fuel value=gas>Gas</label>`

// TestDescribeListsThatVary: Describe tells the options that came with the document from
// those that may be others next time.
func TestDescribeListsThatVary(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": choosingPage})+"/")
	field := func(selector string) routine.Field {
		t.Helper()
		d, err := p.Describe(testContext(t), selector, routine.UseText, nil)
		if err != nil || d.Field == nil {
			t.Fatalf("%s: %+v, %v", selector, d, err)
		}
		return *d.Field
	}
	if _, err := p.Look(testContext(t), routine.Look{MaxBytes: 1000}); err != nil { // what came with the document
		t.Fatal(err)
	}
	eval(t, p, `(() => { document.querySelector('[name=model]').replaceChildren(new Option('M1'), new Option('M2'));
		document.querySelector('[name=year]').append(new Option('2024'));
		document.querySelector('[value=gas]').parentElement.insertAdjacentHTML('afterend', '<label><input type=radio name=fuel value=oil>Oil</label>');
		document.body.insertAdjacentHTML('beforeend', '<select name=late><option>A<option>B</select>') })()`)
	for selector, want := range map[string]struct {
		options string
		vary    bool
	}{
		"[name=make]":  {"Aurora Corvid", false},
		"[name=model]": {"M1 M2", true},
		"[name=year]":  {"2024", true},
		"[name=late]":  {"A B", true},
		"[name=city]":  {"Oslo", true},
		"[name=size]":  {"S M", true},
		"[name=cover]": {"Full cover Half", true}, // its label has another blank
		"[name=gap]":   {"AB C", true},
		"[value=car]":  {"Car Van", false},
		"[value=gas]":  {"Gas Oil", true},
	} {
		if f := field(selector); strings.Join(f.Options, " ") != want.options || f.OptionsVary != want.vary {
			t.Errorf("%s: %q, vary %v", selector, f.Options, f.OptionsVary)
		}
	}
}

// An element is in a dialog if that is one by its role, or a layer over most of the page.
func TestDescribeInDialog(t *testing.T) {
	t.Parallel()
	const b, app = `<button id=b>OK</button>`, `<p>Shop</p>`
	layer := func(style string) string {
		return app + `<div style="position:fixed;` + style + `"><p>Cookies</p>` + b + `</div>`
	}
	for i, c := range []struct {
		name, html string
		want       bool
	}{
		{"on the page", app + b, false},
		{"in a dialog", app + `<dialog open>` + b + `</dialog>`, true},
		{"by its role", app + `<div role=alertdialog><p>` + b + `</div>`, true},
		{"a modal part", app + `<div aria-modal=true>` + b + `</div>`, true},
		{"in a shadow root", app + `<div role=dialog><x-b><template shadowrootmode=open>` + b + `</template></x-b></div>`, true},
		{"in a frame", app + `<div role=dialog><iframe srcdoc="<button id=b>OK</button>"></iframe></div>`, true},
		{"a layer", layer("inset:0;z-index:9"), true},
		{"a bar", layer("inset:auto 0 0 0;height:60px;z-index:9"), false},
		{"the frame of an app", layer("inset:0"), false},
	} {
		p := openPage(t, site(t, map[string]any{"/": c.html})+"/")
		d, err := p.Describe(testContext(t), "#b", routine.UseClick, nil)
		if err != nil || d.Matches != 1 || d.InDialog != c.want {
			t.Errorf("%d %s: in a dialog %v, want %v (%d matches, %v)", i, c.name, d.InDialog, c.want, d.Matches, err)
		}
	}
}
