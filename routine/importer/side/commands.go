package side

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rote/routine/importer/draft"
	"rote/routine/keyboard"
)

// handler returns the function that does a command which acts; nil for other commands.
func handler(name string) func(*reader, command) {
	switch name {
	case "open":
		return (*reader).open
	case "click", "clickAt", "doubleClick", "doubleClickAt":
		return (*reader).click
	case "type", "editContent":
		return (*reader).typeText
	case "sendKeys":
		return (*reader).sendKeys
	case "select", "addSelection", "removeSelection":
		return (*reader).choose
	case "check", "uncheck":
		return (*reader).tick
	case "submit":
		return (*reader).submit
	case "pause":
		return (*reader).pause
	case "setWindowSize":
		return (*reader).windowSize
	case "executeScript", "executeAsyncScript", "runScript":
		return (*reader).script
	case "run":
		return (*reader).run
	case "store":
		return (*reader).constant
	case "selectWindow", "storeWindowHandle":
		return (*reader).window
	}
	return nil
}

var webURL = regexp.MustCompile(`^[a-z]+:`)

func (r *reader) open(c command) {
	target := c.target
	if base := strings.TrimRight(r.base, "/"); !webURL.MatchString(target) && !strings.HasPrefix(target, "{{") && base != "" {
		if strings.HasPrefix(target, "/") {
			if i := strings.Index(base, "://"); i >= 0 {
				host, _, _ := strings.Cut(base[i+3:], "/")
				base = base[:i+3] + host
			}
		}
		target = base + "/" + strings.TrimLeft(target, "/")
	}
	r.d.Navigate(target)
}

func (r *reader) click(c command) {
	o := draft.Operation{Type: "click"}
	if strings.HasPrefix(c.name, "double") {
		o.Clicks = 2
	}
	if c.at.Get("opensWindow").IsTrue() {
		o.Popup = "follow"
		r.popup = c.at.Get("windowHandleName").String()
	}
	r.d.Act(r.locate(c), o)
	if at := strings.TrimSpace(c.value); strings.HasSuffix(c.name, "At") && at != "" && strings.Trim(at, "0,. ") != "" {
		r.d.Change("offset", "rote clicks the middle of the element, not a point in it")
	}
}

func (r *reader) typeText(c command) {
	l := r.locate(c)
	r.typed = l
	r.d.Act(l, draft.Operation{Type: "input_text", Text: r.text(c, l, c.value), Clear: true})
}

// text returns the text that a command types. Placeholders of variables stay.
func (r *reader) text(c command, l draft.Locator, value string) *string {
	if strings.Contains(value, "{{") && variable.MatchString(c.at.Get("value").String()) {
		return &value
	}
	return r.d.Text(l, value)
}

var keyToken = regexp.MustCompile(`\$\{KEY_([A-Z0-9_]+)\}`)

// keyNames are the keys of Selenium whose names differ from those of rote.
var keyNames = map[string]string{"ESC": "Escape", "DEL": "Delete", "UP": "ArrowUp", "DOWN": "ArrowDown", "LEFT": "ArrowLeft", "RIGHT": "ArrowRight",
	"PAGE_UP": "PageUp", "PAGE_DOWN": "PageDown", "PGUP": "PageUp", "PGDN": "PageDown", "BKSP": "Backspace", "CTRL": "Control", "RETURN": "Enter"}

func (r *reader) sendKeys(c command) {
	l := r.locate(c)
	rest := c.value
	for rest != "" {
		span := keyToken.FindStringSubmatchIndex(rest)
		plain := rest
		if span != nil {
			plain = rest[:span[0]]
		}
		if plain != "" {
			r.d.Act(l, draft.Operation{Type: "input_text", Text: r.text(c, l, plain)})
			r.typed = l
		}
		if span == nil {
			return
		}
		r.press(l, rest[span[2]:span[3]])
		rest = rest[span[1]:]
	}
}

// press presses a key in an element, which is clicked first if it does not have the focus.
func (r *reader) press(l draft.Locator, name string) {
	key := strings.ReplaceAll(name, "_", "")
	if known := keyNames[name]; known != "" {
		key = known
	}
	if _, err := keyboard.Parse(key); err != nil {
		r.d.Drop("key", "there is no key %s", name)
		return
	}
	if !r.typed.Same(l) || r.typed.Empty() {
		r.d.Act(l, draft.Operation{Type: "click"})
		r.typed = l
	}
	r.d.Add(draft.Operation{Type: "press", Key: key})
}

func (r *reader) choose(c command) {
	l := r.locate(c)
	strategy, option, found := strings.Cut(c.value, "=")
	if !found {
		strategy, option = "label", c.value
	}
	switch {
	case c.name == "removeSelection":
		r.d.Do(l, `for(const o of e.options)if(t(o.label)===t(`+draft.Literal(option)+`)||o.value===`+draft.Literal(option)+
			`)o.selected=false;e.dispatchEvent(new Event("change",{bubbles:true}));return;`, "")
		r.d.Change("set_by_script", "a script takes the choice back")
	case strategy == "index":
		index, _ := strconv.Atoi(strings.TrimSpace(option))
		r.d.Do(l, "e.selectedIndex="+strconv.Itoa(max(index, 0))+`;for(const k of["input","change"])e.dispatchEvent(new Event(k,{bubbles:true}));return;`, "")
		r.d.Change("set_by_script", "a script chooses the option by its number")
	case strategy == "id":
		r.d.Do(l, `const o=[...e.options].find(o=>o.id===`+draft.Literal(option)+
			`);if(o){o.selected=true;e.dispatchEvent(new Event("change",{bubbles:true}));return;}`, "")
		r.d.Change("set_by_script", "a script chooses the option by its id")
	default:
		if strategy != "label" && strategy != "value" {
			option = c.value
		}
		r.d.Act(l, draft.Operation{Type: "input_text", Text: r.text(c, l, option), Clear: c.name == "select"})
	}
}

func (r *reader) tick(c command) {
	wrong := "!e.checked"
	if c.name == "uncheck" {
		wrong = "e.checked"
	}
	r.d.Do(r.locate(c), "if("+wrong+")e.click();return;", "")
	r.d.Change("set_by_script", "a script clicks the box, if it does not have the state yet")
}

func (r *reader) submit(c command) {
	if !r.typed.Empty() && len(r.d.Operations) > 0 && r.d.Last().Type == "input_text" {
		r.d.Add(draft.Operation{Type: "press", Key: "Enter"})
		r.d.Change("submit", "Enter in the last field sends the form")
		return
	}
	r.d.Do(r.locate(c), "(e.form||e.closest(\"form\")||e).requestSubmit();return;", "")
	r.d.Change("set_by_script", "a script sends the form")
}

// longestPause is the longest fixed wait that is kept, in milliseconds.
const longestPause = 60_000

func (r *reader) pause(c command) {
	text := c.target
	if text == "" {
		text = c.value
	}
	milliseconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(milliseconds >= 0) {
		r.d.Drop("pause", "the pause has no time")
		return
	}
	if milliseconds > longestPause {
		r.d.Change("timeout", "the pause is shortened to 60 s")
	}
	seconds := min(milliseconds, longestPause) / 1000
	r.d.Add(draft.Operation{Type: "sleep", Seconds: &seconds})
}

func (r *reader) windowSize(c command) {
	width, _, _ := strings.Cut(c.target, "x")
	if pixels, err := strconv.Atoi(strings.TrimSpace(width)); err == nil && pixels < 1000 {
		r.d.Change("viewport", "the recording had a window of %d pixels, the run has a wide one: the page may look different", pixels)
	}
}

func (r *reader) script(c command) {
	code := strings.ReplaceAll(c.target, "{{sessionStorage:", "${")
	code = variable.ReplaceAllStringFunc(strings.ReplaceAll(code, "}}", "}"), func(token string) string {
		return "JSON.parse(sessionStorage.getItem(" + draft.Literal(token[2:len(token)-1]) + "))"
	})
	r.d.Foreign("(async function(){\n"+code+"\n})()", r.keep(c.value))
}

// keep returns the key under which a variable is stored; empty if there is no variable.
func (r *reader) keep(name string) string {
	name = strings.TrimSpace(name)
	if name == "" || !variable.MatchString("${"+name+"}") {
		return ""
	}
	r.stored[name] = true
	delete(r.constants, name)
	return name
}

func (r *reader) constant(c command) {
	r.constants[strings.TrimSpace(c.value)] = c.target
	delete(r.stored, strings.TrimSpace(c.value))
}

// window goes to the window that a click has opened, which its operation follows, and back.
func (r *reader) window(c command) {
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(c.target, "handle="), "${"), "}")
	switch {
	case c.name == "storeWindowHandle" || r.popup != "" && name == r.popup:
	case r.popup != "" && r.d.Popup("close"):
		r.popup = ""
		r.d.Change("popup", "the window is closed: the routine goes on in the one that opened it")
	default:
		r.d.Drop("popup", "the recording does not say which click opened the window")
	}
}

// run puts the commands of another test in the place of the command.
func (r *reader) run(c command) {
	for _, t := range r.tests {
		if name := t.Get("name").String(); name == c.target && !slices.Contains(r.running, name) {
			r.running = append(r.running, name)
			r.inline(t.Get("commands").Items)
			r.running = r.running[:len(r.running)-1]
			return
		}
	}
	r.d.Drop("run", "there is no test of this name, or it runs itself")
}
