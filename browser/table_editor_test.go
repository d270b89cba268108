package browser

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rote/routine"
)

// maskPage is a field with a mask: it shows the places that are still empty, and a
// click puts the caret into the first of them. place is called with a function that
// does that.
func maskPage(place string) string {
	return `<input id=i value="__/__/____" size=40><script>
		const places = /[_\d]/, empty = () => { const at = i.value.indexOf('_'); return at < 0 ? i.value.length : at };
		const place = f => ` + place + `;
		i.addEventListener('click', () => place(() => i.setSelectionRange(empty(), empty())));
		i.addEventListener('beforeinput', e => {
			e.preventDefault();
			let text = i.value, [from, to] = [i.selectionStart, i.selectionEnd];
			text = text.slice(0, from) + text.slice(from, to).replace(/\d/g, '_') + text.slice(to);
			for (const c of e.data ?? '') {
				while (from < text.length && !places.test(text[from])) from++;
				if (from === text.length || !/\d/.test(c)) continue;
				text = text.slice(0, from) + c + text.slice(++from);
			}
			while (from < text.length && !places.test(text[from])) from++;
			i.value = text;
			i.setSelectionRange(from, from);
		});
	</script>`
}

// closing is a handler of a textarea that closes brackets, and continues lists and
// indentation at a line end.
const closing = `<script>
	const put = (text, back) => { i.setRangeText(text, i.selectionStart, i.selectionEnd, 'end'); i.selectionEnd = i.selectionStart -= back };
	i.addEventListener('keydown', e => {
		say('k');
		const line = i.value.slice(0, i.selectionStart).split('\n').pop();
		if (e.key === '(') { e.preventDefault(); put('()', 1) }
		if (e.key === '[') { e.preventDefault(); put('[]', 1) }
		if (e.key === 'Enter' && /^(- |  )/.test(line)) { e.preventDefault(); put('\n' + line.slice(0, 2), 0) }
	});
</script>`

// richEditor is an editor that makes a list of lines that begin with a dash,
// closes brackets, and takes a paste as it is.
const richEditor = `<div id=i contenteditable style="min-height:40px;white-space:pre-wrap"></div><script>
	const insert = text => { const r = getSelection().getRangeAt(0); r.deleteContents(); r.insertNode(document.createTextNode(text));
			r.collapse(false) }, caret = n => { for (; n; n--) getSelection().modify('move', 'backward', 'character') };
	i.addEventListener('paste', e => { e.preventDefault(); insert(e.clipboardData.getData('text/plain')) });
	i.addEventListener('keydown', e => {
		if (e.key === '(') { e.preventDefault(); insert('()'); caret(1) }
		if (e.key === 'Enter') { e.preventDefault(); insert(i.innerText.split('\n').pop().startsWith('- ') ? '\n- ' : '\n') }
	});
</script>`

// hiddenEditor shows its text in #view and takes it through a textarea that no one
// sees; from is how #view is clicked.
const hiddenEditor = `<div id=e style="width:300px"><div style="overflow:hidden;width:3px;height:0;position:relative">
			<textarea id=h style="position:absolute;width:500px;bottom:-2em"></textarea></div>
	<pre id=view style="height:60px;margin:0">old</pre></div><script>
	const put = text => { view.textContent += text };
	view.addEventListener('mousedown', e => { e.preventDefault(); h.focus() });
	h.addEventListener('input', () => { const text = h.value; h.value = ''; put(text === '(' ? '()' : text) });
	h.addEventListener('keydown', e => { if (e.ctrlKey && e.key === 'a') view.textContent = '' });
	h.addEventListener('paste', e => { e.preventDefault(); put(e.clipboardData.getData('text/plain')) });
</script>`

const listText = "- one (a)\n- two [b\n\n  end("

func (a *attempt) replaced(selector, text string) error {
	_, err := a.p.Type(a.ctx, routine.Typing{Selector: selector, Text: text, Clear: true})
	return err
}

// exact types and fails where a difference is reported.
func exact(selector, text string) func(*attempt) error {
	return func(a *attempt) error {
		found, err := a.p.Type(a.ctx, routine.Typing{Selector: selector, Text: text})
		if found.Differs {
			a.t.Errorf("says that %q is there (%s)", found.Value, found.Arrived)
		}
		return err
	}
}

func TestTypeIntoMask(t *testing.T) {
	t.Parallel()
	value := `i.value`
	holds(t, []row{
		{name: "the caret stays where the page puts it", html: maskPage(`f()`), do: func(a *attempt) error { return a.typed("#i", "12311999") },
			then: value, is: `"12/31/1999"`},
		{name: "where the page puts it later", html: maskPage(`setTimeout(f, 15)`), do: func(a *attempt) error { return a.typed("#i", "12311999") },
			then: value, is: `"12/31/1999"`},
		{name: "clear selects all", html: maskPage(`setTimeout(f, 15)`), do: func(a *attempt) error {
			if err := a.typed("#i", "0505"); err != nil {
				return err
			}
			return a.replaced("#i", "12311999")
		}, then: value, is: `"12/31/1999"`},
		{name: "after what a mask holds", html: maskPage(`f()`), do: func(a *attempt) error {
			if err := a.typed("#i", "1231"); err != nil {
				return err
			}
			return a.typed("#i", "1999")
		}, then: value, is: `"12/31/1999"`},
		{name: "in a shadow root", html: `<x-y></x-y><script>const root = document.querySelector('x-y').attachShadow({mode:'open'});
			root.innerHTML = '<input id=i value="ab" style="width:300px">';
			i = root.firstChild; i.onclick = () => i.setSelectionRange(0, 0)</script>`, do: func(a *attempt) error { return a.typed("#i", "x") }, then: value,
			is: `"xab"`},
		{name: "what the page selects is typed over", html: `<input id=i value=1 onfocus="this.select()" onmouseup="return false">`,
			do: func(a *attempt) error { return a.typed("#i", "25") }, then: value, is: `"25"`},
		{name: "in a number too", html: `<input id=i type=number value=1 onfocus="this.select()" onmouseup="return false">`,
			do: func(a *attempt) error { return a.typed("#i", "25") }, then: value, is: `"25"`},
		{name: "the end of a text that is longer than its field", html: `<input id=i size=4 value="one two three four">`,
			do: func(a *attempt) error { return a.typed("#i", "!") }, then: value, is: `"one two three four!"`},
		{name: "the end after a label was clicked",
			html: `<label style="position:relative"><input id=i value=ab style="width:200px"><span style="position:absolute;inset:0">Name</span></label>`,
			do:   func(a *attempt) error { return a.typed("#i", "c") }, then: value, is: `"abc"`},
	})
}

func TestTypeEveryLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(listText+"\n", 9)
	line := strings.Repeat("0123456789", 30)
	quoted := func(s string) string { return fmt.Sprintf("%q", s) }
	rows := []row{
		{name: "keys for each character of a long line", html: `<input id=i onkeydown="this.n = (this.n ?? 0) + 1">`, do: exact("#i", line),
			then: `[i.n, i.value.length]`, is: `[300,300]`},
		{name: "keys for each character of a long line in an editable element",
			html: `<div id=i contenteditable onkeydown="this.n = (this.n ?? 0) + 1"></div>`, do: exact("#i", line), then: `[i.n, i.innerText.length]`,
			is: `[300,300]`},
		{name: "the keys at the end of a text of thousands", html: `<textarea id=i onkeyup="this.seen = this.value.length"></textarea>`,
			do: exact("#i", strings.Repeat(line+"\n", 10)), then: `[i.seen, i.value.length]`, is: `[3010,3010]`},
		{name: "line ends of all kinds", html: `<textarea id=i></textarea>`, do: exact("#i", "a\r\nb\rc\nd"), then: `i.value`, is: quoted("a\nb\nc\nd")},
		{name: "a line end in an editable element", html: `<div id=i contenteditable></div>`, do: exact("#i", "a\r\nb"), then: `i.innerText`, is: quoted("a\nb")},
		{name: "a line end sends no message", html: `<textarea id=i onkeydown="if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault();
			say(this.value); this.value = '' }"></textarea>`,
			do: func(a *attempt) error {
				if err := a.typed("#i", "a\nb"); err != nil {
					return err
				}
				return a.press("Enter")
			}, then: `LOG`, is: quoted("a\nb;")},
		{name: "a page that refuses some characters", html: `<textarea id=i onkeydown="if (/[lo]/.test(event.key)) event.preventDefault()"></textarea>`,
			do:   func(a *attempt) error { return a.typed("#i", "Hello World!") },
			then: `i.value`, is: `"He Wrd!"`},
	}
	for name, text := range map[string]string{"short": listText, "long": long} {
		for _, before := range []string{"", "old ("} {
			rows = append(rows, row{name: fmt.Sprintf("a %s text into a field that closes brackets, after %q", name, before),
				html: `<textarea id=i>` + before + `</textarea>` + closing,
				do:   exact("#i", text), then: `i.value`, is: quoted(before + text)})
		}
		rows = append(rows,
			row{name: "a " + name + " text into an editor that continues lists", html: richEditor, do: exact("#i", text), then: `i.textContent`, is: quoted(text)},
			row{name: "a " + name + " text into an editor behind a hidden field", html: hiddenEditor, do: exact("#e", text), then: `view.textContent`,
				is: quoted("old" + text)},
		)
	}
	rows = append(rows,
		row{name: "a line into an editor that closes brackets", html: richEditor, do: exact("#i", "f(a, ("), then: `i.innerText`, is: `"f(a, ("`},
		row{name: "a line after what such an editor holds", html: strings.ReplaceAll(richEditor, "></div>", ">old </div>"), do: exact("#i", "f(a, ("),
			then: `i.innerText`, is: `"old f(a, ("`},
	)
	holds(t, rows)
}

// atOnce types and fails where that waits for its limit.
func atOnce(selector string) func(*attempt) error {
	return func(a *attempt) error {
		ctx := testContext(a.t)
		_, err := a.p.Type(ctx, routine.Typing{Selector: selector, Text: "x"})
		if ctx.Err() != nil {
			a.t.Error("waited to the end")
		}
		return err
	}
}

// component is an element with a shadow root.
func component(name, inner, script string) string {
	return fmt.Sprintf(`<%s id=e style="display:inline-block;min-width:100px;min-height:20px">Light</%[1]s><script>
		customElements.define('%[1]s', class extends HTMLElement { constructor() { super(); const root = this.attachShadow({mode: 'open'});
			root.innerHTML = %[2]s; %[3]s } })</script>`, name, "`"+inner+"`", script)
}

func TestTypeIntoElementsThatAreNoFields(t *testing.T) {
	t.Parallel()
	into := func(selector string) func(*attempt) error { return exact(selector, "ab") }
	frame := `<div id=e style="height:90px"><iframe id=f src=in style="width:300px;height:80px"></iframe></div>`
	inner := map[string]any{"in": `<script>document.body.contentEditable = true; document.body.innerHTML = '<p>one</p>'; top.text = () =>
			document.body.innerText</script>`}
	no := routine.CodeElementNotActionable
	holds(t, []row{
		{name: "an editor that hides its field", html: hiddenEditor, do: into("#e"), then: `view.textContent`, is: `"oldab"`},
		{name: "what such an editor shows", html: hiddenEditor, do: into("#view"), then: `view.textContent`, is: `"oldab"`},
		{name: "the hidden field of an editor", html: hiddenEditor, do: into("#h"), then: `view.textContent`, is: `"oldab"`},
		{name: "clear in an editor that hides its field", html: hiddenEditor, do: func(a *attempt) error { return a.replaced("#e", "new") },
			then: `view.textContent`, is: `"new"`},
		{name: "again, when it has the focus", html: hiddenEditor, do: func(a *attempt) error {
			if err := a.typed("#view", "1"); err != nil {
				return err
			}
			return a.typed("#view", "2")
		}, then: `view.textContent`, is: `"old12"`},
		{name: "an element with an EditContext",
			html: `<div id=i tabindex=0 style="width:200px;height:30px"></div><script>i.editContext = new EditContext(); i.editContext.ontextupdate = e =>
			say(e.text)</script>`, do: into("#i"), log: "a;b;"},
		{name: "one with an EditContext behind what it shows",
			html: `<div id=e style="width:200px;height:30px"><div id=c tabindex=0 style="position:absolute;width:0"></div>
			<pre id=view style="margin:0;height:30px">old</pre></div>
			<script>c.editContext = new EditContext(); c.editContext.ontextupdate = e => say(e.text); view.onmousedown = e => { e.preventDefault();
			c.focus() }</script>`, do: into("#e"), log: "a;b;"},
		{name: "a frame that is an editor", html: frame, site: inner, do: into("#f"), then: `text()`, is: `"oneab"`},
		{name: "what holds such a frame", html: frame, site: inner, do: into("#e"), then: `text()`, is: `"oneab"`},
		{name: "a paragraph in an editor", html: `<div contenteditable id=d><p>one</p><p id=i>two</p><p>three</p></div>`, do: into("#i"),
			then: `d.innerText.replace(/\n+/g, '|')`, is: `"one|twoab|three"`},
		{name: "what holds one field", html: `<div id=e style="padding:20px"><span>Name</span><input id=i style="margin-left:300px"></div>`,
			do: into("#e"), then: `i.value`, is: `"ab"`},
		{name: "a group of fields that pass the focus on", html: `<div id=e role=group style="width:90px;height:30px"><span>MM/DD</span><i></i></div><script>
			for (const n of [1, 2]) e.lastChild.innerHTML += '<input size=1 maxlength=1 style="opacity:0;width:1px">';
			const [one, two] = e.querySelectorAll('input'); e.onclick = () => one.focus(); one.oninput = () => two.focus()</script>`,
			do: into("#e"), then: `one.value + two.value`, is: `"ab"`},
		{name: "a label", html: `<label id=e for=i>Name</label><input id=i>`, do: into("#e"), then: `i.value`, is: `"ab"`},
		{name: "a component with a field", html: component("x-y", `<div>Name</div><input>`, ``), do: into("#e"),
			then: `e.shadowRoot.querySelector('input').value`, is: `"ab"`},
		{name: "a component whose field shows when it has the focus",
			html: component("x-y", `<div>Name</div><input style="opacity:0">`, `root.firstChild.onclick = () => root.lastChild.focus()`),
			do:   into("#e"), then: `e.shadowRoot.querySelector('input').value`, is: `"ab"`},
		{name: "a box that opens a search", html: `<div id=e role=combobox style="width:90px">Choose</div><script>e.onclick = () => setTimeout(() =>
			{ document.body.insertAdjacentHTML('beforeend', '<input id=i>'); i.focus() }, 50)</script>`,
			do: into("#e"), then: `i.value`, is: `"ab"`},
		{name: "an editor that comes late", html: `<div id=e style="width:200px;height:40px"></div><script>setTimeout(() =>
			e.innerHTML = '<p id=p contenteditable>x</p>', 300)</script>`, do: into("#e"), then: `p.innerText`, is: `"xab"`},
		{name: "read-only until it has the focus", html: `<input id=i readonly onfocus="this.removeAttribute('readonly')">`, do: into("#i"),
			then: `i.value`, is: `"ab"`},
		{name: "read-only, and opens a field", html: `<input id=i readonly onclick="d.showModal()"><dialog id=d><input id=j></dialog>`, do: into("#i"),
			then: `j.value`, is: `"ab"`},
		{name: "the field comes before what holds one", html: `<div class=q><p>Search</p></div><input class=q id=i>`, do: into(".q"), then: `i.value`, is: `"ab"`},

		{name: "no file, at once", html: `<input id=i type=file>`, do: atOnce("#i"), code: no, words: "type file"},
		{name: "no hidden file, at once", html: `<input id=i type=file style="display:none">`, do: atOnce("#i"), code: no, words: "type file"},
		{name: "no checkbox, at once", html: `<input id=i type=checkbox>`, do: atOnce("#i"), code: no, words: "takes no text"},
		{name: "no button, which is not pressed", html: `<button id=i onclick="say('pressed')">x</button>`, do: atOnce("#i"), code: no,
			words: "no field for text (button)", then: `LOG`, is: `""`},
		{name: "no component without a field, at once",
			html: component("x-y", `<div>Stars</div><button>1</button>`, `root.lastChild.onclick = () => say('pressed')`), do: atOnce("#e"), code: no,
			words: "holds none", then: `LOG`, is: `""`},
		{name: "no body, at once", html: `<p>x</p>`, do: atOnce("body"), code: no, words: "no field for text (body)"},
		{name: "no field of several", html: `<div id=e><input><input></div>`, do: into("#e"), code: no, words: "holds 2 fields for text: name the one"},
		{name: "no paragraph, which is clicked once at most", html: `<p id=p onclick="say('c')">x</p>`, do: into("#p"), code: no,
			words: "puts the focus into nothing that takes text", then: `LOG.length < 3`, is: `true`},
		{name: "no toolbar that leaves the focus elsewhere",
			html: `<input id=i><div id=e onmousedown="event.preventDefault()">Bold</div><script>i.focus()</script>`, do: into("#e"), code: no,
			words: "no field for text", then: `i.value`, is: `""`},
		{name: "no trap under what is clicked",
			html: `<div id=e style="width:200px;height:30px">Name
			<input id=i tabindex=-1 style="position:absolute;left:0;top:0;width:300px;height:90px;opacity:0" onfocus="say('trapped')"></div>`,
			do: into("#i"), code: no, words: "transparent", then: `LOG`, is: `""`},
		{name: "no hidden field that a click does not lead to",
			html: `<div id=e style="width:200px">Name<input id=i style="width:1px;height:1px;padding:0;border:0" onfocus="say('trapped')"></div>`,
			do:   into("#i"), code: no, words: "too small", then: `LOG`, is: `""`},
		{name: "no read-only field", html: `<input id=i readonly onclick="say('c')">`, do: into("#i"), code: no, words: "is read-only",
			then: `LOG.length < 3`, is: `true`},
	})
}

func TestTypeIntoFieldThatDisappears(t *testing.T) {
	t.Parallel()
	into := func(a *attempt) error { return a.typed("#i", "abc") }
	swap := `const n = i.cloneNode(); n.onfocus = null; n.removeAttribute('onfocus'); n.removeAttribute('onkeydown'); i.replaceWith(n)`
	no := routine.CodeElementNotActionable
	// stopped types where a page handler calls a function that a script has left, which
	// the guard stops together with the handler.
	stopped := func(text string) func(a *attempt) error {
		return func(a *attempt) error {
			eval(a.t, a.p, `(() => { window.left = () => document.title; return 1 })()`)
			return a.typed("#i", text)
		}
	}
	holds(t, []row{
		{name: "replaced when it gets the focus", html: `<input id=i onfocus="` + swap + `">`, do: into, then: `i.value`, is: `"abc"`},
		{name: "replaced a little later", html: `<input id=i onfocus="setTimeout(() => { ` + swap + ` })">`, do: into, then: `i.value`, is: `"abc"`},
		{name: "replaced by one that has the focus", html: `<input id=i onfocus="` + swap + `; n.focus()">`, do: into, then: `i.value`, is: `"abc"`},
		{name: "replaced at the first key", html: `<input id=i value=1 onkeydown="` + swap + `">`, do: into, then: `i.value`, is: `"1abc"`},
		{name: "replaced each time", html: `<div id=d><input id=i></div><script>const fill = () => { d.innerHTML = '<input id=i>'; i.onfocus = fill };
			fill()</script>`, do: into, code: no, words: "was replaced when it got the focus"},
		{name: "gone when all has arrived", html: `<input id=i oninput="if (this.value === 'abc') { say(this.value); this.remove() }">`, do: into, log: "abc;"},
		{name: "a focus that leads to another page", html: `<input id=i onfocus="location.href='next'">`, site: map[string]any{"next": `there`}, do: into,
			url: "next"},
		{name: "a focus that leads to a page with the field", html: `<input id=i onfocus="location.href='next'">`,
			site: map[string]any{"next": `<input id=i>`}, do: into, then: `i.value`, is: `"abc"`},
		{name: "a press that leads to another page", html: `<input id=i onmousedown="location.href='next'">`, site: map[string]any{"next": `there`},
			do: into, url: "next"},
		{name: "a choice that leads to another page", html: `<select id=i onchange="location.href='next'"><option>x<option>abc</select>`,
			site: map[string]any{"next": `there`}, do: into, url: "next"},
		{name: "a date whose handler is stopped", html: `<input id=i type=date onchange="left(); say(1)">`, do: stopped("2026-05-04"),
			then: `i.value`, is: `"2026-05-04"`, warns: `the call was stopped, with the page code that made it`},
		{name: "a list whose handler is stopped", html: `<select id=i onchange="left(); say(1)"><option>a<option>b</select>`, do: stopped("b"),
			then: `i.value`, is: `"b"`, warns: `the call was stopped, with the page code that made it`},
		{name: "a date that leads to another page", html: `<input id=i type=date onchange="location.href='next'">`, site: map[string]any{"next": `there`},
			do: func(a *attempt) error { return a.typed("#i", "2031-02-03") }, url: "next"},
		{name: "a field that a click gives no focus", html: `<input id=i onmousedown="event.preventDefault()">`, do: into, then: `i.value`, is: `"abc"`},
	})
}

func TestTypeEvents(t *testing.T) {
	t.Parallel()
	const heard = `<x-y id=x></x-y><script>x.attachShadow({mode: 'open'}).innerHTML = MARKUP;
			for (const n of ['input', 'change']) document.addEventListener(n, e => say(n + e.composed))</script>`
	holds(t, []row{
		{name: "change does not leave the shadow tree of a list", html: strings.ReplaceAll(heard, "MARKUP", `'<select id=i><option>a<option>b</select>'`),
			do: func(a *attempt) error { return a.typed("#i", "b") }, log: "inputtrue;"},
		{name: "nor that of a date", html: strings.ReplaceAll(heard, "MARKUP", `'<input id=i type=date>'`),
			do: func(a *attempt) error { return a.typed("#i", "2031-02-03") }, log: "inputtrue;"},
		{name: "a click has the pressure of a mouse",
			html: `<button id=b>x</button><script>for (const n of ['pointermove', 'pointerdown', 'pointerup']) b.addEventListener(n, e =>
			say(n + e.pressure))</script>`,
			log: "pointermove0;pointerdown0.5;pointerup0;"},
		{name: "so has one for typing, which goes before the keys",
			html: `<input id=i><script>for (const n of ['pointerdown', 'mousedown', 'focus', 'mouseup', 'click', 'keydown']) i.addEventListener(n, e =>
			say(n + (e.pressure ?? '')))</script>`,
			do: func(a *attempt) error { return a.typed("#i", "x") }, log: "pointerdown0.5;mousedown;focus;mouseup;click0;keydown;"},
	})
}

// A warning says if typing had another effect: nothing arrived, a mask added to the
// text, the page changed it.
func TestTypedDiffers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, html, text string
		want             routine.Match
	}{
		{"as typed", `<input id=i>`, "abc", routine.Match{}},
		{"nothing", `<input id=i value=1 onbeforeinput="event.preventDefault()">`, "abc", routine.Match{Differs: true, Arrived: routine.ArrivedNothing, Value: "1"}},
		{"nothing of a number", `<input id=i type=number>`, "abc", routine.Match{Differs: true, Arrived: routine.ArrivedNothing}},
		{"spaces added", `<input id=i oninput="this.value = this.value.replace(/ /g, '').replace(/(\d\d)(?=\d)/g, '$1 ')">`, "123456",
			routine.Match{Differs: true, Arrived: routine.ArrivedAdded, Value: "12 34 56"}},
		{"cut off", `<input id=i maxlength=2>`, "abc", routine.Match{Differs: true, Arrived: routine.ArrivedChanged, Value: "ab"}},
		{"in capitals", `<input id=i oninput="this.value = this.value.toUpperCase()">`, "abc",
			routine.Match{Differs: true, Arrived: routine.ArrivedChanged, Value: "ABC"}},
		{"a password", `<input id=i type=password maxlength=2>`, "abc", routine.Match{Differs: true, Arrived: routine.ArrivedChanged, Value: "ab", Secret: true}},
		{"taken out again", `<input id=i oninput="if (this.value.length >
			2) this.value = ''">`, "abc", routine.Match{Differs: true, Arrived: routine.ArrivedNothing}},
		{"no date", `<input id=i type=date>`, "soon", routine.Match{Differs: true, Arrived: routine.ArrivedNothing}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, site(t, map[string]any{"/": x.html}))
			found, err := p.Type(testContext(t), routine.Typing{Selector: "#i", Text: x.text})
			if x.want.Matches = 1; err != nil || !reflect.DeepEqual(found, x.want) {
				t.Fatalf("%+v %v, want %+v", found, err, x.want)
			}
		})
	}
}
