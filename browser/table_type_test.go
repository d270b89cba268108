package browser

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"rote/routine"
)

func TestInputText(t *testing.T) {
	t.Parallel()
	const ascii = "aZ09 ~!@#$%^&*()_+{}|:\"<>?`-=[]\\;',./"
	value := `document.getElementById('i').value`
	type_ := func(text string) func(*attempt) error {
		return func(a *attempt) error { return a.typed("#i", text) }
	}
	over := func(text string) func(*attempt) error {
		return func(a *attempt) error {
			_, err := a.p.Type(a.ctx, routine.Typing{Selector: "#i", Text: text, Clear: true})
			return err
		}
	}
	same := func(text string) func(*attempt) error {
		return func(a *attempt) error {
			found, err := a.p.Type(a.ctx, routine.Typing{Selector: "#i", Text: text})
			if found.Differs {
				a.t.Error("says that another text is there")
			}
			return err
		}
	}
	no := routine.CodeElementNotActionable
	holds(t, []row{
		{name: "an empty field", html: `<input id=i>`, do: type_("Ada"), then: value, is: `"Ada"`},
		{name: "in a form whose fields have the names of methods", html: `<form><input name=matches><input name=getAttribute><input name=closest>
			<input name=id><label>x <input id=i></label></form>`, do: type_("Ada"), then: value, is: `"Ada"`},
		{name: "adds at the end", html: `<input id=i value=ab>`, do: type_("cd"), then: value, is: `"abcd"`},
		{name: "clear replaces", html: `<input id=i value=ab>`, do: over("cd"), then: value, is: `"cd"`},
		{name: "clear with nothing empties", html: `<input id=i value=ab oninput="say(this.value)">`, do: over(""), log: ";"},
		{name: "every printable character", html: `<input id=i>`, do: type_(ascii), then: value + ` === String.raw` + "`" + strings.ReplaceAll(ascii, "`", "${'`'}") + "`", is: `true`},
		{name: "other scripts and emoji", html: `<input id=i>`, do: type_("naïve 日本 🎉"), then: value, is: `"naïve 日本 🎉"`},
		{name: "lines in a textarea", html: `<textarea id=i></textarea>`, do: same("a\nb\n\nc"), then: value, is: `"a\nb\n\nc"`},
		{name: "a long text at once", html: `<textarea id=i></textarea>`, do: type_(strings.Repeat("x", 5000)), then: value + `.length`, is: `5000`},
		{name: "a number", html: `<input id=i type=number>`, do: type_("12.5"), then: value, is: `"12.5"`},
		{name: "after what a number holds", html: `<input id=i type=number value=1>`, do: type_("2"), then: value, is: `"12"`},
		{name: "an e-mail address", html: `<input id=i type=email value=a>`, do: type_("@b.c"), then: value, is: `"a@b.c"`},
		{name: "a password", html: `<input id=i type=password>`, do: type_("s3cret!"), then: value, is: `"s3cret!"`},
		{name: "a date", html: `<input id=i type=date onchange="say(this.value)">`, do: type_("2031-02-03"), log: "2031-02-03;"},
		{name: "a range", html: `<input id=i type=range max=10 onchange="say(this.value)">`, do: type_("7"), log: "7;"},
		{name: "a colour", html: `<input id=i type=color onchange="say(this.value)">`, do: type_("#00ff00"), log: "#00ff00;"},
		{name: "a choice in place of the others of a list",
			html: `<select id=i multiple onchange="say([...this.selectedOptions].map(o => o.text))">
			<option selected>One<option selected>Two<option>Three</select>`, do: over("Three"), log: "Three;"},
		{name: "a choice beside the others of a list",
			html: `<select id=i multiple onchange="say([...this.selectedOptions].map(o => o.text))"><option selected>One<option>Two</select>`,
			do:   type_("Two"), log: "One,Two;"},
		{name: "a choice by its text", html: `<select id=i onchange="say(this.value)"><option value=1>One<option value=2>Two</select>`, do: type_("Two"), log: "2;"},
		{name: "a choice by its value", html: `<select id=i onchange="say(this.value)"><option value=1>One<option value=2>Two</select>`, do: type_("2"), log: "2;"},
		{name: "a choice that comes late", html: `<select id=i onchange="say(this.value)"></select>
			<script>setTimeout(() => i.innerHTML = '<option><option value=2>Two', 200)</script>`, do: type_("Two"), log: "2;"},
		{name: "an editable element", html: `<div id=i contenteditable></div>`, do: same("one\ntwo"), then: `i.innerText.replace(/\n+/g, '|')`, is: `"one|two"`},
		{name: "empty lines in an editable element", html: `<div id=i contenteditable></div>`, do: same("one\n\ntwo"), then: `i.innerText.replace(/\n+/g, '|')`, is: `"one|two"`},
		{name: "paragraphs in an editable element", html: `<div id=i contenteditable><p>zero</p></div>`, do: same("\none\ntwo"), then: `i.innerText.trim().replace(/\n+/g, '|')`, is: `"zero|one|two"`},
		{name: "a field under its floating label", html: `<label style="position:relative">
			<input id=i style="width:200px"><span style="position:absolute;inset:0">Name</span></label>`, do: type_("x"), then: value, is: `"x"`},
		{name: "a field that becomes editable", html: `<input id=i readonly><script>setTimeout(() => i.readOnly = false, 200)</script>`, do: type_("x"), then: value, is: `"x"`},
		{name: "in a shadow root",
			html: `<x-y></x-y>
			<script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML='<input id=i oninput="say(this.value)">'</script>`,
			do: type_("ab"), log: "a;ab;"},
		{name: "key and input events as a person's typing gives them",
			html: `<input id=i><script>for (const n of ['keydown','keypress','beforeinput','input','keyup'])
			i.addEventListener(n, e => say(n + (e.key ?? e.data) + e.isTrusted))</script>`,
			do: type_("A"), log: "keydownAtrue;keypressAtrue;beforeinputAtrue;inputAtrue;keyupAtrue;"},
		{name: "change comes when the field is left", html: `<input id=i onchange="say('change')"><input id=j>`, do: func(a *attempt) error {
			if err := a.typed("#i", "x"); err != nil {
				return err
			}
			return a.press("Tab")
		}, log: "change;"},
		{name: "a page that changes the text is told of", html: `<input id=i maxlength=2>`, do: func(a *attempt) error {
			found, err := a.p.Type(a.ctx, routine.Typing{Selector: "#i", Text: "abc"})
			if !found.Differs {
				a.t.Error("not told")
			}
			return err
		}, then: value, is: `"ab"`},

		{name: "no checkbox", html: `<input id=i type=checkbox>`, do: type_("x"), code: no, words: "takes no text"},
		{name: "no file", html: `<input id=i type=file>`, do: type_("x"), code: no, words: "type file"},
		{name: "nothing read-only", html: `<input id=i readonly>`, do: type_("x"), code: no, words: "read-only"},
		{name: "nothing disabled", html: `<input id=i disabled>`, do: type_("x"), code: no, words: "disabled"},
		{name: "no paragraph", html: `<p id=i>x</p>`, do: type_("x"), code: no, words: "no field for text"},
		{name: "no trap off the screen", html: `<input id=i style="position:absolute;left:-999px">`, do: type_("x"), code: no, words: "outside"},
		{name: "no transparent trap", html: `<input id=i style="opacity:0">`, do: type_("x"), code: no, words: "transparent"},
		{name: "no field that gives the focus away", html: `<input id=i onfocus="o.focus()"><input id=o>`, do: type_("x"), code: no, words: "gives the focus away"},
		{name: "no choice that is not offered, and what is offered is named", html: `<select id=i><option>One<option disabled>x</select>`,
			do: type_("x"), code: no, words: `"#i" has no option "x" (it has "One")`},
		{name: "pages of XHTML", html: `<a id=b href=x>x</a>`,
			site: map[string]any{"x": xhtml(`<input id="i"/><iframe src="y"/><label><input id="c" type="checkbox" style="display:none"/>c</label>
				<select id="s"><option>a</option><option>b</option></select>`), "y": xhtml(`<input id="j"/>`)},
			do: func(a *attempt) error {
				return errors.Join(a.click("#b"), a.typed("#i", "one"), a.typed("#j", "two"), a.typed("#s", "b"), a.click("#c"))
			}, is: `"one,on,b,two,true"`,
			then: `[...[...document.querySelectorAll('input,select'), document.querySelector('iframe').contentDocument.querySelector('input')]
				.map(e => e.value), document.querySelector('#c').checked].join()`},
		{name: "no choice of a list that stands still, without the whole wait", html: `<select id=i><option>One<option>Two</select>`,
			do: func(a *attempt) error {
				found, err := a.p.Type(testContext(a.t), routine.Typing{Selector: "#i", Text: "x"})
				if !found.Final || !slices.Equal(found.Options, []string{"One", "Two"}) {
					a.t.Errorf("found %+v", found)
				}
				return err
			}, code: no, words: `"#i" has no option "x" (it has "One", "Two")`},
		{name: "no choice of an empty list", html: `<select id=i></select>`, do: type_("x"), code: no, words: `nothing to choose yet`},
	})
}

// xhtml is a page of XML, whose elements are not named in capitals.
func xhtml(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xhtml+xml")
		fmt.Fprintf(w, `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>%s</body></html>`, body)
	}
}

func TestPressKeys(t *testing.T) {
	t.Parallel()
	const tell = `<script>for (const n of ['keydown','keyup']) addEventListener(n, e => say(n[3] +
		(e.ctrlKey ? '^' : '') + (e.altKey ? '~' : '') + (e.shiftKey ? '+' : '') +
		e.key + ' ' + e.code + ' ' + e.keyCode + (e.location ? '@' + e.location : '')))</script>`
	keys := func(names ...string) func(*attempt) error {
		return func(a *attempt) error { return a.press(names...) }
	}
	focused := func(names ...string) func(*attempt) error {
		return func(a *attempt) error {
			if err := a.click("#i"); err != nil {
				return err
			}
			return a.press(names...)
		}
	}
	holds(t, []row{
		{name: "a letter", html: tell, do: keys("a"), log: "da KeyA 65;ua KeyA 65;"},
		{name: "a capital is a letter with Shift", html: tell, do: keys("A"), log: "d+A KeyA 65;u+A KeyA 65;"},
		{name: "any case", html: tell, do: keys("ESCAPE", "arrowdown"), log: "dEscape Escape 27;uEscape Escape 27;dArrowDown ArrowDown 40;uArrowDown ArrowDown 40;"},
		{name: "F13 to F24", html: tell, do: keys("F13", "F24"), log: "dF13 F13 124;uF13 F13 124;dF24 F24 135;uF24 F24 135;"},
		{name: "keys of the keypad", html: tell, do: keys("Numpad7"), log: "d7 Numpad7 103@3;u7 Numpad7 103@3;"},
		{name: "media keys", html: tell, do: keys("MediaPlayPause"), log: "dMediaPlayPause MediaPlayPause 179;uMediaPlayPause MediaPlayPause 179;"},
		{name: "the right one of two", html: tell, do: keys("ControlRight"), log: "d^Control ControlRight 17@2;uControl ControlRight 17@2;"},
		{name: "a chord: modifiers down in order and up again", html: tell, do: keys("Control+Alt+K"),
			log: "d^Control ControlLeft 17@1;d^~Alt AltLeft 18@1;d^~k KeyK 75;u^~k KeyK 75;u^Alt AltLeft 18@1;uControl ControlLeft 17@1;"},
		{name: "Shift in a chord makes a capital", html: tell, do: keys("Shift+a"), log: "d+Shift ShiftLeft 16@1;d+A KeyA 65;u+A KeyA 65;uShift ShiftLeft 16@1;"},
		{name: "Enter submits", html: `<form action="done"><input id=i name=i value=x></form>`, site: map[string]any{"done": `ok`}, do: focused("Enter"), url: "done?i=x"},
		{name: "Enter of the keypad submits", html: `<form action="done"><input id=i name=i value=x></form>`, site: map[string]any{"done": `ok`}, do: focused("NumpadEnter"), url: "done?i=x"},
		{name: "Backspace deletes", html: `<input id=i value=abc>`, do: focused("End", "Backspace"), then: `i.value`, is: `"ab"`},
		{name: "Control+A and Delete empty a field", html: `<input id=i value=abc>`, do: focused("Control+a", "Delete"), then: `i.value`, is: `""`},
		{name: "Control+C and Control+V copy", html: `<input id=i value=abc><input id=j>`, do: focused("Control+A", "Control+C", "Tab", "Control+V", "Control+V"), then: `j.value`, is: `"abcabc"`},
		{name: "Tab moves the focus, Shift+Tab back", html: `<input id=i><input id=j><input id=k>`, do: focused("Tab", "Tab", "Shift+Tab"), then: `document.activeElement.id`, is: `"j"`},
		{name: "Space checks a box", html: `<input id=i type=checkbox>`, do: func(a *attempt) error {
			a.want(`(i.focus(), document.activeElement.id)`, `"i"`)
			return a.press("Space")
		}, then: `i.checked`, is: `true`},
		{name: "arrows choose in a list", html: `<select id=i><option>a<option>b</select>`, do: func(a *attempt) error {
			a.want(`(i.focus(), document.activeElement.id)`, `"i"`)
			return a.press("ArrowDown")
		}, then: `i.value`, is: `"b"`},
		{name: "Escape closes a dialog", html: `<dialog id=d>x</dialog><script>d.showModal()</script>`, do: keys("Escape"), then: `d.open`, is: `false`},
		{name: "PageDown scrolls", html: `<div style="height:9000px">x</div>`, do: keys("PageDown"), then: `scrollY > 300`, is: `true`},
		{name: "what is no key", html: tell, do: keys("Entr"), code: routine.CodeInvalid, words: `"Entr" is no key`},
		{name: "what is no modifier", html: tell, do: keys("Enter+A"), code: routine.CodeInvalid, words: "Enter is no modifier"},
	})
}
