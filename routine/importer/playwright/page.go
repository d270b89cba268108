package playwright

import (
	"fmt"
	"strings"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// settings are what a script sets up that a run does not have, by the words for it.
var settings = map[string]string{"addCookies": "cookies", "setCookie": "cookies", "clearCookies": "cookies", "storageState": "the state of a browser",
	"route": "answers in the place of the site", "unroute": "answers in the place of the site", "setRequestInterception": "answers in the place of the site",
	"setExtraHTTPHeaders": "headers of all requests", "setUserAgent": "the name of the browser", "addInitScript": "scripts before those of the page",
	"evaluateOnNewDocument": "scripts before those of the page", "exposeFunction": "functions for the page", "addScriptTag": "scripts for the page",
	"addStyleTag": "styles for the page",
	"emulate":     "another device", "emulateMedia": "another device", "emulateMediaType": "another device", "emulateTimezone": "another device",
	"setContent": "a page of the script's own", "authenticate": "logins of the network", "setGeolocation": "another place", "grantPermissions": "permissions",
	"setOffline": "no network", "tracing": "traces", "coverage": "traces", "clock": "another time", "setJavaScriptEnabled": "pages without scripts"}

// pageActions are what is done with a page.
var pageActions map[string]func(*reader, chain.Member) object

func init() {
	none := func(do func(*reader, chain.Member)) func(*reader, chain.Member) object {
		return func(r *reader, m chain.Member) object { do(r, m); return object{} }
	}
	pageActions = map[string]func(*reader, chain.Member) object{
		"goto": none((*reader).open), "navigate": none((*reader).open), "goBack": none((*reader).history), "goForward": none((*reader).history),
		"reload": none((*reader).history), "waitForURL": none((*reader).waitForURL), "waitForTimeout": none((*reader).sleep),
		"waitForFunction": none((*reader).waitForFunction), "evaluate": (*reader).evaluate, "evaluateHandle": (*reader).evaluate,
		"title": (*reader).readPage, "url": (*reader).readPage, "content": (*reader).readPage, "close": none((*reader).closeWindow),
		"waitForEvent": (*reader).await, "expectPopup": (*reader).await, "expectDownload": (*reader).await, "waitForPopup": (*reader).await,
		"waitForDownload": (*reader).await, "runAndWaitForPopup": (*reader).await, "runAndWaitForDownload": (*reader).await,
		"runAndWaitForNavigation": (*reader).await, "runAndWaitForResponse": (*reader).await,
		"on": none((*reader).handler), "once": none((*reader).handler), "onDialog": none((*reader).handler), "onceDialog": none((*reader).handler),
		"screenshot":  none(func(r *reader, _ chain.Member) { r.d.Drop("snapshot", "a routine takes no pictures") }),
		"pdf":         none(func(r *reader, _ chain.Member) { r.d.Drop("snapshot", "a routine prints no pages") }),
		"setViewport": none((*reader).viewport), "setViewportSize": none((*reader).viewport), "dragAndDrop": none(func(r *reader, _ chain.Member) {
			r.d.Drop("drag", "rote does not drag")
		}),
	}
}

// onPage does something with the page.
func (r *reader) onPage(m chain.Member) (object, bool) {
	if m.Name == "waitForSelector" || m.Name == "focus" || m.Called && len(m.Args) > 0 &&
		(elementActions[m.Name] != nil || reads[m.Name] != "") && pageActions[m.Name] == nil {
		if inner := &m.Args[0]; inner.Kind != chain.Object {
			css, ok := r.literal(inner)
			e := element{broken: "the selector is computed"}
			if ok {
				e = r.selector(css)
			}
			m.Args = m.Args[1:]
			return r.act(e, m)
		}
	}
	do := pageActions[m.Name]
	what, setting := settings[m.Name]
	switch {
	case setting && m.Name != "context":
		r.begin(m)
		r.d.Drop("setting", "the script sets up %s, which a routine does not have", what)
	case noOps[m.Name]:
		r.begin(m)
		return object{kind: waiting}, true
	case do == nil || !m.Called && m.Name != "url":
		return object{}, false
	case r.begin(m):
		return do(r, m), true
	}
	return object{}, true
}

// setting accounts for what a script sets up for all pages.
func (r *reader) setting(m chain.Member) bool {
	r.begin(m)
	r.d.Drop("setting", "the script sets up %s, which a routine does not have", settings[m.Name])
	return true
}

func (r *reader) open(m chain.Member) {
	target, _ := r.text(argument(m, 0))
	if target == "" {
		r.d.Drop("url", "the script does not say which page is opened")
		return
	}
	if base := strings.TrimRight(r.base, "/"); base != "" && !strings.Contains(target, ":") {
		target = base + "/" + strings.TrimLeft(strings.TrimPrefix(target, "."), "/")
	}
	r.pages, r.moved = append(r.pages, target), false
	if strings.HasPrefix(target, "{{") {
		r.d.Add(draft.Operation{Type: "navigate", URL: target})
		return
	}
	r.d.Navigate(target)
}

// history opens a page again that the script had opened before.
func (r *reader) history(m chain.Member) {
	back := len(r.pages) - 1
	if m.Name == "goBack" && !r.moved {
		back--
	}
	if back < 0 || m.Name == "goForward" || m.Name == "reload" && r.moved {
		r.d.Drop("history", "the script does not say which page this is: add a navigate to its URL")
		return
	}
	r.pages, r.moved = r.pages[:back+1], false
	u, ok := r.pages[back], strings.HasPrefix(r.pages[back], "{{")
	if !ok {
		u, ok = r.d.URL(u)
	}
	if ok {
		r.d.Add(draft.Operation{Type: "navigate", URL: u})
		r.d.Change("history", "the routine opens the page anew")
	}
}

func (r *reader) waitForURL(m chain.Member) {
	pattern, ok := r.urlPattern(argument(m, 0))
	if !ok {
		r.d.Drop("wait", "the URL that is awaited is computed")
		return
	}
	o := draft.Operation{Type: "wait_for_url", URLRegex: pattern}
	o.WaitFor(r.milliseconds(option(m, "timeout")))
	r.d.Add(o)
}

// longestSleep is the longest fixed wait that is kept, in milliseconds.
const longestSleep = 60_000

func (r *reader) sleep(m chain.Member) {
	r.addSleep(r.milliseconds(argument(m, 0)))
}

// pauses reads a call that waits for some time, of the languages themselves. It returns false if it is none.
func (r *reader) pauses(c *chain.Chain) bool {
	m := c.Last()
	if len(c.Members) != 1 || !m.Called || len(m.Args) != 1 {
		return false
	}
	wait, ok := r.number(&m.Args[0])
	switch c.Base + "." + m.Name {
	case "time.sleep", "asyncio.sleep":
		wait *= 1000
	case "Thread.sleep", "Task.delay":
	case "sleep.", "delay.":
		ok = ok && r.functions[c.Base] == nil
	default:
		return false
	}
	if ok && r.begin(m) {
		r.addSleep(wait)
	}
	return ok
}

// addSleep adds a sleep of a time in milliseconds.
func (r *reader) addSleep(wait float64) {
	if wait > longestSleep {
		r.d.Change("timeout", "the pause is shortened to 60 s")
	}
	seconds := max(min(wait, longestSleep), 0) / 1000
	r.d.Add(draft.Operation{Type: "sleep", Seconds: &seconds})
}

func (r *reader) waitForFunction(m chain.Member) {
	call, ok := r.script(chain.Member{Args: m.Args[:min(len(m.Args), 1)]})
	if !ok {
		return
	}
	var arguments []string
	for i := 1; i < len(m.Args); i++ {
		if code, literal := r.javascript(&m.Args[i]); literal && m.Args[i].Kind != chain.Object {
			arguments = append(arguments, code)
		}
	}
	code := "(" + call.function + "\n)"
	if call.called {
		code += "(" + strings.Join(arguments, ",") + ")"
	}
	r.d.Foreign(fmt.Sprintf(`(async()=>{
for(const end=Date.now()+9500;;await new Promise(r=>setTimeout(r,50))){
if(await %s)return;
if(Date.now()>end)throw Error("the function did not become true");
}
})()`, code), "")
}

// pageValues are what a script takes of the page.
var pageValues = map[string]string{"title": "document.title", "url": "location.href", "content": "document.documentElement.outerHTML"}

func (r *reader) readPage(m chain.Member) object {
	key := r.newKey()
	r.d.Script("(()=>"+pageValues[m.Name]+")()", key)
	r.key = key
	return object{kind: kept, key: key}
}

// await notes what the next operation will bring.
func (r *reader) await(m chain.Member) object {
	event := strings.ToLower(m.Name)
	if v := argument(m, 0); v != nil && v.Kind == chain.Text {
		event += " " + v.Text
	}
	var o object
	switch {
	case strings.Contains(event, "popup"):
		r.popup = true
		o.kind = opening
	case strings.Contains(event, "download"):
		r.d.Drop("download", "the file that the next click hands out is not kept: a download operation with its URL keeps it")
		o.kind = saving
	default:
		o.kind = waiting
	}
	if r.during(m) && o.kind == opening && len(r.statement.Vars) > 0 {
		r.opened = r.statement.Vars[0]
		o.kind = page
	}
	return o
}

// during reads the functions that a call is given. It reports whether there are any.
func (r *reader) during(m chain.Member) bool {
	has := false
	for i := range m.Args {
		f := &m.Args[i]
		if f.Kind != chain.Function {
			continue
		}
		has = true
		statement := r.statement
		r.block(f.Body)
		if r.statement = statement; f.Result != nil && f.Result.Kind == chain.Calls {
			r.calls(f.Result.Calls)
		}
	}
	return has
}

// window returns what has been awaited: the window that a click has opened is a page.
func (r *reader) window(o object) object {
	if o.kind != opening {
		return o
	}
	if len(r.statement.Vars) > 0 {
		r.opened = r.statement.Vars[0]
	}
	return object{kind: page}
}

// turnTo goes back to the first window if a statement is about it.
func (r *reader) turnTo(base string, o object) {
	if o.kind == page && r.opened != "" && base != r.opened && r.lost == "" {
		r.leaveWindow()
	}
}

// leaveWindow closes the window that a click has opened.
func (r *reader) leaveWindow() {
	r.opened = ""
	r.d.Popup("close")
}

// closeWindow closes a window that a click has opened; the end of a run closes the first one.
func (r *reader) closeWindow(chain.Member) {
	if r.opened != "" {
		r.leaveWindow()
	}
}

// handler notes how dialogs are answered.
func (r *reader) handler(m chain.Member) {
	event := strings.ToLower(m.Name)
	if v := argument(m, 0); v != nil && v.Kind == chain.Text {
		event += " " + v.Text
	}
	if !strings.Contains(event, "dialog") {
		return
	}
	f := m.Args[max(len(m.Args)-1, 0):]
	if len(f) == 1 && strings.Contains(strings.ToLower(f[0].Text), "accept") {
		r.dialog = true
		r.d.Change("dialog_accept", "the next click or key accepts the dialog (x-dialog)")
	}
}

func (r *reader) viewport(m chain.Member) {
	width := r.milliseconds(option(m, "width"))
	if width == 0 {
		width = r.milliseconds(argument(m, 0))
	}
	if width > 0 && width < 1000 {
		r.d.Change("viewport", "the script had a window of %d pixels, the run has a wide one: the page may look different", int(width))
	}
}
