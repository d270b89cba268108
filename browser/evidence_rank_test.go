package browser

import (
	"fmt"
	"testing"

	"rote/routine"
)

// renamed are pages whose element, the one with data-right, is called otherwise
// than the selector of a routine has it.
var renamed = []struct {
	name           string
	use            routine.ElementUse
	html, selector string
}{
	{"login button", "click", `<header><a href=/signup class="btn">Sign up</a></header><form><input name=u><input type=password name=p>
		<a href=/forgot>Forgot password?</a><button type=submit class="btn btn-primary" data-right>Sign in</button></form>
		<button class="btn btn-google">Continue with Google</button>`, "#login-btn"},
	{"username field", "text", `<form role=search><input type=search name=q placeholder=Search></form><form>
		<input id=email name=email type=email placeholder="Email address" data-right><input type=password name=password></form>`,
		"input[name=username]"},
	{"search icon", "click", `<button aria-label="Open menu">=</button><input name=q><button aria-label="Search" data-right>
		<svg width=20 height=20></svg></button><button aria-label=Account>a</button>`, ".search-btn"},
	{"next page", "click", `<a class=page-link href="?page=1">1</a><a class=page-link href="?page=2">2</a>
		<a class=page-link href="?page=3">3</a><a rel=next href="?page=2#n" data-right>Next page →</a>`, "a.next"},
	{"add to bag", "click", `<button data-testid="wishlist-add" class="Button_root__x8Tq2">Add to wishlist</button>
		<button data-testid="add-to-bag" class="Button_root__x8Tq2" data-right>Add to bag</button>`, "#addToCart"},
	{"cookies", "click", `<a href=/x>News</a><div class=cc><p>We use cookies</p><button class="cc-manage">Manage</button>
		<button class="cc-deny">Reject</button><button class="cc-allow" data-right>Allow all</button></div>`, "button.accept-cookies"},
	{"pdf", "click", `<a href=/invoices>Invoices</a><a href="/invoices/12.csv" class="link">CSV</a><a href="/invoices/12.pdf" class="link" data-right>PDF</a>`, "#download-pdf"},
	{"checkout form", "click", `<form role=search><input name=q><button>Search</button></form><form id=checkout-form><input name=a>
		<button data-right>Place order</button></form><form><input name=n><button>Subscribe</button></form>`, "form#checkout .submit"},
	{"german", "click", `<form role=search><input name=q><button>Suche</button></form><form><input name=a><button class="btn-absenden" data-right>Absenden</button></form>`, "#submit"},
	{"menu", "click", `<a href=/>Home</a><div class="hamburger" role=button aria-label="Open menu" tabindex=0 data-right>≡</div><button>Search</button>`, ".menu-toggle"},
	{"qty plus", "click", `<button class="stepper__dec" aria-label="Decrease quantity">-</button><input name=n value=1>
		<button class="stepper__inc" aria-label="Increase quantity" data-right>+</button><button>Add</button>`, "#qty-plus"},
	{"edit row", "click", `<table><tr><td>a<td><a class="action-edit" href="/users/6/edit" data-right>Edit</a>
		<a class=action-del href="/users/6/del">Delete</a><tr><td>b<td><a class="action-edit" href="/users/7/edit">Edit</a></table>`, "td:nth-child(3) a.edit"},
	{"continue", "click", `<button id=btn-back>Back</button><button id=btn-next data-right>Continue</button>`, "#continue"},
	{"country", "text", `<input name=q><select name="shipping_state"><option>x</select><select name="shipping_country" data-right><option>x</select>`,
		"select#country"},
	{"password", "text", `<input name=q><input name=user><input type=password id=user_pass data-right><button>Go</button>`, "#pw"},
	{"nested shadow", "click", `<my-app></my-app><button>Other</button><script>
		const a = document.querySelector('my-app').attachShadow({mode:'open'});
		a.innerHTML = '<my-login></my-login><button>Help</button>';
		a.querySelector('my-login').attachShadow({mode:'open'}).innerHTML = '<input><button class=go data-right>Log in</button>'</script>`,
		"my-app my-login button"},
	{"nested frame", "click", `<button>Share</button>
		<iframe width=600 height=400 srcdoc="<iframe width=400 height=300 srcdoc='<button class=vjs-big-play-button title=&quot;Play Video&quot;
		data-right>P</button>'></iframe>"></iframe>`, "iframe button#play"},
	{"newsletter modal", "click", `<button id=buy>Buy</button><div class="modal" style="position:fixed;inset:0;background:#fff">
		<input name=mail><button>Subscribe</button><button class="modal__close" aria-label="Close" data-right>×</button></div>`, "#buy"},
	{"size first", "click", `<button class=wish>Wish</button><form><select name=size required data-right><option value="">Choose<option>M</select><button id=buy disabled>Buy</button></form>`, "#buy"},
	{"contact twin", "click", `<nav style="display:none"><a class=contact href=/contact>Contact us</a><a href=/a>About</a></nav><main>
		<a href=/p>Products</a></main><footer><a href=/imprint>Imprint</a><a href=/contact data-right>Contact us</a></footer>`, "nav a.contact"},
	{"typo", "click", `<button id=cancel>Cancel</button><button id=submit-order data-right>Order</button>`, "#sumbit-order"},
	{"typo in a search", "click", `<nav><a href=/>Search</a></nav><form role=search><input name=q><button id=search data-right>Search</button></form>`, "#serch"},
	{"react id", "click", `<button id=":r1:" aria-label="Close dialog" data-right>x</button><button id=":r3:">Save</button>`, "#:r7:"},
	{"tab", "click", `<div role=tab tabindex=0>Overview</div><div role=tab tabindex=-1 data-right>Reviews (12)</div><div role=tab tabindex=-1>Specs</div>`, "#reviews-tab"},
	{"result text", "read", `<div id=main><div class="results-list" data-right><p>x</p></div><div class=ads>x</div></div><a href=/>x</a>`, "#results"},
	{"price", "read", `<div class="product"><h1>x</h1><span class="product-price__current" data-right>9.99</span>` +
		`<span class="shipping">1.00</span></div><button>Buy</button>`,
		".price"},
	{"card", "click", `<ul><li class="card"><h3>A</h3><a href=/a>A</a><button class="card__add" data-right>Add to cart</button></li>
		<li class="card"><h3>B</h3><a href=/b>B</a><button class="card__add">Add to cart</button></li></ul>`, ".product-card:first-child .add"},
	{"newsletter", "text", `<form id=login><input type=email name=login placeholder=E-mail><input type=password name=p></form>
		<form class=newsletter><input type=email id=nl-mail placeholder="you@example.com" data-right><button>Go</button></form>`,
		"#newsletter_email"},
	{"submit link", "click", `<a href=/jobs>Jobs</a><button>Upload CV</button><a class="btn submit" role=button href=#s data-right>Submit application</a>`, "button[type=submit]"},
	{"pagination", "click", `<nav aria-label=Pagination><button aria-label="Previous page">‹</button><button>1</button><button>2</button>
		<button aria-label="Next page" data-right>›</button></nav><a href=/>Home</a>`, ".pagination .next a"},
	{"sort", "click", `<button id=filterButton>Filters</button><button aria-haspopup=listbox id=sortMenuButton data-right>Sort by: Relevance</button>`, "#dropdown-sort"},
	{"qa", "click", `<button data-qa="auth.google">Google</button><button data-qa="auth.submit" data-right>Log in</button><a href=/forgot>Forgot?</a>`, "[data-qa=login-submit]"},
	{"search field", "text", `<input name=zip placeholder=ZIP><input role=combobox aria-label="Search products" name=s data-right>`, "input#search"},
	{"close", "click", `<div role=dialog><h2>Hi</h2><button class="dlg-x" aria-label="Close" data-right>x</button><button>Learn more</button></div><button>Other</button>`, ".modal .close"},
}

// On each the right element is the first that the evidence names, and its
// selector matches nothing else.
func TestEvidenceRanksTheRightElementFirst(t *testing.T) {
	t.Parallel()
	pages := map[string]any{}
	for i, r := range renamed {
		pages[fmt.Sprintf("/%d", i)] = r.html
	}
	url := site(t, pages)
	for i, r := range renamed {
		if sampled(shared, i) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, fmt.Sprintf("%s/%d", url, i))
			e := p.Evidence(testContext(t), routine.Inspection{Use: r.use, Selector: r.selector})
			for _, x := range e.Elements {
				if x.Problem != "" {
					continue
				}
				if got := eval(t, p, fmt.Sprintf(matching, x.Selector)); got != "[true]" {
					t.Errorf("%s gives %s; the elements are %v", x.Selector, got, e.Elements)
				}
				return
			}
			t.Error("no element is usable")
		})
	}
}

// matching is an expression that lists for every match of a selector whether it is
// the right element.
const matching = `(() => {
  const all = root => [...root.querySelectorAll(%q)].map(e => e.hasAttribute('data-right')).concat(...[...root.querySelectorAll('*')].map(e =>
    e.shadowRoot ? all(e.shadowRoot) : e.tagName === 'IFRAME' ? all(e.contentDocument) : []));
  return all(document);
})()`
