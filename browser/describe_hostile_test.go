package browser

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"rote/routine"
)

// maxDescribed bounds the JSON of the description of an element, in bytes, and maxFoundJSON
// that of the elements that were found.
const (
	maxDescribed = 16 << 10
	maxFoundJSON = 32 << 10
)

// Whatever a page does, its elements are described in bounded and valid texts, and the page
// stays as it is.
func TestDescribeOnHostilePages(t *testing.T) {
	t.Parallel()
	const surrogates = `<script>for (const e of document.querySelectorAll('button,input')) for (const name of ['aria-label', 'title', 'pattern', 'placeholder'])
		e.setAttribute(name, 'x\ud800y')</script>`
	huge := strings.Repeat("y", 1<<20)
	for name, html := range map[string]string{
		"overridden prototypes": `<form><button id=b>Go</button><input id=i></form><script>
			for (const of of [Element.prototype, Node.prototype, Document.prototype, Array.prototype, String.prototype, Map.prototype, RegExp.prototype])
				for (const name of Object.getOwnPropertyNames(of)) try { Object.defineProperty(of, name, {value: () => { throw new Error('mine') }}) } catch {}
			JSON.stringify = () => 'no'; performance.now = () => Infinity</script>`,
		"fields that hide a form's own properties": `<form><input name=id><input name=matches><input name=getAttribute><input name=closest>
			<input name=querySelector><input name=elements><input name=localName><button id=b>Go</button><input id=i></form>`,
		"lone surrogates": `<button id=b>Go \ud800</button><input id=i>` + surrogates,
		"huge attributes": `<form action="/` + huge + `"><button id=b title="` + huge + `" aria-label="` + huge + `" class="` + strings.Repeat("c ", 1<<16) +
			`">Go</button><label for=i>` + huge + `</label><input id=i pattern="` + huge + `" min="` + huge + `" type=number></form>`,
		"many options":   `<button id=b>Go</button><select id=i>` + strings.Repeat("<option>"+strings.Repeat("option ", 30), 3000) + `</select>`,
		"many of a name": `<script>document.write('<p><button>Go</button></p>'.repeat(5000))</script><button id=b>Go</button><input id=i>`,
		"endless changes": `<div id=box></div><button id=b>Go</button><input id=i><script>
			(function turn() { document.getElementById('box').innerHTML = '<p>' + Math.random() + '</p>'; setTimeout(turn) })()</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, site(t, map[string]any{"/": html})+"/")
			for selector, use := range map[string]routine.ElementUse{"#b": routine.UseClick, "#i": routine.UseText} {
				d, err := onceIdle(testContext(t), func(ctx context.Context) (routine.ElementDescription, error) {
					return p.Describe(ctx, selector, use, []string{"s3cret"})
				})
				if err != nil || d.Matches != 1 || d.Selector == "" {
					t.Errorf("%s: %+v %v", selector, d, err)
				}
				checkBounded(t, d, maxDescribed)
			}
			found, err := onceIdle(testContext(t), func(ctx context.Context) ([]routine.FoundElement, error) {
				return p.FindElements(ctx, routine.ElementQuery{Use: routine.UseClick, Lost: "#bb", Alternatives: []string{"#b"},
					Target: routine.Target{Role: "button", Name: "Go", Near: "x"}})
			})
			if err != nil || len(found) == 0 || found[0].Alternative != 0 {
				t.Errorf("%+v %v", found, err)
			}
			checkBounded(t, found, maxFoundJSON)
			if _, err := onceIdle(testContext(t), func(ctx context.Context) ([]routine.Element, error) {
				return p.Nearest(ctx, routine.Inspection{Use: routine.UseClick, Selector: "#bb"})
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkBounded checks the size and the characters of an answer.
func checkBounded(t *testing.T, answer any, max int) {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil || len(text) > max || !utf8.Valid(text) {
		t.Errorf("%d bytes, at most %d are allowed: %.300s %v", len(text), max, text, err)
	}
}
