package playwright

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
	"rote/routine/keyboard"
)

// follow reads the members of a chain: what finds an element, and in the end what is done with it.
func (r *reader) follow(o object, members []chain.Member) (object, bool) {
	for i, m := range members {
		if next, ok := r.refine(o, m); ok {
			o = next
			continue
		}
		switch {
		case o.kind == page && (m.Name == "keyboard" || m.Name == "mouse" || m.Name == "touchscreen") && i+1 < len(members):
			r.device(m.Name, members[i+1])
			return object{}, true
		case o.kind == page && m.Name == "request":
			o = object{kind: apiClient}
		case o.kind == page:
			return r.onPage(m)
		case o.kind == located:
			return r.act(o.element, m)
		case o.kind == apiClient:
			return r.request(m)
		default:
			return o, o.kind != nothing && o.kind != constant
		}
	}
	return o, true
}

// noOps are the methods without which a run is the same.
var noOps = map[string]bool{"focus": true, "blur": true, "highlight": true, "selectText": true, "dispose": true, "waitForLoadState": true,
	"waitForResponse": true, "waitForRequest": true, "waitForNavigation": true, "waitForNetworkIdle": true, "expectResponse": true, "expectRequest": true,
	"expectNavigation": true, "expectEvent": true, "setDefaultTimeout": true, "setDefaultNavigationTimeout": true, "bringToFront": true, "pause": true,
	"context": true, "browser": true, "pages": true, "setCacheEnabled": true, "isClosed": true, "off": true, "removeListener": true,
	"viewportSize": true, "viewport": true, "removeAllListeners": true, "video": true, "setContent": false}

// elementActions are what is done with an element.
var elementActions map[string]func(*reader, draft.Locator, chain.Member)

func init() {
	elementActions = map[string]func(*reader, draft.Locator, chain.Member){
		"click": (*reader).click, "dblclick": (*reader).click, "doubleClick": (*reader).click, "tap": (*reader).click,
		"check": (*reader).tick, "uncheck": (*reader).tick, "setChecked": (*reader).tick,
		"fill": (*reader).fill, "type": (*reader).fill, "pressSequentially": (*reader).fill, "clear": (*reader).fill, "setValue": (*reader).fill,
		"press": (*reader).pressIn, "selectOption": (*reader).choose, "select": (*reader).choose,
		"setInputFiles": (*reader).upload, "uploadFile": (*reader).upload, "hover": (*reader).hover,
		"waitFor": (*reader).waitFor, "wait": (*reader).waitFor, "waitForSelector": (*reader).waitFor, "waitHandle": (*reader).waitFor,
		"scrollIntoViewIfNeeded": (*reader).waitFor, "scrollIntoView": (*reader).waitFor, "scroll": (*reader).scrollElement,
		"dispatchEvent": (*reader).dispatch, "evaluate": (*reader).evaluateOn, "evaluateAll": (*reader).evaluateOn,
		"$eval": (*reader).evaluateOn, "$$eval": (*reader).evaluateOn, "evalOnSelector": (*reader).evaluateOn, "evalOnSelectorAll": (*reader).evaluateOn,
		"dragTo": (*reader).drag, "dragAndDrop": (*reader).drag, "drag": (*reader).drag, "drop": (*reader).drag, "screenshot": (*reader).screenshot,
	}
}

// act does something with an element.
func (r *reader) act(e element, m chain.Member) (object, bool) {
	code, reads := reads[m.Name]
	do := elementActions[m.Name]
	switch {
	case !m.Called || do == nil && !reads && !noOps[m.Name]:
		return object{}, false
	case !r.begin(m):
		return object{}, true
	case m.Name == "focus" && usable(e) == "":
		r.focus = e.locator() // where the keyboard types
	}
	if noOps[m.Name] {
		return object{}, true
	}
	if why := usable(e); why != "" {
		r.d.Drop("no_selector", "%s", why)
		return object{}, true
	}
	l := e.locator()
	if reads {
		return r.read(l, code, m), true
	}
	do(r, l, m)
	if m.Name == "waitForSelector" || m.Name == "waitHandle" {
		return object{kind: located, element: e}, true
	}
	if key := r.d.Last(); key != nil && key.StorageKey != "" && key.StorageKey == r.key {
		return object{kind: kept, key: r.key}, true
	}
	return object{}, true
}

// perform adds an operation on an element, with what was said before about its windows and dialogs.
func (r *reader) perform(l draft.Locator, o draft.Operation, timeout *chain.Value) {
	if o.WaitFor(r.milliseconds(timeout)) {
		r.d.Change("timeout", "the wait is shortened to the longest that there is")
	}
	if o.Type == "click" {
		if r.popup {
			o.Popup, r.popup = "follow", false
		}
		if r.dialog {
			o.Dialog, r.dialog = "accept", false
		}
	}
	r.d.Act(l, o)
	r.focus, r.moved = l, true
}

func (r *reader) click(l draft.Locator, m chain.Member) {
	if len(r.held) > 0 {
		r.d.Drop("modifier", "rote holds no key while it clicks")
		return
	}
	o := draft.Operation{Type: "click"}
	if button := option(m, "button"); button != nil {
		name := strings.ToLower(button.Text)
		if button.Kind == chain.Calls {
			name = strings.ToLower(button.Calls.Last().Name)
		}
		if name == "right" || name == "middle" {
			o.Button = name
		}
	}
	count, ok := r.integer(option(m, "clickCount"))
	if !ok || count == 0 {
		count, _ = r.integer(option(m, "count"))
	}
	switch {
	case m.Name == "dblclick" || m.Name == "doubleClick" || count == 2:
		o.Clicks = 2
	case count >= 3:
		o.Clicks = 3
	}
	if option(m, "modifiers") != nil {
		r.d.Drop("modifier", "rote holds no key while it clicks")
		return
	}
	if at := option(m, "position"); at != nil || canvas(l) && option(m, "offset") != nil {
		r.d.Change("offset", "rote clicks the middle of the element, not a point in it")
	}
	r.perform(l, o, option(m, "timeout"))
}

func canvas(l draft.Locator) bool {
	css := strings.ToLower(l.CSS)
	return strings.Contains(css, "canvas") || strings.Contains(css, "map")
}

func (r *reader) tick(l draft.Locator, m chain.Member) {
	wrong := "!e.checked"
	if m.Name == "uncheck" || m.Name == "setChecked" && argument(m, 0).Is("false") {
		wrong = "e.checked"
	}
	r.d.Do(l, "if("+wrong+")e.click();return;", "")
	r.d.Change("set_by_script", "a script clicks the box, if it does not have the state yet")
	r.focus, r.moved = l, true
}

func (r *reader) fill(l draft.Locator, m chain.Member) {
	o := draft.Operation{Type: "input_text", Text: r.typed(l, argument(m, 0)), Clear: m.Name != "type" && m.Name != "pressSequentially"}
	r.perform(l, o, option(m, "timeout"))
}

func (r *reader) pressIn(l draft.Locator, m chain.Member) {
	if !r.focus.Same(l) || r.focus.Empty() {
		r.perform(l, draft.Operation{Type: "click"}, nil)
	}
	r.press(argument(m, 0))
}

// press presses a key.
func (r *reader) press(v *chain.Value) {
	key, literal := r.text(v)
	key = strings.Join(append(slices.Clone(r.held), strings.NewReplacer("ControlOrMeta", "Control", "Key", "", "Digit", "").Replace(key)), "+")
	if key == " " {
		key = "Space"
	}
	if _, err := keyboard.Parse(key); err != nil || !literal {
		r.d.Drop("key", "there is no key %s", routine.Quote(draft.Shown(key)))
		return
	}
	o := draft.Operation{Type: "press", Key: key}
	if r.dialog {
		o.Dialog, r.dialog = "accept", false
	}
	r.d.Add(o)
	r.moved = true
}

func (r *reader) choose(l draft.Locator, m chain.Member) {
	var choices []chain.Value
	for _, a := range m.Args {
		switch {
		case a.Kind == chain.List:
			choices = append(choices, a.Parts...)
		case a.Kind == chain.Object && a.Get("label") == nil && a.Get("value") == nil && a.Get("index") == nil:
		default:
			choices = append(choices, a)
		}
	}
	if len(choices) == 0 {
		r.d.Drop("no_option", "the script does not say what is chosen")
	}
	for i := range choices {
		v := &choices[i]
		if index := v.Get("index"); index != nil {
			n, _ := r.integer(index)
			r.d.Do(l, "e.selectedIndex="+strconv.Itoa(max(n, 0))+`;for(const k of["input","change"])e.dispatchEvent(new Event(k,{bubbles:true}));return;`, "")
			r.d.Change("set_by_script", "a script chooses the option by its number")
			continue
		}
		if v.Kind == chain.Object {
			v = cmp.Or(v.Get("label"), v.Get("value"))
		}
		r.perform(l, draft.Operation{Type: "input_text", Text: r.typed(l, v), Clear: i == 0}, option(m, "timeout"))
	}
}

func (r *reader) upload(l draft.Locator, m chain.Member) {
	empty := ""
	r.perform(l, draft.Operation{Type: "input_text", Text: &empty, Files: r.d.Files(l.Label)}, option(m, "timeout"))
}

func (r *reader) hover(l draft.Locator, _ chain.Member) { r.d.Hover(l) }

func (r *reader) waitFor(l draft.Locator, m chain.Member) {
	wait := r.milliseconds(option(m, "timeout"))
	state := ""
	if v := option(m, "state"); v != nil {
		state = strings.ToLower(v.Text)
		if v.Kind == chain.Calls {
			state = strings.ToLower(v.Calls.Last().Name)
		}
	}
	switch {
	case state == "hidden" || state == "detached" || option(m, "hidden").Is("true"):
		found := "list.filter(visible).length"
		if state == "detached" {
			found = "list.length"
		}
		r.d.Assert(l, draft.Check{Found: found, Holds: "found===0", Expected: "no such element", Wait: wait})
	case state == "attached":
		r.d.Assert(l, draft.Check{Found: "list.length", Holds: "found>0", Expected: "an element", Wait: wait})
	default:
		r.d.WaitVisible(l, wait)
	}
}

func (r *reader) scrollElement(l draft.Locator, m chain.Member) {
	n, _ := r.integer(option(m, "scrollTop"))
	o := draft.Operation{Type: "scroll", DeltaY: &n}
	r.d.Act(l, o)
}

func (r *reader) dispatch(l draft.Locator, m chain.Member) {
	name, literal := r.text(argument(m, 0))
	code := fmt.Sprintf("e.dispatchEvent(new Event(%s,{bubbles:true}));return;", draft.Literal(name))
	if name == "click" {
		code = "e.click();return;"
	}
	if !literal {
		r.d.Drop("not_understood", "the name of the event is computed")
		return
	}
	r.d.Do(l, code, "")
	r.d.Change("set_by_script", "a script tells the page")
	r.moved = true
}

func (r *reader) drag(draft.Locator, chain.Member) { r.d.Drop("drag", "rote does not drag") }

func (r *reader) screenshot(draft.Locator, chain.Member) {
	r.d.Drop("snapshot", "a routine takes no pictures")
}
