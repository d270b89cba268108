package browser

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// popups clicks selector and follows the window that the click opens.
func (a *attempt) popup(selector string) error {
	c := click(selector)
	c.FollowPopup = true
	_, err := a.p.tabs.Click(a.ctx, c)
	return err
}

// onTab clicks on the page of the operations.
func (a *attempt) onTab(selector string) error {
	_, err := a.p.tabs.Click(a.ctx, click(selector))
	return err
}

// tells fails unless an expression has the wanted value on the page of the
// operations.
func (a *attempt) tells(expression, want string) error {
	got, err := inHelper[string](a.ctx, a.p.tabs.current(a.ctx), "(() => "+expression+")")
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s is %s, want %s", expression, got, want)
	}
	return nil
}

// all calls the functions until one fails and returns its error.
func all(errs ...func() error) error {
	for _, do := range errs {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func opens(script string) string { return `<button id=b onclick="` + script + `">x</button>` }

func TestPopupsAreFollowed(t *testing.T) {
	t.Parallel()
	const next = `<title>next</title><button id=c onclick="document.title += '!'; opener?.say('c')">c</button>
		<button id=close onclick="opener?.say('closed'); window.close()">x</button>`
	inside := func(a *attempt) error {
		return all(func() error { return a.popup("#b") }, func() error { return a.onTab("#c") }, func() error { return a.tells("document.title", "next!") })
	}
	rows := []row{}
	for _, way := range []struct{ name, html string }{
		{"window.open", opens(`window.open('next')`)},
		{"a window with features", opens(`window.open('next', 'w', 'width=300,height=200')`)},
		{"without opener", opens(`window.open('next', '_blank', 'noopener')`)},
		{"a link", `<a id=b target=_blank href=next>x</a>`},
		{"a link with an opener", `<a id=b target=_blank rel=opener href=next>x</a>`},
		{"a form", `<form action=next target=f><button id=b>x</button></form>`},
		{"another site", `<a id=b target=_blank href="CROSS/next">x</a>`},
		{"another site with an opener", opens(`window.open('CROSS/next')`)},
		{"a window that is sent somewhere later", opens(`const w = window.open(''); setTimeout(() => w.location = 'next', 50)`)},
		{"a window that comes late", opens(`setTimeout(() => window.open('next'), 200)`)},
		{"a window that sends itself on", opens(`window.open('on')`)},
		{"a frame opens it", `<iframe src=in></iframe>`},
		{"a frame of another site opens it", `<iframe src="CROSS/in"></iframe>`},
	} {
		rows = append(rows, row{name: way.name, html: way.html, do: inside, then: `1`, is: `1`,
			site: map[string]any{"next": next, "on": `<script>location.replace('next')</script>`, "in": `<a id=b target=_blank href=next>x</a>`}})
	}
	site := map[string]any{"next": next, "slow": func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(200 * time.Millisecond):
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, next)
	}}
	rows = append(rows, []row{
		{name: "from a menu that opens under the mouse", site: site, log: "c;",
			html: `<style>#m{display:none}#h:hover #m{display:block}</style>
				<div id=h style="width:200px">menu<div id=m><a id=b onclick="window.open('next')">x</a></div></div>`,
			do: func(a *attempt) error {
				c := click("#b")
				c.FollowPopup, c.Hover = true, []string{"#h"}
				if _, err := a.p.tabs.Click(a.ctx, c); err != nil {
					return err
				}
				return a.onTab("#c")
			}},
		{name: "that is written by its opener",
			html: opens(`const w = window.open(''); w.document.write('<p id=c onclick=opener.say(1)>hi</p>'); w.document.close()`),
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.onTab("#c") })
			}, log: "1;"},
		{name: "the page of a server that takes time", html: opens(`window.open('slow')`), site: site, do: inside, log: "c;"},
		{name: "that closes by itself gives the page back", html: opens(`window.open('next')`) + `<button id=d onclick="say('d')">d</button>`,
			site: site, log: "closed;d;",
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.onTab("#close") }, func() error { return a.onTab("#d") })
			}},
		{name: "that closes after a while gives the page back to an operation that waits",
			html: opens(`window.open('later')`) + `<button id=d onclick="say('d')">d</button>`,
			site: map[string]any{"later": `<script>setTimeout(close, 400)</script>`}, log: "d;",
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.onTab("#d") })
			}},
		{name: "that its opener closes",
			html: opens(`w = window.open('next'); setTimeout(() => w.close(), 300)`) + `<button id=d onclick="say('d')">d</button>`, site: site,
			log: "d;",
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.onTab("#d") })
			}},
		{name: "that its opener closes before it is followed",
			html: opens(`window.open('next').close()`) + `<button id=d onclick="say('d')">d</button>`, site: site, log: "d;",
			do: func(a *attempt) error {
				before := a.p.currentWindows()
				return all(func() error { return a.onTab("#b") },
					func() error {
						return a.p.waitFor(a.ctx, func(navState) (bool, error) {
							return a.p.currentWindows().opened > before.opened && len(a.p.openPopups()) == 0, nil
						})
					},
					func() error { return a.p.tabs.followPopup(a.ctx, "#b", before) }, func() error { return a.onTab("#d") })
			}},
		{name: "that a key closes", html: opens(`window.open('keys')`) + `<button id=d onclick="say('d')">d</button>`, log: "d;",
			site: map[string]any{"keys": `<script>onkeydown = e => e.key === 'Escape' && close()</script>`},
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.p.tabs.Press(a.ctx, "Escape") }, func() error { return a.onTab("#d") })
			}},
		{name: "that is closed", html: opens(`window.open('next')`) + `<button id=d onclick="say('d')">d</button>`, site: site, log: "d;",
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.p.tabs.ClosePopup(a.ctx) }, func() error { return a.onTab("#d") })
			}},
		{name: "that is closed although it asks", html: opens(`window.open('asks')`) + `<button id=d onclick="say('d')">d</button>`, log: "d;",
			site: map[string]any{"asks": `<button id=c>c</button><script>onbeforeunload = e => e.preventDefault()</script>`},
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.onTab("#c") },
					func() error { return a.p.tabs.ClosePopup(a.ctx) }, func() error { return a.onTab("#d") })
			}},
		{name: "nothing is closed without one", html: b + `>x</button>`,
			do: func(a *attempt) error {
				return all(func() error { return a.p.tabs.ClosePopup(a.ctx) }, func() error { return a.onTab("#b") })
			},
			log: "b;"},
		{name: "a popup of a popup", html: opens(`window.open('mid')`),
			site: map[string]any{"mid": `<button id=b onclick="window.open('next')">x</button><button id=m onclick="opener.say('m')">m</button>`,
				"next": next}, log: "m;",
			do: func(a *attempt) error {
				return all(func() error { return a.popup("#b") }, func() error { return a.popup("#b") }, func() error { return a.onTab("#close") },
					func() error { return a.onTab("#m") })
			}},
		{name: "a window that loads anew under its name",
			html: `<button id=b onclick="window.open('next', 'w')">x</button><button id=a onclick="window.open('about:blank', 'w')">a</button>`,
			site: site, log: "c;",
			do: func(a *attempt) error {
				return all(func() error { return a.onTab("#a") }, func() error { return inside(a) })
			}},
		{name: "the first of several", html: opens(`window.open('next'); window.open('about:blank')`), site: site, do: inside, log: "c;",
			warns: "the page opened a popup"},
		{name: "without x-popup a warning names it", html: opens(`window.open('next')`), site: site,
			do: func(a *attempt) error { return a.onTab("#b") }, then: `1`, is: `1`, warns: `"x-popup": "follow"`},
		{name: "that opens none", html: b + `>x</button>`, do: func(a *attempt) error {
			ctx, cancel := context.WithTimeout(a.ctx, 1500*time.Millisecond)
			defer cancel()
			a.ctx = ctx
			return a.popup("#b")
		}, code: routine.CodeTimeout, words: `opened no window`},
		{name: "that cannot be reached", html: opens(`window.open('http://127.0.0.1:1/')`), do: func(a *attempt) error { return a.popup("#b") },
			code: routine.CodeNavigationFailed, words: "could not be opened"},
		{name: "that the policy refuses", html: opens(`window.open('http://192.0.2.1/')`), do: func(a *attempt) error { return a.popup("#b") },
			code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "an error page is followed with a warning", html: opens(`window.open('missing')`),
			do: func(a *attempt) error { return a.popup("#b") }, then: `1`, is: `1`, warns: "HTTP status 404"},
		{name: "an answer without a document", html: opens(`window.open('none')`), site: map[string]any{"none": func(w http.ResponseWriter,
			r *http.Request) {
			w.WriteHeader(204)
		}},
			do: func(a *attempt) error { return a.popup("#b") }, then: `1`, is: `1`},
		{name: "typing, keys, reading and waiting", html: opens(`window.open('form')`), log: "hi!;",
			site: map[string]any{"form": `<input id=i onchange="opener.say(value)"><a id=l href="#there">x</a>`},
			do: func(a *attempt) error {
				if err := a.popup("#b"); err != nil {
					return err
				}
				if _, err := a.p.tabs.Type(a.ctx, routine.Typing{Selector: "#i", Text: "hi"}); err != nil {
					return err
				}
				if err := a.p.tabs.Press(a.ctx, "Shift+1"); err != nil {
					return err
				}
				if err := a.onTab("#l"); err != nil {
					return err
				}
				if _, err := a.p.tabs.WaitURL(a.ctx, func(url string) (bool, error) { return strings.HasSuffix(url, "#there"), nil }); err != nil {
					return err
				}
				html, _, err := a.p.tabs.OuterHTML(a.ctx, "#l")
				if err == nil && !strings.Contains(html, "#there") {
					err = fmt.Errorf("html %q", html)
				}
				return err
			}},
	}...)
	holds(t, rows)
}
