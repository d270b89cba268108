package browser

import (
	"context"
	"testing"
	"time"

	"rote/routine"
)

// A page that copies a secret into an attribute, as React does with the value of a field, does
// not let an author find out by selectors what the secret begins with. Selectors that compare
// other attributes work.
func TestSelectorsCompareNoSecret(t *testing.T) {
	t.Parallel()
	const copying = `<form onsubmit="return false"><input id=p name=password type=password pattern="[a-m].*" oninput="setAttribute('value', value);
			setTimeout(() => document.querySelector('i').dataset.late = value, 300)">
		<button id=b type=submit onclick="document.title = 'clicked'">Log in</button><i>x</i></form><x-y></x-y><script>
		document.querySelector('x-y').attachShadow({mode: 'open'}).innerHTML = '<p>shadow</p>'
		p.addEventListener('input', () => { document.querySelector('x-y').shadowRoot.firstChild.title = p.value })</script>`
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "full" {
				onlyWhole(t)
			}
			url := site(t, map[string]any{"/": copying, "/next": `<i data-late=c></i>`})
			for _, row := range []struct {
				selector         string
				present, refused bool
			}{
				{`#b`, true, false},
				{`button[type=submit], [name^="pass"]`, true, false},
				{`input[value]`, true, false},
				{`input[value^="c"]`, true, true},
				{`input[value^="x"]`, false, true},
				{`form:has([VALUE*='orse']) button`, true, true},
				{`[v\61lue^="c"]`, true, true},
				{`p[title^="c"]`, true, true},
				{`#p:valid`, true, true},
				{`#b:not(:has(~ :invalid))`, true, true},
			} {
				t.Run(row.selector, func(t *testing.T) {
					for _, secret := range []bool{false, true} {
						p, ctx := mustOpen(t, kind.browser()), testContext(t)
						typing := shopTyping(func(t *routine.Typing) { t.Text, t.Release.Texts = strayPassword, []routine.Hidden{strayPassword} })
						if !secret {
							typing.Release = nil
						}
						if _, err := p.Navigate(ctx, url+"/"); err != nil {
							t.Fatal(err)
						}
						if _, err := p.Type(ctx, typing); err != nil {
							t.Fatal(err)
						}
						present, err := p.Present(ctx, row.selector)
						if refused := secret && row.refused; refused {
							wantCode(t, err, routine.CodeSecretExposed, "may not be searched")
						} else if err != nil || present != row.present {
							t.Errorf("secret %v: present %v, %v", secret, present, err)
						}
					}
				})
			}
			t.Run("copied while the element is waited for", func(t *testing.T) {
				p, ctx := mustOpen(t, kind.browser()), testContext(t)
				for _, do := range []func() error{
					func() error { _, err := p.Navigate(ctx, url+"/"); return err },
					func() error { _, err := p.Type(ctx, shopTyping(nil)); return err },
				} {
					if err := do(); err != nil {
						t.Fatal(err)
					}
				}
				_, err := p.Click(ctx, routine.Click{Selector: `form:has([data-late]) [data-late^="` + typedPassword[:1] + `"]`})
				wantCode(t, err, routine.CodeSecretExposed, `holds secret shop`)
				brief, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
				defer cancel()
				_, err = p.Click(brief, routine.Click{Selector: `[data-late^="§"]`})
				wantCode(t, err, routine.CodeSecretExposed, `"i" holds secret shop`)
				if _, err := p.Look(ctx, routine.Look{Scope: `i[data-late^="a"]`}); routine.CodeOf(err) != routine.CodeSecretExposed {
					t.Errorf("look: %v", err)
				}
				if _, err := p.Navigate(ctx, url+"/next"); err != nil {
					t.Fatal(err)
				}
				if present, err := p.Present(ctx, `[data-late^="c"]`); !present || err != nil {
					t.Errorf("after the page was left: %v, %v", present, err)
				}
			})
		})
	}
}
