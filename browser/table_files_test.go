package browser

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"rote/routine"
)

// cv is a file with all bytes that there are.
var cv = routine.InputFile{Name: "cv ü.pdf", Type: "application/pdf", Data: func() []byte {
	all := make([]byte, 5000)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}()}

var note = routine.InputFile{Name: "note.txt", Type: "text/plain", Data: []byte("hello")}

// handsIn hands files in to a selector.
func handsIn(selector string, files ...routine.InputFile) func(a *attempt) error {
	return func(a *attempt) error {
		_, err := a.p.Type(a.ctx, routine.Typing{Selector: selector, Files: files})
		return err
	}
}

// told is a script that logs the name, type, size and checksum of each file, and the
// events.
const told = `<script>
	async function tell(files, by = say) {
		for (const f of files) {
			const bytes = new Uint8Array(await f.arrayBuffer());
			by([f.name, f.type, f.size, bytes.reduce((a, b, i) => (a + b * (i % 7 + 1)) % 65521, 0)].join());
		}
	}
</script>`

// toldOf is what that says of a file.
func toldOf(f routine.InputFile) string {
	sum := 0
	for i, b := range f.Data {
		sum = (sum + int(b)*(i%7+1)) % 65521
	}
	return fmt.Sprintf("%s,%s,%d,%d;", f.Name, f.Type, len(f.Data), sum)
}

func TestFilesAreHandedIn(t *testing.T) {
	t.Parallel()
	const no = routine.CodeElementNotActionable
	cvTold, noteTold := toldOf(cv), toldOf(note)
	const tells = ` onchange="tell(this.files)"`
	const open = `onclick="const n = document.createElement('input'); n.type = 'file'; n.onchange = () => tell(n.files); n.click()"`
	const hear = told + `<script>onmessage = e => say(e.data)</script>`
	const across = told + `<input id=i type=file onchange="tell(this.files, s => parent.postMessage(s, '*'))">`
	drops := func(more string) string {
		return told + `<div id=i style="width:200px;height:100px">drop here</div><script>
			i.ondragover = e => e.preventDefault(); i.ondrop = e => { e.preventDefault(); tell(e.dataTransfer.files) }; ` + more + `</script>`
	}
	// watched hands a file in on a page where a watched script has left a function.
	watched := func(selector string) func(a *attempt) error {
		return func(a *attempt) error {
			eval(a.t, a.p, `(() => { window.confirm = () => true; const k = 'confirm'; return window[k]() })()`)
			return handsIn(selector, cv)(a)
		}
	}
	holds(t, []row{
		{name: "an input, after a watched script", html: told + `<input id=i type=file onchange="confirm(); tell(this.files)">`, do: watched("#i"), log: cvTold},
		{name: "an input whose handler is stopped", html: `<input id=i type=file onchange="left(); say(1)">`, do: func(a *attempt) error {
			eval(a.t, a.p, `(() => { window.left = () => document.title; return 1 })()`)
			return handsIn("#i", cv)(a)
		}, then: `i.files.length`, is: `1`, warns: `the call was stopped, with the page code that made it`},
		{name: "by a chooser, after a watched script", html: told + `<button id=b ` + open + `>x</button>`, do: watched("#b"), log: cvTold},
		{name: "an input", html: told + `<input id=i type=file` + tells + `>`, do: handsIn("#i", cv), log: cvTold},
		{name: "its events", html: `<input id=i type=file><script>
			i.oninput = i.onchange = e => say(e.type + e.bubbles + e.composed)</script>`,
			do: handsIn("#i", cv), log: "inputtruetrue;changetruefalse;"},
		{name: "several", html: told + `<input id=i type=file multiple` + tells + `>`, do: handsIn("#i", note, cv), log: noteTold + cvTold},
		{name: "in place of what was chosen", html: told + `<input id=i type=file>`, do: func(a *attempt) error {
			if err := handsIn("#i", cv)(a); err != nil {
				return err
			}
			return handsIn("#i", note)(a)
		}, then: `[...i.files].map(f => f.name)`, is: `["note.txt"]`},
		{name: "an input that is not displayed", html: told + `<input id=i type=file style="display:none"` + tells + `>`, do: handsIn("#i", cv), log: cvTold},
		{name: "a transparent input", html: told + `<input id=i type=file style="opacity:0"` + tells + `>`, do: handsIn("#i", cv), log: cvTold},
		{name: "by its label", html: told + `<label id=l for=i>Choose</label><input id=i type=file hidden` + tells + `>`, do: handsIn("#l", cv), log: cvTold},
		{name: "by the icon in its label", html: told + `<label><svg id=l></svg><input type=file hidden` + tells + `></label>`, do: handsIn("#l", cv), log: cvTold},
		{name: "by what holds it", html: told + `<div id=d><button>Choose</button><input type=file hidden` + tells + `></div>`, do: handsIn("#d", cv), log: cvTold},
		{name: "by a component that holds it", html: told + `<x-y id=d></x-y><script>const r = d.attachShadow({mode: 'open'});
			r.innerHTML = '<input type=file>'; r.firstChild.onchange = e => tell(e.target.files)</script>`, do: handsIn("#d", cv), log: cvTold},
		{name: "in a shadow root", html: told + `<x-y id=d></x-y><script>const r = d.attachShadow({mode: 'open'});
			r.innerHTML = '<input id=i type=file>'; r.firstChild.onchange = e => tell(e.target.files)</script>`, do: handsIn("#i", cv), log: cvTold},
		{name: "in a frame", html: told + `<iframe srcdoc="<input id=i type=file onchange='parent.tell(this.files)'>"></iframe>`, do: handsIn("#i", cv), log: cvTold},
		{name: "in a frame of another site", html: hear + `<iframe src="CROSS/in"></iframe>`, site: map[string]any{"in": across}, do: handsIn("#i", cv),
			log: cvTold},
		{name: "by a button that opens a chooser", html: told + `<button id=b ` + open + `>x</button>`, do: handsIn("#b", cv), log: cvTold},
		{name: "by a button that opens it a moment later",
			html: told + `<button id=b onclick="setTimeout(() => i.click(), 200)">x</button><p></p><input id=i type=file hidden` + tells + `>`,
			do:   handsIn("#b", cv), log: cvTold},
		{name: "by a button in a frame", html: told + `<iframe srcdoc="<button id=b onclick='i.click()'>x</button><input id=i type=file hidden
			onchange='parent.tell(this.files)'>"></iframe>`, do: handsIn("#b", cv), log: cvTold},
		{name: "by a button in a frame of another site", html: hear + `<iframe src="CROSS/in"></iframe>`,
			site: map[string]any{"in": across + `<button id=b onclick="i.click()">x</button>`}, do: handsIn("#b", cv), log: cvTold},
		{name: "where files are dropped", html: drops(``), do: handsIn("#i", cv, note), log: cvTold + noteTold,
			warns: `so the files were dropped onto it`},
		{name: "where files are dropped, in a frame", html: told + `<iframe srcdoc="<div id=i>drop here</div><script>i.ondragover = e => e.preventDefault();
			i.ondrop = e => parent.tell(e.dataTransfer.files)</script>"></iframe>`, do: handsIn("#i", cv), log: cvTold, warns: `were dropped onto it`},
		{name: "an input that comes late", html: told + `<div id=d></div><script>setTimeout(() => d.innerHTML = '<input id=i type=file>', 200)</script>`,
			do: handsIn("#i", cv), then: `i.files.length`, is: `1`},
		{name: "an input that is enabled late", html: told + `<input id=i type=file disabled` + tells + `><script>setTimeout(() => i.disabled = false, 200)</script>`,
			do: handsIn("#i", cv), log: cvTold},
		{name: "the second match takes such files", html: told + `<input type=file accept=.png><input type=file` + tells + `>`,
			do: handsIn("input", cv), log: cvTold},
		{name: "a page that goes on when it has the file", html: `<form action=next><input id=i type=file name=f onchange="this.form.submit()"></form>`,
			site: map[string]any{"next": `there`}, do: handsIn("#i", note), url: "next?f=note.txt"},

		{name: "accept by extension", html: told + `<input id=i type=file accept=".doc, .PDF"` + tells + `>`, do: handsIn("#i", cv), log: cvTold},
		{name: "accept by type", html: told + `<input id=i type=file accept="application/pdf"` + tells + `>`, do: handsIn("#i", cv), log: cvTold},
		{name: "accept by group", html: told + `<input id=i type=file accept="text/*"` + tells + `>`, do: handsIn("#i", note), log: noteTold},
		{name: "another kind than is accepted", html: `<input id=i type=file accept="image/*,.png" onchange="say(1)">`, do: handsIn("#i", cv), code: no,
			words: `"#i" takes only image/*,.png: cv ü.pdf (application/pdf) is none of these`},
		{name: "more than one", html: `<input id=i type=file>`, do: handsIn("#i", cv, note), code: no, words: `"#i" takes one file, not 2 (it is not multiple)`},
		{name: "a directory", html: `<input id=i type=file webkitdirectory multiple>`, do: handsIn("#i", cv), code: no, words: `takes a directory`},
		{name: "disabled", html: `<input id=i type=file disabled>`, do: handsIn("#i", cv), code: no, words: `"#i" is disabled`},
		{name: "in a disabled fieldset", html: `<fieldset disabled><label id=l><input id=i type=file>x</label></fieldset>`, do: handsIn("#l", cv), code: no,
			words: `disabled`},
		{name: "two inputs in one place", html: `<div id=d>x<input type=file><input type=file></div>`, do: handsIn("#d", cv), code: no,
			words: `holds 2 file inputs`},
		{name: "by a chooser for one file", html: `<button id=b ` + open + `>x</button>`, do: handsIn("#b", cv, note), code: no, words: `takes one file, not 2`},
		{name: "a button that opens nothing", html: `<button id=b onclick="say('b')">x</button>`, do: handsIn("#b", cv), code: no,
			words: `is no file input and leads to none`},
		{name: "a covered button", html: `<button id=b ` + open + `>x</button><div style="position:fixed;inset:0"></div>`, do: handsIn("#b", cv), code: no,
			words: `"#b" is covered`},
		{name: "a transparent button", html: `<button id=b style="opacity:0" ` + open + `>x</button>`, do: handsIn("#b", cv), code: no, words: `is transparent`},
		{name: "nothing there", html: `x`, do: handsIn("#i", cv), code: routine.CodeElementNotFound, words: `no element matches "#i"`},
		{name: "text for a file input", html: `<input id=i type=file>`, do: func(a *attempt) error { return a.typed("#i", "/etc/passwd") }, code: no,
			words: `is an input of type file, which takes no text: hand files in with x-files`},
	})
}

// A server gets the bytes that were handed in, by a form and by a script.
func TestFilesArriveAtTheServer(t *testing.T) {
	t.Parallel()
	large := routine.InputFile{Name: "large.bin", Type: "application/octet-stream", Data: bytes.Repeat([]byte{0, 1, 250, 'x', '\r', '\n'}, 300_000)}
	receives := func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(32 << 20); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		text := ""
		for i, want := range []routine.InputFile{cv, large} {
			h := r.MultipartForm.File["f"][i]
			f, err := h.Open()
			if err != nil {
				http.Error(w, err.Error(), 500)
				return
			}
			got, _ := io.ReadAll(f)
			text += fmt.Sprint(h.Filename == want.Name, h.Header.Get("Content-Type") == want.Type, bytes.Equal(got, want.Data)) + ";"
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, preamble, `<p id=p>`, text)
	}
	const arrived = "true true true;true true true;"
	holds(t, []row{
		{name: "a form", html: `<form method=post enctype=multipart/form-data action=up><input id=i name=f type=file multiple><button id=b>x</button></form>`,
			site: map[string]any{"up": receives}, do: func(a *attempt) error {
				if err := handsIn("#i", cv, large)(a); err != nil {
					return err
				}
				return a.click("#b")
			}, then: `document.querySelector('#p').textContent`, is: `"` + arrived + `"`},
		{name: "a script", html: `<input id=i type=file multiple onchange="const d = new FormData(); for (const f of this.files) d.append('f', f);
			fetch('up', { method: 'POST', body: d }).then(r => r.text()).then(t => LOG += /true.*;/.exec(t)[0])">`,
			site: map[string]any{"up": receives}, do: handsIn("#i", cv, large), log: arrived},
	})
}
