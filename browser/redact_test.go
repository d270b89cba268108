package browser

import (
	"bytes"
	"image/color"
	"image/jpeg"
	"testing"

	"rote/routine"
)

// A page cannot make blanked content visible in the screenshot: not by style rules
// that override an element's own style, not in the top layer, and not by replacing the
// functions of its own world.
func TestPagesCannotUndoTheBlanking(t *testing.T) {
	t.Parallel()
	const (
		shown      = `{ visibility: visible !important; opacity: 1 !important; display: block !important; transition: opacity 99s !important }`
		openRoot   = `<template shadowrootmode=open><style>:host` + shown + ` ::slotted(*)` + shown + `</style>`
		noBackdrop = `<style>::backdrop { display: none } dialog, [popover] { visibility: visible !important; opacity: 1 !important }</style>`
		image      = `url('data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22><text y=%2230%22>s3cret</text></svg>')`
	)
	closed := func(html, script string) string {
		return `<b-x></b-x><script>{ const root = document.querySelector('b-x').attachShadow({ mode: 'closed' });
			root.innerHTML = ` + "`" + html + "`; " + script + ` }</script>`
	}
	rows := []struct {
		name, html string
		seen       bool
	}{
		{"nothing to blank", `<p>plain`, true},
		{"text and other text", `<p>plain<p>s3cret`, true},
		{"a host's own rules", `<b-x>` + openRoot + `s3<slot></slot></template>cret</b-x>`, false},
		{"rules for what is slotted", `<b-x>` + openRoot + `<slot></slot></template><p>s3cret</p></b-x>`, false},
		{"a host's rules in a closed root", closed(`<style>:host`+shown+`</style><p>s3cret`, ``), false},
		{"a modal dialog in a closed root", closed(noBackdrop+`<dialog>s3cret</dialog>`, `root.querySelector('dialog').showModal()`), false},
		{"a popover in a closed root", closed(noBackdrop+`<p popover>s3cret</p>`, `root.querySelector('p').showPopover()`), false},
		{"a closed root, and a world of the page's own making", closed(`<p>s3cret`, `
			CSSStyleDeclaration.prototype.setProperty = Element.prototype.remove = Element.prototype.setAttribute = () => {};
			Object.defineProperty(HTMLElement.prototype, 'style', { get: () => ({ setProperty() {} }) })`), false},
		{"a closed root in one in a frame", `<iframe srcdoc='<b-y><template shadowrootmode=closed><style>:host` + shown + `</style>` +
			`<b-z><template shadowrootmode=closed>s3cret</template></b-z></template></b-y>'></iframe>`, false},
		{"a body that is a host", `<body><template shadowrootmode=open><style>:host` + shown + `</style>s3<slot></slot></template><p>cret`, false},
		{"a modal dialog in the element", noBackdrop + `<div>s3<dialog>cret</dialog></div><script>document.querySelector('dialog').showModal()</script>`, false},
		{"a popover in the element", noBackdrop + `<div>s3<p popover>cret</p></div><script>document.querySelector('p').showPopover()</script>`, false},
		{"a popover that is a host", noBackdrop + `
			<div>s3<p popover>` + openRoot + `<slot></slot></template>cret</p></div><script>document.querySelector('p').showPopover()</script>`, false},
		{"an image behind a dialog", `<style>::backdrop { visibility: visible !important; background: ` + image + ` !important }</style>
			<dialog style="border: 0; outline: 0"></dialog><script>document.querySelector('dialog').showModal()</script>`, false},
		{"a rule for what has been blanked", `<style>i { display: none } [style] ~ i { display: block }</style><p>s3cret</p><i>s3cret</i>`, false},
		{"a rule for what is not there", `<style>div:not(:has(b-x))::before { content: "s3cret" }</style><div>` + closed(`s3cret`, ``) + `</div>`, false},
		{"a transition between two views", `<style>::view-transition-group(*), ::view-transition-old(*) { animation: none 99s }</style><p>s3cret</p>
			<script>document.startViewTransition(() => document.querySelector('p').textContent = '')</script>`, false},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := kind.browser()
			for i, row := range rows {
				if sampledWatched(b, i) {
					continue
				}
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					p := guardedPage(t, b, site(t, map[string]any{"/": `<!doctype html><title>T</title><style>* { font: 20px serif }</style>` + row.html})+"/")
					checkCapture(t, p, row.seen)
					e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#none", Secrets: []string{"s3cret"}})
					if e.Screenshot == nil {
						if row.seen || row.name != "a transition between two views" {
							t.Fatal("there is no screenshot")
						}
						return
					}
					if dark := darkPixels(t, e.Screenshot); (dark > 0) != row.seen {
						t.Errorf("%d pixels are dark", dark)
					}
				})
			}
		})
	}
}

// checkCapture checks that a screenshot of a page that is used afterwards shows no secret
// either, or is refused, and that the page is as before.
func checkCapture(t *testing.T, p *page, seen bool) {
	t.Helper()
	const contents = `(() => [...document.querySelectorAll('*')].map(e => e.getAttribute('style')))()`
	before := eval(t, p, contents)
	picture, err := p.Capture(testContext(t), []string{"s3cret"})
	switch {
	case err != nil && (seen || routine.CodeOf(err) != routine.CodeForbidden):
		t.Error(err)
	case err == nil:
		if dark := darkPixels(t, picture); (dark > 0) != seen {
			t.Errorf("%d pixels are dark in the picture of the living page", dark)
		}
	}
	if after := eval(t, p, contents); after != before {
		t.Errorf("the page was %s and is %s", before, after)
	}
}

// darkPixels is how many pixels of a picture are as dark as text.
func darkPixels(t *testing.T, s *routine.Screenshot) (n int) {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(s.Data))
	if err != nil {
		t.Fatal(err)
	}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y < 100 {
				n++
			}
		}
	}
	return n
}
