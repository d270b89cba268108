package browser

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

// copying is the ways to copy the text "secret" on copyPage: what is clicked, and the
// keys that are pressed then.
var copying = []struct {
	name, click string
	keys        []string
}{
	{"a chord", "#i", []string{"Control+A", "Control+C"}},
	{"another chord", "#i", []string{"Control+A", "Control+Insert"}},
	{"Meta", "#i", []string{"Control+A", "Meta+c"}},
	{"cutting", "#i", []string{"Control+A", "Control+X"}},
	{"cutting with another chord", "#i", []string{"Control+A", "Shift+Delete"}},
	{"selecting alone", "#i", []string{"Control+A"}},
	{"the page's command", "#command", nil},
	{"the page's own data", "#data", nil},
	{"writeText", "#text", nil},
	{"write", "#items", nil},
	{"a page that opens its document anew", "#anew", []string{"Control+A", "Control+C"}},
}

const copyPage = `<input id=i value=secret><textarea id=t></textarea>
	<button id=command onclick="i.select(); say(document.execCommand('copy'))">command</button>
	<button id=data onclick="copied = e => { e.clipboardData.setData('text/plain', 'secret'); e.preventDefault(); e.stopPropagation() };
		addEventListener('copy', copied, { capture: true, once: true }); i.select(); say(document.execCommand('copy'))">data</button>
	<button id=text onclick="navigator.clipboard.writeText('secret').then(() => say('written'), e => say(e))">text</button>
	<button id=items onclick="navigator.clipboard.write([new ClipboardItem({ 'text/plain': 'secret', 'text/html': Promise.resolve(new Blob(['<b>secret</b>'],
		{ type: 'text/html' })) })]).then(() => say('written'), e => say(e))">items</button>
	<button id=anew onclick="document.open(); document.write('<input id=i value=secret autofocus><textarea id=t></textarea>');
		document.close(); i.focus()">anew</button>`

// copies does so on the page of an attempt.
func (a *attempt) copies(click string, keys []string) error {
	if err := a.click(click); err != nil {
		return err
	}
	return a.press(keys...)
}

// pastes clicks the field #t and presses the keys.
func (a *attempt) pastes(keys ...string) error {
	if err := a.click("#t"); err != nil {
		return err
	}
	return a.press(keys...)
}

// Each run has a clipboard of its own, which is empty at first: nothing that one
// run copies is pasted by another one, while the first is there or afterwards.
func TestEachRunHasAClipboard(t *testing.T) {
	t.Parallel()
	const other = `<textarea id=t></textarea><script>addEventListener('paste', e => say(e.clipboardData.types.length + e.clipboardData.getData('text')))
		onload = () => navigator.clipboard.readText().then(t => say('read ' + t), () => {})</script>`
	rows := []row{}
	for _, way := range copying {
		rows = append(rows, row{name: way.name, html: copyPage, site: map[string]any{"other": other}, do: func(a *attempt) error {
			if err := a.copies(way.click, way.keys); err != nil {
				return err
			}
			for _, when := range []string{"beside the other", "after the other"} {
				if when == "after the other" {
					a.p.Close()
				}
				b := &attempt{t: a.t, p: mustOpen(a.t, a.p.b), ctx: a.ctx, site: a.site}
				if _, err := b.p.Navigate(b.ctx, b.site+"other"); err != nil {
					return err
				}
				if err := b.pastes("Control+V", "Shift+Insert", "Control+Shift+V", "Meta+v"); err != nil {
					return err
				}
				c := click("#t")
				c.Button = "middle"
				if _, err := b.p.Click(b.ctx, c); err != nil {
					return err
				}
				got, err := inHelper[string](b.ctx, b.p, "(() => document.querySelector('#t').value)")
				if err != nil || got != "" {
					return fmt.Errorf("%s: pasted %q, %v", when, got, err)
				}
				b.want(`LOG`, `"0;0;0;0;"`)
				a.p = b.p
			}
			return nil
		}, then: `t.value`, is: `""`})
	}
	holds(t, rows)
}

// A run can paste what it has copied, on any page.
func TestCopyAndPaste(t *testing.T) {
	t.Parallel()
	rows := []row{}
	for _, way := range copying {
		if way.name != "selecting alone" {
			rows = append(rows, row{name: way.name, html: copyPage, then: `t.value`, is: `"secretsecret"`, do: func(a *attempt) error {
				if err := a.copies(way.click, way.keys); err != nil {
					return err
				}
				return a.pastes("Control+V", "Shift+Insert")
			}})
		}
	}
	page := func(html string) string { return `<input id=i value=secret>` + html }
	const editor = `<div id=t contenteditable style="min-height:20px">x</div>`
	const rich = `<p id=i tabindex=0>some <b onclick="say(1)">bold</b> <a href=there>link</a></p>
		<script>i.onfocus = () => getSelection().selectAllChildren(i)</script>`
	field := map[string]any{"next": `<textarea id=t></textarea>`}
	copies := func(a *attempt) error { return a.copies("#i", []string{"Control+A", "Control+C"}) }
	// from copies the whole of #i, and pastes into #t.
	from := func(keys ...string) func(*attempt) error {
		return func(a *attempt) error {
			return all(func() error { return copies(a) }, func() error { return a.pastes(keys...) })
		}
	}
	paste := from("Control+V")
	// elsewhere copies, goes to another page and pastes there.
	elsewhere := func(a *attempt) error {
		return all(func() error { return copies(a) }, func() error { return a.click("#b") }, func() error { return a.pastes("Control+V") })
	}
	// fromPopup copies in a popup and pastes in its opener.
	fromPopup := func(a *attempt) error {
		if err := a.popup("#b"); err != nil {
			return err
		}
		popup := &attempt{t: a.t, p: a.p.tabs.current(a.ctx), ctx: a.ctx}
		return all(func() error { return copies(popup) }, func() error { return a.p.tabs.ClosePopup(a.ctx) }, func() error { return a.pastes("Control+V") })
	}
	// button copies with a script, and then pastes.
	clicked := func(a *attempt) error {
		return all(func() error { return a.click("#b") }, func() error { return a.pastes("Control+V") })
	}
	button := func(html, script string) row {
		return row{html: `<button id=b onclick="` + script + `">copy</button>` + html, do: clicked}
	}
	named := func(name string, r row, then, is string) row {
		r.name, r.then, r.is = name, then, is
		return r
	}
	const png = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`
	const image = `fetch('data:image/png;base64,` + png + `').then(r => r.blob())
		.then(b => navigator.clipboard.write([new ClipboardItem({ [b.type]: b })])).then(() => say('ok'), e => say(e))`
	rows = append(rows, []row{
		{name: "the page hears of it as of a person's", html: page(`<textarea id=t></textarea><script>
			for (const k of ['keydown', 'keyup', 'copy', 'paste', 'beforeinput', 'input', 'change']) addEventListener(k, e => {
				if (e.target === t && e.key !== 'Control') say([k, e.inputType, e.data, e.clipboardData?.getData('text/plain'), t.value].join(' ').trim())
			})</script>`), do: paste,
			log: "keydown;paste   secret;beforeinput insertFromPaste secret;input insertFromPaste secret  secret;keyup    secret;"},
		{name: "cutting is told as such", html: page(`<textarea id=t></textarea><script>for (const k of ['cut', 'beforeinput', 'input'])
			i.addEventListener(k, e => say([k, e.inputType, i.value].join(' ').trim()))</script>`),
			do:  func(a *attempt) error { return a.copies("#i", []string{"Control+A", "Control+X"}) },
			log: "cut  secret;beforeinput deleteByCut secret;input deleteByCut;"},
		{name: "on another page", html: page(`<a id=b href=next>x</a>`), site: field, do: elsewhere, then: `t.value`, is: `"secret"`},
		{name: "on another site", html: page(`<a id=b href=CROSS/next>x</a>`), site: field, do: elsewhere, then: `t.value`, is: `"secret"`},
		{name: "into a frame", html: page(`<iframe src=in></iframe>`), do: paste, log: "secret;",
			site: map[string]any{"in": `<textarea id=t oninput="parent.say(value)"></textarea>`}},
		{name: "into a frame of another site", html: page(`<iframe src=CROSS/in></iframe><script>onmessage = e => say(e.data)</script>`),
			site: map[string]any{"in": `<textarea id=t oninput="parent.postMessage(value, '*')"></textarea>`}, do: paste, log: "secret;"},
		{name: "out of a frame of another site", html: `<iframe src=CROSS/in></iframe><textarea id=t></textarea>`,
			site: map[string]any{"in": `<input id=i value=secret>`}, do: paste, then: `t.value`, is: `"secret"`},
		{name: "in a frame without a document of its own", html: page(`<iframe id=f></iframe><script>const d = f.contentDocument;
			d.body.innerHTML = '<textarea id=t></textarea>'; d.querySelector('#t').oninput = e => say(e.target.value)</script>`), do: paste, log: "secret;"},
		{name: "in a frame that runs no scripts", html: page(`<iframe sandbox=allow-same-origin src=next></iframe>`), site: field,
			do: paste, then: `document.querySelector('iframe').contentDocument.querySelector('#t').value`, is: `"secret"`},
		{name: "from a popup that is followed", html: `<button id=b onclick="window.open('next')">x</button><textarea id=t></textarea>`,
			site: map[string]any{"next": `<input id=i value=secret>`}, then: `t.value`, is: `"secret"`, do: fromPopup},
		{name: "from a popup that its opener has written", html: `<button id=b onclick="const w = window.open(''); w.document.write('<input id=i value=secret>');
				window.odd = Object.getOwnPropertyNames(w).filter(n => /^rote/.test(n)).length">x</button><textarea id=t></textarea>`,
			then: `t.value + odd`, is: `"secret0"`, do: fromPopup},
		{name: "over what is selected", html: page(`<input id=t value=old>`), do: from("Control+A", "Control+V"), then: `t.value`, is: `"secret"`},
		{name: "and undone", html: page(`<input id=t value=old>`), do: from("Control+A", "Control+V", "Control+Z"), then: `t.value`, is: `"old"`},
		{name: "as many characters as the field takes", html: page(`<input id=t maxlength=3>`), do: paste, then: `t.value`, is: `"sec"`},
		{name: "not into a field that is read-only", html: page(`<input id=t readonly value=old onbeforeinput="say(1)">`), do: paste,
			then: `t.value + LOG`, is: `"old"`},
		{name: "not where the page forbids it", html: page(`<input id=t onpaste="return false">`), do: paste, then: `t.value`, is: `""`},
		{name: "not where the page forbids the input", html: page(`<input id=t onbeforeinput="return false">`), do: paste, then: `t.value`, is: `""`},
		{name: "not from a password", html: `<input id=i type=password value=secret><input id=t>`, do: paste, then: `t.value`, is: `""`},
		{name: "from a field without a selection of its own", html: `<input id=i type=email value=a@b.example><input id=t>`, do: paste,
			then: `t.value`, is: `"a@b.example"`},
		{name: "lines into a field of one", html: `<textarea id=i>a` + "\n" + `b</textarea><input id=t>`, do: paste, then: `t.value`, is: `"a b"`},
		{name: "lines into a field of several", html: `<textarea id=i>a` + "\n" + `b</textarea><textarea id=t></textarea>`, do: paste, then: `t.value`, is: `"a\nb"`},
		{name: "in a shadow tree", html: `<x-a id=x></x-a><script>const r = x.attachShadow({ mode: 'open' });
			r.innerHTML = '<input id=i value=secret><input id=t>'</script>`, do: paste, then: `r.querySelector('#t').value`, is: `"secret"`},
		{name: "the text of the page", html: `<p>some <b>bold</b> text</p><input id=t>`, do: func(a *attempt) error {
			return all(func() error { return a.press("Control+A", "Control+C") }, func() error { return a.pastes("Control+V") })
		}, then: `t.value.trim()`, is: `"some bold text"`},
		{name: "with its markup into an editor", html: rich + editor, do: func(a *attempt) error {
			return all(func() error { return a.press("Tab", "Control+C") }, func() error { return a.pastes("Control+A", "Control+V") })
		}, then: `[t.textContent, t.querySelector('b').textContent, t.querySelector('b').onclick, t.querySelector('a').href === new URL('there', location).href]`,
			is: `["some bold link","bold",null,true]`},
		{name: "as text alone into an editor", html: rich + editor, do: func(a *attempt) error {
			return all(func() error { return a.press("Tab", "Control+C") }, func() error { return a.pastes("Control+A", "Control+Shift+V") })
		}, then: `t.innerHTML`, is: `"some bold link"`},
		named("several types at once", button(`<div id=t contenteditable
			onpaste="say(event.clipboardData.types.join()); say(event.clipboardData.getData('text/html'))">x</div>`,
			`navigator.clipboard.write([new ClipboardItem({ 'text/plain': 'p', 'text/html': '<i>h</i>' })])`), `LOG`, `"text/plain,text/html;<i>h</i>;"`),
		named("an image is a file", button(`<textarea id=t onpaste="const f = event.clipboardData.files[0]; say([f?.name, f?.type, f?.size])"></textarea>`, image),
			`LOG`, `"ok;image.png,image/png,70;"`),
		named("an image into an editor", button(editor, image), `t.querySelector('img')?.src.slice(0, 22)`, `"data:image/png;base64,"`),
		named("no code of another site", button(editor, `navigator.clipboard.write([new ClipboardItem({
			'text/html': '<b onclick=say(1)>h</b><img src=x: onerror=say(2)><script>say(3)</'+'script>' })])`),
			`[t.textContent, t.querySelector('b').onclick, LOG]`, `["xh",null,""]`),
		named("nothing is selected", button(`<input id=t>`, `say(document.execCommand('copy'))`), `t.value + LOG`, `"true;"`),
		named("a type that no browser takes", button(`<input id=t>`, `Promise.resolve()
			.then(() => navigator.clipboard.write([new ClipboardItem({ 'text/x': 'a' })])).catch(e => say(e.name))`),
			`LOG`, `"NotAllowedError;"`),
		named("a page that copies within its copy event", button(`<input id=i value=secret><input id=t>`,
			`i.oncopy = e => { e.preventDefault(); navigator.clipboard.writeText('mine') }; i.select(); document.execCommand('copy')`), `t.value`, `"mine"`),
		{name: "a large copy is warned of", html: `<button id=b onclick="navigator.clipboard.writeText('x'.repeat(2e6))">x</button><input id=t>`,
			do: clicked, then: `t.value`, is: `""`, warns: "more than 1 MiB"},
		{name: "a cut that is too large stays where it is", html: `<textarea id=t></textarea><script>t.value = 'x'.repeat(2e6)</script>`,
			do: func(a *attempt) error { return a.pastes("Control+A", "Control+X") }, then: `t.value.length`, is: `2000000`, warns: "more than 1 MiB"},
		{name: "in a closed shadow tree", html: `<x-a id=x></x-a><script>const r = x.attachShadow({ mode: 'closed' });
			r.innerHTML = '<input id=i value=secret><input id=t>'; r.querySelector('#i').focus()</script>`, do: func(a *attempt) error {
			return a.press("Control+A", "Control+C", "Tab", "Control+V")
		}, then: `r.querySelector('#t').value`, is: `"secret"`},
		{name: "reading stays forbidden", html: `<button id=b onclick="navigator.clipboard.readText().catch(e => say(e.name))">x</button>`, log: "NotAllowedError;"},
		{name: "a page copies nothing before it was clicked", html: `<script>
			navigator.clipboard.writeText('x').then(() => say('written'), e => say(e.name))</script>`,
			do: func(*attempt) error { return nil }, log: "NotAllowedError;"},
		{name: "the functions look like the browser's", html: `x`, do: func(*attempt) error { return nil },
			then: `[String(Clipboard.prototype.writeText), Clipboard.prototype.write.name, Clipboard.prototype.write.length,
				Object.getOwnPropertyNames(window).filter(n => /^rote/.test(n)).length]`,
			is: `["function () { [native code] }","write",1,0]`},
		{name: "a call that no browser takes", html: `x`, do: func(*attempt) error { return nil }, then: `(async () => {
			const names = [];
			for (const f of [() => navigator.clipboard.writeText(), () => navigator.clipboard.writeText.call({}, 'x')])
				await f().catch(e => names.push(e.name));
			return names })()`, is: `["TypeError","TypeError"]`},
	}...)
	holds(t, rows)
}

// A page that copies without end is ended, as one that writes to its console is.
//
// Not parallel, because it blocks the other pages of its browser until it is ended.
func TestFloodOfCopies(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<button id=b onclick="const s = 'x'.repeat(1e6);
		setInterval(() => navigator.clipboard.writeText(s))">x</button>`})+"/")
	if _, err := p.Click(testContext(t), click("#b")); err != nil && p.errBlocked() == nil { // it may be ended already
		t.Fatal(err)
	}
	soon(t, "the page is ended", func() bool { return p.errBlocked() != nil })
	_, err := p.HTML(testContext(t), "")
	wantCode(t, err, routine.CodeResultTooLarge, "clipboard")
	if strings.Contains(err.Error(), "xxx") {
		t.Fatal("the error shows what was copied")
	}
}
