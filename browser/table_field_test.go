package browser

import (
	"testing"

	"rote/routine"
)

// A transparent field is a field where a person sees a box and types into it, and
// a trap elsewhere.
func TestTransparentFields(t *testing.T) {
	t.Parallel()
	no := routine.CodeElementNotActionable
	types := func(a *attempt) error { return a.typed("#b", "x") }
	const (
		says  = ` oninput="say(this.value)"`
		box   = `<div style="position:relative;border:1px solid;width:210px;height:56px">`
		over  = `style="opacity:0;position:absolute;left:0;top:0;width:100%;height:100%"`
		name  = `<span style="position:absolute;left:16px;top:18px;pointer-events:none">Name</span>`
		hides = `<div style="opacity:0;padding:16px">`
	)
	holds(t, []row{
		{name: "text in a box under a label that rests in it", html: `<style>.f:focus-within .c{opacity:1 !important}</style>` + box + name +
			`<div class=c style="opacity:0;padding:16px"><input id=b` + says + `></div></div>`, do: types, log: "x;"},
		{name: "text in a box that its label is around", html: `<label style="display:block;border:1px solid;width:210px;padding:9px">Name` +
			`<input id=b` + says + ` style="opacity:0;width:150px"></label>`, do: types, log: "x;"},
		{name: "text slotted into the box of a component", html: `<x-y><input id=b aria-label=Name` + says + `></x-y>` +
			shadow(box+name+hides+`<slot></slot></div></div>`), do: types, log: "x;"},
		{name: "text in a box that a pseudo-element draws", html: `<style>.f{position:relative;width:210px;height:56px}
			.f::before{content:"";position:absolute;inset:0;border:1px solid;pointer-events:none}</style>
			<div class=f>` + name + hides + `<input id=b` + says + `></div></div>`,
			do: types, log: "x;"},
		{name: "text in a box whose label is above it", html: `<label for=b>Name</label>` + box + `<input id=b ` + over + says + `></div>`, do: types,
			log: "x;"},
		{name: "lines of text in a box", html: box + name + `<textarea id=b ` + over + says + `></textarea></div>`, do: types, log: "x;"},
		{name: "a range over its track", html: `<div style="position:relative;width:200px;height:20px">` +
			`<div style="height:4px;margin-top:8px;background:blue"></div>` +
			`<input id=b type=range max=10 ` + over + ` onchange="say(this.value)"></div>`, do: func(a *attempt) error { return a.typed("#b", "7") }, log: "7;"},
		{name: "a list over its drawing", html: box + `Choose<select id=b ` + over + ` onchange="say(this.value)"><option>a<option>x</select></div>`,
			do: types, log: "x;"},
		{name: "a date over its drawing", html: box + `Pick a day<input id=b type=date ` + over + ` onchange="say(this.value)"></div>`,
			do: func(a *attempt) error { return a.typed("#b", "2031-02-03") }, log: "2031-02-03;"},
		{name: "a checkbox over its drawing", html: `<span style="position:relative;display:inline-block;width:40px;height:40px"><svg width=24 height=24>` +
			`</svg>` +
			`<input id=b type=checkbox ` + over + ` onchange="say(this.checked)"></span>`, log: "true;"},
		{name: "a switch wider than its thumb", html: `<span style="position:relative;display:inline-block;width:38px;height:38px;margin:0 60px">` +
			`<input id=b type=checkbox style="opacity:0;position:absolute;left:-100%;width:300%;height:100%" onchange="say(this.checked)">` +
			`<i style="display:block;width:20px;height:20px;background:red"></i></span>`, log: "true;"},

		{name: "no text in a transparent part of the page", html: `<div style="opacity:0"><label for=b>Name</label><input id=b></div>`, do: types,
			code: no, words: "transparent"},
		{name: "no text beside its label without a box", html: `<label for=b>Website</label> <input id=b style="opacity:0">`, do: types, code: no,
			words: "transparent"},
		{name: "no text in a label without a box", html: `<label>Website <input id=b style="opacity:0"></label>`, do: types, code: no, words: "transparent"},
		{name: "no text in a box without a name", html: box + `<input id=b ` + over + `></div>`, do: types, code: no, words: "transparent"},
		{name: "no text in a box whose name is transparent too", html: box + hides + `<label for=b>Name</label><input id=b></div></div>`, do: types,
			code: no, words: "transparent"},
		{name: "no text that is kept from the keyboard", html: box + name + hides + `<input id=b tabindex=-1></div></div>`, do: types, code: no,
			words: "transparent"},
		{name: "no text that is kept from screen readers", html: box + name + `<div aria-hidden=true style="opacity:0"><input id=b></div></div>`,
			do: types, code: no, words: "transparent"},
		{name: "no text in a large form", html: `<form style="border:1px solid;padding:90px;width:600px">Name<input id=b style="opacity:0"></form>`,
			do: types, code: no, words: "transparent"},
		{name: "no text under another field", html: box + name + `<input id=b ` + over +
			`><input aria-label=other style="position:absolute;left:0;top:0;width:100%;height:100%"></div>`,
			do: types, code: no, words: "covered by input"},
		{name: "no checkbox with nothing to see", html: `<p><input id=b type=checkbox style="opacity:0">`, code: no, words: "transparent"},
		{name: "no checkbox in a line of text", html: `<p>Some words of the page <input id=b type=checkbox style="opacity:0"> and more of them`, code: no,
			words: "transparent"},
		{name: "no transparent button in a box", html: box + `Buy<button id=b ` + over + `></button></div>`, code: no, words: "transparent"},
	})
}

// A checkbox or radio button that a person cannot click is clicked through its
// label.
func TestClickThroughLabels(t *testing.T) {
	t.Parallel()
	no := routine.CodeElementNotActionable
	field := func(style string) string {
		return `<input id=b type=checkbox style="` + style + `" onchange="say(this.checked)">`
	}
	const label, bootstrap = `<label for=b class=btn>pick</label>`, `position:absolute;clip:rect(0,0,0,0);pointer-events:none`
	holds(t, []row{
		{name: "a toggle button of Bootstrap", html: field(bootstrap) + label, log: "true;"},
		{name: "a radio button of Bootstrap, far down", html: far + `<div style="position:relative"><input id=b type=radio style="` + bootstrap +
			`" onchange="say(this.checked)">` +
			label + `</div>` + far, log: "true;"},
		{name: "clipped to one pixel", html: field(`position:absolute;width:1px;height:1px;clip-path:inset(50%);overflow:hidden`) + label, log: "true;"},
		{name: "without pointer events", html: field(`pointer-events:none`) + label, log: "true;"},
		{name: "behind its label", html: `<div style="position:relative">` + field(`position:absolute;z-index:-1`) +
			`<div style="position:absolute;inset:0;background:#fff"></div></div><br>` + label, log: "true;"},
		{name: "off the screen", html: field(`position:absolute;left:-9999px`) + label, log: "true;"},
		{name: "the second of two labels, as the first is hidden", html: field(`display:none`) + `<label for=b hidden>x</label>` + label, log: "true;"},
		{name: "a label without a box", html: `<label style="display:contents">` + field(`display:none`) + `pick</label>`, log: "true;"},
		{name: "in a shadow root", html: `<x-y></x-y>` + shadow(field(bootstrap)+label), log: "true;"},

		{name: "no hidden label", html: field(bootstrap) + `<label for=b style="opacity:0">pick</label>`, code: no, words: "clip"},
		{name: "no label that is covered", html: field(bootstrap) + `<p>` + label + `<div style="position:fixed;inset:0"></div>`, code: no, words: "#b"},
		{name: "no field for text through its label", html: `<label for=b>Website</label><input id=b style="` + bootstrap + `">`,
			do:   func(a *attempt) error { return a.typed("#b", "x") },
			code: no, words: "clip"},
	})
}
