package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// look describes the page and fails if its text is longer than it may be.
func look(t *testing.T, p *page, l routine.Look) routine.Seen {
	t.Helper()
	seen, err := onceIdle(testContext(t), func(ctx context.Context) (routine.Seen, error) { return p.Look(ctx, l) })
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.Text) > lookLimit(l) {
		t.Errorf("the text has %d bytes, at most %d are allowed", len(seen.Text), lookLimit(l))
	}
	return seen
}

// withoutNotice is the text of a look without its first line.
func withoutNotice(t *testing.T, seen routine.Seen) string {
	t.Helper()
	text, ok := strings.CutPrefix(seen.Text, routine.PageTextNotice+"\n")
	if !ok {
		t.Errorf("the text does not begin with the notice: %.100q", seen.Text)
	}
	return text
}

const loginPage = `<title>Sign in – Corner Bank</title>
<header><a href="/" aria-label="Corner Bank home"><svg width=20 height=20></svg></a>
<nav aria-label=Main><a href="/accounts">Accounts</a> <a href="/loans">Loans</a> <a href="/help">Help</a></nav></header>
<main><h1>Sign in</h1><p>Use your customer number. Never share your PIN with anybody.</p>
<form id=login method=post action="/session">
<label>Customer number <input name=customer id=":r1:" class=kXyZab required></label>
<label>PIN <input type=password name=pin id=":r2:" required></label>
<input name=website style="position:absolute;left:-9999px"><input name=phone style="opacity:0">
<label><input type=checkbox name=remember checked> Remember this device</label>
<label for=branch>Branch</label><select id=branch><option>Oslo<option>Bergen<option>Trondheim</select>
<button type=submit class=kXyZab>Sign in</button> <a href="/forgot?return=%2F">Forgot your PIN?</a></form>
<iframe title="Security check" width=300 height=120 src="CHECK"></iframe>
<iframe id=chat width=300 height=120 srcdoc="<p>Chat with us</p>
<textarea name=message aria-label='Your question'></textarea><button class=send>Send</button>"></iframe>
</main>
<div role=dialog aria-label=Cookies style="position:fixed;bottom:0;background:#fff"><p>We use cookies.</p>
<button id=accept-all>Accept all</button> <button id=reject>Only necessary</button></div>
<footer><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer>`

const loginLook = `page /login "Sign in – Corner Bank" — 31 of 31 lines
dialog open: "Cookies"
header
 link "Corner Bank home" → / | a[aria-label="Corner Bank home"]
 nav "Main"
  link "Accounts" | a[href="/accounts"]
  link "Loans" | a[href="/loans"]
  link "Help" | a[href="/help"]
main
 h1 "Sign in"
 "Use your customer number. Never share your PIN with anybody."
 form POST /session | #login
  text "Customer number" required | input[name="customer"]
  password "PIN" required | input[name="pin"]
  checkbox "Remember this device" checked | input[name="remember"]
  select "Branch" ["Oslo" | "Bergen" | "Trondheim"] | #branch
  button "Sign in" | button[type="submit"]
  link "Forgot your PIN?" | a[href="/forgot?return=%2F"]
 frame "Security check" CHECK (another origin) | iframe[title="Security check"]
  h2 "Are you a person?"
  checkbox "I am not a robot" | #robot
  button "Verify" | #verify
 frame about:srcdoc | #chat
  "Chat with us"
  text "Your question" | textarea[name="message"]
  button "Send" | button.send
dialog "Cookies" | div[aria-label="Cookies"]
 "We use cookies."
 button "Accept all" | #accept-all
 button "Only necessary" | #reject
footer
 link "Imprint" | a[href="/imprint"]
 link "Privacy" | a[href="/privacy"]
`

// loginSite is the URL of the login page and the URL of its frame of another origin.
func loginSite(t *testing.T) (page, check string) {
	check = strings.Replace(site(t, map[string]any{"/": `<h2>Are you a person?</h2>
<label><input type=checkbox id=robot> I am not a robot</label><button id=verify>Verify</button>`}),
		"127.0.0.1", "localhost", 1) + "/"
	return site(t, map[string]any{"/login": strings.ReplaceAll(loginPage, "CHECK", check)}) + "/login", check
}

// The look names each control that a person can use, in frames of every origin too, and no
// trap.
func TestLookAtALoginPage(t *testing.T) {
	url, check := loginSite(t)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "full" && testing.Short() {
				t.Skip("on the shell only")
			}
			p := mustOpen(t, kind.browser())
			if _, err := p.Navigate(testContext(t), url); err != nil {
				t.Fatal(err)
			}
			holdsLoginLook(t, p, check)
		})
	}
}

func holdsLoginLook(t *testing.T, p *page, check string) {
	t.Helper()
	if _, err := p.HTML(testContext(t), "#verify"); err != nil { // the frame is there
		t.Fatal(err)
	}
	seen := look(t, p, routine.Look{})
	t.Logf("%d bytes", len(seen.Text))
	if diff := cmp.Diff(strings.ReplaceAll(loginLook, "CHECK", check), withoutNotice(t, seen)); diff != "" || len(seen.Text) > 1331 { // 1.3 KB
		t.Errorf("%d bytes, difference:\n%s", len(seen.Text), diff)
	}
}

// lampShop is a page with a list of 40 products of 163.
func lampShop() string {
	var b strings.Builder
	b.WriteString(`<title>Lamps – Corner Shop</title><header><a href="/">Corner Shop</a>
<form role=search action="/search"><input type=search name=q aria-label=Search>
<button>Search</button></form><a id=cart href="/cart">Cart (0)</a></header><nav aria-label=Categories><ul>`)
	for _, c := range strings.Fields("Lamps Chairs Tables Rugs Beds Sofas Desks Shelves Mirrors Clocks Vases Plants Frames Candles") {
		fmt.Fprintf(&b, `<li><a href="/c/%s">%s</a></li>`, strings.ToLower(c), c)
	}
	b.WriteString(`</ul></nav><main><h1>Lamps</h1><p>40 of 163 products</p>
<label>Sort by <select id=sort><option>Popularity<option>Price, low to high<option>Price, high to low</select></label>
<fieldset><legend>Price</legend><label>From <input type=number name=min></label> <label>to <input type=number name=max></label>
<button id=apply>Apply</button></fieldset><ul class="css-1x2y3z">`)
	for n := range 40 {
		name := []string{"Desk", "Floor", "Reading", "Arc", "Wall"}[n%5] + " lamp " + []string{"Nord", "Sund", "Vik", "Fjell"}[n/5%4]
		badge := ""
		if n%6 == 0 {
			badge = `<span class=badge>Sale</span>`
		}
		fmt.Fprintf(&b, `<li class="product css-%x7q">%s<a class=cover href="/p/l-%d"><img src="data:," width=50 height=50 alt=%q></a>
<a class=title href="/p/l-%d">%s</a>
<span class=rating>%d of 5 stars</span> <span class=price>%d.00 €</span> <span class=stock>In stock</span> <button class=add>Add to cart</button></li>`,
			4096+n*977, badge, 100+n, name, 100+n, name, 1+n%5, 19+n)
	}
	b.WriteString(`</ul><nav aria-label=Pages><a href="?page=1" aria-current=page>1</a> <a href="?page=2">2</a>
<a href="?page=3">3</a> <a rel=next href="?page=2">Next</a></nav></main>
<footer><p>© Corner Shop</p><a href="/imprint">Imprint</a> <a href="/terms">Terms</a></footer>`)
	return b.String()
}

// A list of alike items is one entry with its fields.
func TestLookAtAListOfProducts(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/c/lamps": lampShop()})+"/c/lamps")
	text := look(t, p, routine.Look{}).Text
	t.Logf("%d bytes", len(text))
	if len(text) > 1638 { // 1.6 KB
		t.Errorf("%d bytes", len(text))
	}
	for _, want := range []string{"list 40 × | li.product\n", `text "19.00 €" | span.price`,
		`text "Sale" in 7 of 40 | span.badge`, `button "Add to cart" | button.add`,
		`h1 "Lamps"`, `select "Sort by" ["Popularity" | "Price, low to high" | "Price, high to low"] | #sort`, `number "From" | input[name="min"]`,
		`link "Next" → ?page=2 | a[rel="next"]`, `link "1" current | a[href="?page=1"]`,
		`link "2" → ?page=2 place or name | nav[aria-label="Pages"] > a:nth-of-type(2)`, `name: "x-target":{"role":"link","name":"2"} instead of the selector`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Less important lines are left out until the text has the size that was asked for.
func TestLookIsCutByImportance(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": lampShop()})+"/")
	small := look(t, p, routine.Look{MaxBytes: 1000})
	for _, want := range []string{"list 40 × | li.product", `| #sort`, `| input[name="min"]`, " more ", `| input[name="q"]`} {
		if !strings.Contains(small.Text, want) {
			t.Errorf("%q is missing in\n%s", want, small.Text)
		}
	}
	if strings.Contains(small.Text, "Imprint") || len(small.Lines) >= small.Total {
		t.Errorf("less important lines are there:\n%s", small.Text)
	}
	look(t, p, routine.Look{MaxBytes: 1}) // the least size
}

func TestLookAtAPartOfThePage(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": lampShop()})+"/")
	part := look(t, p, routine.Look{Scope: "fieldset"}).Text
	if !strings.Contains(part, "| #apply") || strings.Contains(part, "Corner Shop\" →") || strings.Contains(part, "li.product") {
		t.Errorf("the fieldset is\n%s", part)
	}
	items := look(t, p, routine.Look{Scope: "main ul", MaxBytes: routine.MaxLook}).Text
	if got := strings.Count(items, "item \""); got < 30 {
		t.Errorf("%d items are listed one by one:\n%s", got, items)
	}
	_, err := p.Look(testContext(t), routine.Look{Scope: "#none"})
	wantCode(t, err, routine.CodeElementNotFound, `nothing on the page matches the scope "#none"`)
}

func TestLookFindsWords(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": lampShop()})+"/")
	found := look(t, p, routine.Look{Find: "price HIGH"}).Text // in the options of a list
	if !strings.Contains(found, "| #sort") || strings.Contains(found, "Imprint") {
		t.Errorf("found\n%s", found)
	}
	one := look(t, p, routine.Look{Find: "58.00"}).Text // in one item
	if !strings.Contains(one, `item "`) || !strings.Contains(one, "58.00 €") {
		t.Errorf("found\n%s", one)
	}
	if none := look(t, p, routine.Look{Find: "zebra"}); len(none.Lines) > 0 || !strings.HasSuffix(none.Text, "\nno line has all of these words\n") {
		t.Errorf("found %v\n%s", none.Lines, none.Text)
	}
}

// What extract returns works as a script of a routine.
func TestLookExtracts(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": lampShop() + `<table id=orders><caption>Orders</caption>
<tr><th>No<th>Placed on<tr><td>7<td>2026-01-02<tr><td>8<td>2026-02-03<tr><td>9<td>2026-03-04</table>
<x-list></x-list><script>document.querySelector('x-list').attachShadow({mode: 'open'}).innerHTML =
'<div class=hit><b class=name>One</b></div><div class=hit><b class=name>Two</b></div>'</script>`})
	p := openPage(t, url+"/")
	for _, c := range []struct {
		selector, first string
		count           int
	}{
		{"li.product", `{"image":"data:,","name":"Desk lamp Nord","price":"19.00 €","rating":"1 of 5 stars","stock":"In stock","url":"` + url + `/p/l-100"}`, 40},
		{"#orders", `{"no":"7","placed_on":"2026-01-02"}`, 3},
		{"div.hit", `{"name":"One"}`, 2},
	} {
		x := look(t, p, routine.Look{Extract: c.selector}).Extraction
		var script string
		for _, o := range x.Operations[:1] {
			script = field(t, o, "js")
		}
		rows := eval(t, p, script)
		for _, part := range strings.Split(strings.Trim(c.first, "{}"), `,"`) {
			if !strings.Contains(rows[:min(len(rows), 600)], strings.TrimPrefix(part, `"`)) || x.Count != c.count {
				t.Errorf("%s: %d rows by %s: %.600s lack %s", c.selector, x.Count, script, rows, part)
			}
		}
	}
	_, err := p.Look(testContext(t), routine.Look{Extract: "#none"})
	wantCode(t, err, routine.CodeElementNotFound, "nothing on the page matches")
}

// A selector for an element in a frame of another origin finds no element outside of it.
func TestLookInAFrameWithTheSameNames(t *testing.T) {
	t.Parallel()
	form := `<label>Name <input name=user></label><button type=submit onclick="document.title = 'clicked'">Go</button>`
	check := strings.Replace(site(t, map[string]any{"/": `<section id=inner>` + form + `</section>`}), "127.0.0.1", "localhost", 1)
	p := openPage(t, site(t, map[string]any{"/": `<form>` + form + `</form><iframe width=400 height=200 src="` + check + `"></iframe>`})+"/")
	if _, err := p.HTML(testContext(t), "#inner"); err != nil { // the frame is there
		t.Fatal(err)
	}
	text := look(t, p, routine.Look{}).Text
	for _, want := range []string{`button "Go" | button[type="submit"]`, `button "Go" | #inner button`, `text "Name" | #inner input`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Controls in nested open shadow roots have selectors that a click finds.
func TestLookInShadowRoots(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<x-a></x-a><script>const a = document.querySelector('x-a').attachShadow({mode: 'open'});
a.innerHTML = '<h2>Quote</h2><x-b><span>slotted</span></x-b>'; a.querySelector('x-b').attachShadow({mode: 'open'}).innerHTML =
'<slot></slot><label>Date <input type=date name=day></label><button class=go onclick="document.title = 1">Go</button>'</script>`})+"/")
	seen := look(t, p, routine.Look{})
	for _, want := range []string{`h2 "Quote"`, `"slotted"`, `date "Date" | input[name="day"]`, `button "Go" | button.go`} {
		if !strings.Contains(seen.Text, want) {
			t.Errorf("%q is missing in\n%s", want, seen.Text)
		}
	}
	if _, err := p.Click(testContext(t), click("button.go")); err != nil {
		t.Error(err)
	}
}

// Nothing is shown that a click or typing would refuse because a person cannot see it.
func TestLookShowsNoTraps(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<input name=a style="display:none"><input name=b style="visibility:hidden">
<div style="opacity:0"><input name=c></div>
<div style="height:0;overflow:hidden"><input name=d></div><input name=e style="position:absolute;top:-500px">
<input name=f style="width:1px;height:1px;padding:0;border:0">
<div inert><button>g</button></div><div style="position:absolute;clip:rect(0,0,0,0)"><button>h</button></div><button id=real>i</button>
<label>j<input type=checkbox name=j style="opacity:0;position:absolute"></label><button id=off disabled>k</button>`})+"/")
	var selectors []string
	for _, x := range look(t, p, routine.Look{}).Lines {
		if x.Selector != "" {
			selectors = append(selectors, x.Selector)
		}
	}
	if diff := cmp.Diff([]string{"#real", `input[name="j"]`, "#off"}, selectors); diff != "" {
		t.Error(diff)
	}
}

// Values of fields are shown, but no secret one.
func TestLookMasksSecrets(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<title>For s3cret</title><input name=city value=Oslo><input name=pin value=4711>
<input type=password name=p value=hunter2>
<input name=a autocomplete=one-time-code value=123456><p>Your key is s3cret.</p><button aria-label="s3cret thing">x</button>
<a href="/x?k=s3cret">A link</a>`})+"/")
	text := look(t, p, routine.Look{Secrets: []string{"s3cret"}}).Text
	for _, hidden := range []string{"s3cret", "4711", "hunter2", "123456"} {
		if strings.Contains(text, hidden) {
			t.Errorf("%s is shown in\n%s", hidden, text)
		}
	}
	rows := look(t, p, routine.Look{Extract: "p", Secrets: []string{"s3cret"}}).Text
	if strings.Contains(rows, "s3cret") || !strings.Contains(rows, "Your key is ***.") {
		t.Errorf("extracted\n%s", rows)
	}
	if !strings.Contains(text, `value "Oslo"`) || !strings.Contains(text, "Your key is ***.") {
		t.Errorf("the text is\n%s", text)
	}
}

// A page that hangs is stopped and then described.
func TestLookAtAHungPage(t *testing.T) {
	b := own(t)
	b.lookTime = 500 * time.Millisecond
	p := mustOpen(t, b)
	if _, err := p.Navigate(testContext(t), site(t, map[string]any{"/": `<button id=b>x</button>`})+"/"); err != nil {
		t.Fatal(err)
	}
	eval(t, p, `(() => { setTimeout(() => { for (;;); }) })()`)
	if text := look(t, p, routine.Look{}).Text; !strings.Contains(text, "| #b") {
		t.Errorf("the text is\n%s", text)
	}
	eval(t, p, `1`) // the page is usable afterwards
}

// The look follows the popup that a run follows.
func TestTabsAreTeachable(t *testing.T) {
	t.Parallel()
	opened, err := shared.Open(testContext(t), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	if _, err := opened.Navigate(testContext(t), site(t, map[string]any{"/": `<button id=b>x</button>`})+"/"); err != nil {
		t.Fatal(err)
	}
	seen, err := opened.(routine.Teachable).Look(testContext(t), routine.Look{})
	if err != nil || !slices.ContainsFunc(seen.Lines, func(x routine.SeenLine) bool { return x.Selector == "#b" && x.Grade == "A" }) {
		t.Errorf("%+v %v", seen, err)
	}
}
