package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// Lists and tables become one entry with fields; forms do not.
func TestLookTellsListsFromForms(t *testing.T) {
	t.Parallel()
	paragraphs := `<form action="/session" method=post><p><label>Customer <input name=customer></label></p><p><label>PIN <input type=password name=pin></label></p>
<p><label><input type=checkbox name=own> My device</label></p><p><button class=enter>Sign in</button></p></form>`
	var links, priced, modules strings.Builder
	for n := range 12 {
		fmt.Fprintf(&links, `<li class=category><a href="/c/%d">Category %d</a> (%d)</li>`, n, n, n)
		fmt.Fprintf(&priced, `<li class=card><h3><a href="/p/%d">Product %d</a></h3>
<span class=stars>%d stars</span> <span class=price>%d.00 €</span></li>`, n, n, n%5, n)
		fmt.Fprintf(&modules, `<li class="Product_card__KATCI"><img alt="" src="data:" width=9><a href="/p/%d">Product %d</a>
<b class="Product_price__OLEMA">%d.00 €</b> <b>new</b></li>`, n, n, n)
	}
	for _, row := range []struct {
		name, page string
		want, not  []string
	}{
		{"a form in paragraphs", paragraphs,
			[]string{`"Customer" | input[name="customer"]`, `password "PIN" | input[name="pin"]`, `checkbox "My device" | `, `button "Sign in" | `},
			[]string{"list "}},
		{"links", "<ul>" + links.String() + "</ul>", []string{"list 12 × | li.category", `"Category 1" → /c/1;`}, []string{"link "}},
		{"links with prices", "<ul>" + priced.String() + "</ul>",
			[]string{"list 12 × | li.card", `text "0.00 €" | span.price`, `text "0 stars" | span.stars`,
				`link "Product 0" → /p/0 | a`}, nil},
		{"classes of CSS modules", "<ol><li>First</ol><ul>" + modules.String() + "</ul>",
			[]string{`list 12 × | li[class*="Product_card__"]`, `text "0.00 €" | b[class*="Product_price__"]`, `items: "Product 0", "Product 1"`},
			[]string{"KATCI", "OLEMA", "image"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, site(t, map[string]any{"/": row.page})+"/")
			text := look(t, p, routine.Look{}).Text
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			for _, not := range row.not {
				if strings.Contains(text, not) {
					t.Errorf("%q is in\n%s", not, text)
				}
			}
		})
	}
}

// The page's own counts, and lists that have only the visible items in the page, are warned
// of.
func TestLookSaysThatThereMayBeMore(t *testing.T) {
	t.Parallel()
	rows := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `<div class=row style="height:20px"><b class=name>Row %d</b> <i class=price>%d</i></div>`, i, i)
		}
		return b.String()
	}
	virtual := `<div style="height:200px;overflow:auto"><div style="height:9000px">` + rows(20) + `</div></div>`
	for _, c := range []struct{ name, page, note, warning string }{
		{"a virtual list", virtual, "20 in the page now; more may come by scrolling", "20 are in the page now; more may come by scrolling"},
		{"rows between spacers", `<div><p style="height:900px"></p>` + rows(20) + `<p style="height:900px"></p></div>`,
			"more may come by scrolling", "more may come"},
		{"a count", `<p>20 of 163 rows</p><main>` + rows(20) + `</main>`, "", "the page speaks of 163, and 20 are in it now"},
		{"a range", `<p>21–40 von 1.163</p><main>` + rows(20) + `</main>`, "", "the page speaks of 1163"},
		{"a total", `<p>163 results</p><main>` + rows(20) + `</main>`, "", "the page speaks of 163"},
		{"all there are", `<p>20 results, 3 of 5 stars, 20 of 20</p><section style="height:3000px">` + rows(20) +
			`<img style="height:2000px" width=9></section>`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, site(t, map[string]any{"/": c.page})+"/")
			if text := look(t, p, routine.Look{}).Text; strings.Contains(text, "more may come") != (c.note != "") || !strings.Contains(text, c.note) {
				t.Errorf("want the note %q in\n%s", c.note, text)
			}
			seen := look(t, p, routine.Look{Extract: ".row"})
			warnings := strings.Join(seen.Extraction.Warnings, "; ")
			if (warnings == "") != (c.warning == "") || !strings.Contains(warnings, c.warning) || !strings.Contains(seen.Text, c.warning) {
				t.Errorf("the warnings are %q, want %q", warnings, c.warning)
			}
		})
	}
}

// Texts that a routine may return have their selectors, if these last.
func TestLookNamesTheSelectorsOfResults(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<p>Balance <output name=balance>12.00 €</output> of <b>yours</b></p><p role=status id=done>Saved</p>
		<p id=":r1:">Generated</p><p>Plain text</p><p>Owner: <span data-testid=owner>Ada</span>, <span id=gone style="display:none">hidden</span></p><x-a></x-a>
		<script>document.querySelector('x-a').attachShadow({mode: 'open'}).innerHTML = '<div>Price <output name=price>7 €</output></div>'</script>`})+"/")
	text := withoutNotice(t, look(t, p, routine.Look{}))
	want := `page / "" — 10 of 10 lines
"Balance 12.00 € of yours"
 text "12.00 €" | output[name="balance"]
status "Saved" | #done
"Generated"
"Plain text"
"Owner: Ada,"
 text "Ada" | [data-testid="owner"]
component <x-a>
 "Price 7 €"
  text "7 €" | output[name="price"]
component: selectors do not reach across its edge
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
}

// A table is one with a single row too, and no short text of it is left out: one character
// and the values of fields are contents.
func TestLookShowsShortTexts(t *testing.T) {
	t.Parallel()
	const cart = `<main><h1>Cart</h1><table class=cart><thead><tr><th>Item</th><th>Pieces</th></tr></thead><tbody>%s</tbody></table>
<form method=post action=/orders><button class=order>Place the order</button></form></main>`
	field := `<tr><td>Basket</td><td><input class=pieces name=%s aria-label=Pieces type=number value=%d></td></tr>`
	for _, row := range []struct {
		name, page, want string
	}{
		{"one row", fmt.Sprintf(cart, `<tr><td>Folding basket Terra</td><td>2</td></tr>`), `main
 h1 "Cart"
 table 1 row | table
  columns: "Item" | "Pieces"
  row: "Folding basket Terra" | "2"
 form POST /orders | form[action="/orders"]
  button "Place the order" | button
`},
		{"a field in one row", fmt.Sprintf("<table class=cart><tr><th>Item<th>Pieces</tr>"+field+"</table>", "a", 3), `table 1 row | table
 columns: "Item" | "Pieces"
 row: "Basket" | "3"
  number "Pieces" value "3" | input[name="a"]
`},
		{"a field in each row", "<table class=cart><tr><th>Item<th>Pieces</tr>" + fmt.Sprintf(field, "a", 3) + fmt.Sprintf(field, "b", 4) + "</table>",
			`table 2 rows | table
 columns: "Item" | "Pieces"
 row: "Basket" | "3"
 row: "Basket" | "4"
 number "Pieces" value "3" in each row | input[type="number"]
`},
		{"names of rows", "<table class=facts><tr><th>Name<td>Ada<tr><th>Age<td>7<tr><th>Size<td>M</table>", `table 3 rows | table
 row: "Name" | "Ada"
 row: "Age" | "7"
`},
		{"a table for two fields", "<table><tr><td>A<td><input name=a><tr><td>B<td><input name=b></table>", `"A"
text | input[name="a"]
"B"
text | input[name="b"]
`},
		{"loose texts", "<p>Basket<p>2<p>|<p>ä<p>·", `"Basket"
"2"
"ä"
`},
		{"a list of texts", "<ul class=sizes><li>S<li>M<li>L<li>9</ul>", `list 4 × | li
 items: "S", "M", "L", "9"
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, text, _ := strings.Cut(withoutNotice(t, look(t, openPage(t, site(t, map[string]any{"/": row.page})+"/"), routine.Look{})), "\n")
			if diff := cmp.Diff(row.want, text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The header counts the texts for which there is no room.
func TestLookCountsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for n := range 60 {
		fmt.Fprintf(&b, "<p>%d %s</p>", n, strings.Repeat("words ", 18))
	}
	seen := look(t, openPage(t, site(t, map[string]any{"/": b.String()})+"/"), routine.Look{})
	if want := fmt.Sprintf("— %d of 60 lines\n", len(seen.Lines)); seen.Total != 60 || len(seen.Lines) >= 60 || !strings.Contains(seen.Text, want) {
		t.Errorf("want %q and 60 in all, not %d, in\n%s", want, seen.Total, seen.Text)
	}
}

// The text of an extraction says what it is of, with characters as they are.
func TestExtractOfATable(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<table id=bought><tr><th>Größe<th>Price<tr><td>ä "b"<td>7 €<tr><td>c<td>8 €</table>`})+"/")
	text := look(t, p, routine.Look{Extract: "#bought"}).Text
	for _, want := range []string{`"#bought" is a table with 2 rows now.`, `{"gr_e":"ä \"b\"","price":"7 €"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

// A list in a frame of another origin cannot be extracted by a script of the page, and the
// error says what to do.
func TestExtractInAFrameOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	inner := strings.Replace(site(t, map[string]any{"/": `<p class=row>a<p class=row>b`}), "127.0.0.1", "localhost", 1)
	p := openPage(t, site(t, map[string]any{"/": `<iframe src="` + inner + `/"></iframe>`})+"/")
	if _, err := p.HTML(testContext(t), ".row"); err != nil { // the frame is there
		t.Fatal(err)
	}
	_, err := p.Look(testContext(t), routine.Look{Extract: ".row"})
	wantCode(t, err, routine.CodeElementNotFound, "frame of another origin")
}
