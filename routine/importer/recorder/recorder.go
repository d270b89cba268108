// Package recorder reads recordings of the Recorder of Chrome's DevTools.
package recorder

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
)

// Kind is the name of this kind of recordings.
const Kind = "recorder"

// Read makes a draft of a recording.
func Read(root *jsontree.Value) (*draft.Draft, error) {
	if root.Get("steps").Kind != jsontree.Array {
		return nil, routine.Errorf(routine.CodeInvalid, "line 1: a recording of Chrome's Recorder is an object with the list steps")
	}
	r := &reader{d: &draft.Draft{Title: root.Get("title").String()}, steps: root.Get("steps").Items, pressed: map[string]pressedKey{}}
	if len(r.steps) > draft.MaxSteps {
		return nil, routine.Errorf(routine.CodeInvalid, "line %d: the recording has %d steps, the limit is %d",
			r.steps[draft.MaxSteps].Line, len(r.steps), draft.MaxSteps)
	}
	r.declare(root)
	for r.at = range r.steps {
		r.step(r.steps[r.at])
	}
	return r.d, nil
}

// placeholders matches what rote export leaves in a recording for the value of a parameter: a whole
// text, or the beginning of a URL.
var placeholders = regexp.MustCompile(`^\{\{([a-z_][a-z0-9_]*)\}\}(?:$|/)`)

// declare adds the parameters of a recording that rote export has made. Chrome keeps their
// placeholders but not their declarations when it saves the recording again.
func (r *reader) declare(root *jsontree.Value) {
	var all []routine.Parameter
	if given := root.Get("x-parameters"); given.Kind != jsontree.Array || json.Unmarshal([]byte(given.JSON()), &all) != nil {
		all = nil
	}
	known := map[string]bool{}
	for _, p := range all {
		known[p.Name] = true
	}
	for _, s := range r.steps {
		for _, text := range []string{s.Get("value").String(), s.Get("url").String()} {
			for _, m := range placeholders.FindAllStringSubmatch(text, -1) {
				if !known[m[1]] {
					known[m[1]] = true
					all = append(all, routine.Parameter{Name: m[1], Type: routine.TypeString, Required: true, Secret: draft.IsSecret(m[1], "?")})
				}
			}
		}
	}
	r.d.Declare(all)
}

// reader turns the steps of one recording into operations.
type reader struct {
	d     *draft.Draft
	steps []*jsontree.Value
	at    int // the index of the present step
	// pressed are the keys that are down, by their names.
	pressed map[string]pressedKey
	url     string // of the popup in which the last step was
	opened  bool   // whether the routine follows the popup, and does not open its URL itself
}

// handlers are the types of steps and what they become.
var handlers = map[string]func(*reader, *jsontree.Value){
	"navigate": (*reader).navigate, "click": (*reader).click, "doubleClick": (*reader).click, "change": (*reader).change,
	"keyDown": (*reader).keyDown, "keyUp": (*reader).keyUp, "scroll": (*reader).scroll, "hover": (*reader).hover,
	"setViewport": (*reader).viewport, "waitForElement": (*reader).waitForElement, "waitForExpression": (*reader).waitForExpression,
	"emulateNetworkConditions": func(r *reader, _ *jsontree.Value) {
		r.d.Drop("network_conditions", "the network of a run is not slowed down")
	},
	"customStep": func(r *reader, s *jsontree.Value) {
		r.d.Drop("custom_step", "%s is a step of another program", routine.Quote(draft.Shown(s.Get("name").String())))
	},
	"close": func(*reader, *jsontree.Value) {},
}

func (r *reader) step(s *jsontree.Value) {
	kind := s.Get("type").String()
	r.d.Step(s.Line, s.Column, kind+" "+describe(s))
	handle := handlers[kind]
	if handle == nil {
		r.d.Drop("unknown_step", "%s is no type of step", routine.Quote(draft.Shown(kind)))
		return
	}
	r.popup(s)
	handle(r, s)
	r.assertedEvents(s, kind)
	if s.Has("frame") && len(s.Get("frame").Items) > 0 && locate(s).Weak() {
		r.d.Change("frame", "the selector could match in an earlier frame: rote searches all frames for it")
	}
}

// describe names what a step acts on, without values.
func describe(s *jsontree.Value) string {
	switch {
	case s.Has("selectors"):
		for _, parts := range chains(s) {
			return strings.Join(parts, " ")
		}
	case s.Has("url"):
		url, _, _ := strings.Cut(s.Get("url").String(), "?")
		return routine.ShownURL(url)
	case s.Has("name"):
		return s.Get("name").String()
	case len([]rune(s.Get("key").String())) > 1:
		return s.Get("key").String()
	}
	return ""
}

// popup goes to the window in which a step is: one that the click before has opened is followed.
// Without such a click the routine opens the URL of the window itself.
func (r *reader) popup(s *jsontree.Value) {
	target := s.Get("target").String()
	kind := s.Get("type").String()
	switch {
	case kind == "close" || kind == "setViewport" || target == r.url:
	case target != "" && target != "main":
		if r.opened {
			r.d.Popup("close")
		}
		r.url, r.opened = target, r.d.Popup("follow")
		if r.opened {
			r.d.Change("popup", "the routine follows the window that the click before opens (x-popup)")
			return
		}
		r.d.Navigate(target)
		r.d.Change("popup", "the step was in a window that the page had opened: the routine opens its URL itself")
	case r.url != "" && r.opened:
		r.d.Popup("close")
		r.url = ""
	case r.url != "":
		r.url = ""
		r.d.Change("popup", "the step was in the first window again: the routine is still at the URL of the other one, add a navigate")
	}
}

func (r *reader) navigate(s *jsontree.Value) { r.d.Navigate(s.Get("url").String()) }

// buttons are the mouse buttons by their names in recordings.
var buttons = map[string]string{"secondary": "right", "auxiliary": "middle"}

func (r *reader) click(s *jsontree.Value) {
	o := draft.Operation{Type: "click", Button: buttons[s.Get("button").String()]}
	if s.Get("type").String() == "doubleClick" {
		o.Clicks = 2
	}
	r.act(s, o)
	if selector := strings.ToLower(locate(s).CSS); strings.Contains(selector, "canvas") || strings.Contains(selector, "map") {
		r.d.Change("offset", "rote clicks the middle of the element, not a point in it")
	}
}

// act adds an operation on the element of a step.
func (r *reader) act(s *jsontree.Value, o draft.Operation) {
	if o.WaitFor(s.Get("timeout").Float()) {
		r.d.Change("timeout", "the wait is shortened to the longest that there is")
	}
	r.d.Act(locate(s), o)
}

func (r *reader) change(s *jsontree.Value) {
	l, value := locate(s), s.Get("value").String()
	selectors := strings.ToLower(s.Get("selectors").JSON())
	choice := strings.Contains(selectors, "checkbox") || strings.Contains(selectors, "radio")
	switch {
	case strings.Contains(value, `fakepath`) || strings.Contains(selectors, "type=file") || strings.Contains(selectors, `type=\"file`):
		empty := ""
		r.act(s, draft.Operation{Type: "input_text", Text: &empty, Files: r.d.Files(l.Label)})
	case s.Get("value").IsTrue(), s.Get("value").IsFalse(), choice && (value == "on" || value == "true" || value == "off" || value == "false"):
		if previous := r.previous(); previous != nil && previous.Get("type").String() == "click" && locate(previous).Same(l) {
			return // the click has changed it
		}
		r.act(s, draft.Operation{Type: "click"})
	case colour.MatchString(value) || strings.Contains(selectors, "range"):
		text := *r.d.Text(l, value)
		r.d.Do(l, fmt.Sprintf(`e.value=%s;for(const k of["input","change"])e.dispatchEvent(new Event(k,{bubbles:true}));return;`, draft.Literal(text)), "")
		r.d.Change("set_by_script", "a script sets the value and tells the page")
	default:
		r.act(s, draft.Operation{Type: "input_text", Text: r.d.Text(l, value), Clear: true})
	}
}

// previous is the step before the present one; nil for the first.
func (r *reader) previous() *jsontree.Value {
	if r.at == 0 {
		return nil
	}
	return r.steps[r.at-1]
}

func (r *reader) scroll(s *jsontree.Value) {
	x, y := int(clamp(s.Get("x").Float())), int(clamp(s.Get("y").Float()))
	o := draft.Operation{Type: "scroll"}
	if s.Has("selectors") {
		o.DeltaX, o.DeltaY = &x, &y
		if x == 0 {
			o.DeltaX = nil
		}
		r.act(s, o)
		return
	}
	o.X, o.Y = &x, &y
	r.d.Add(o)
}

// clamp keeps a length in pixels in the range of lengths that pages have.
func clamp(pixels float64) float64 { return min(max(pixels, -1e6), 1e6) }

// hover keeps the element for the next click, which the mouse passes over it before.
func (r *reader) hover(s *jsontree.Value) {
	if !r.clickFollows() {
		r.d.Drop("hover", "rote moves the mouse over an element only before a click: if a menu opens by it, click the URL of its item")
		return
	}
	r.d.Hover(locate(s))
}

// clickFollows reports whether the next step that acts is a click.
func (r *reader) clickFollows() bool {
	for _, s := range r.steps[r.at+1:] {
		if kind := s.Get("type").String(); kind != "hover" && kind != "waitForElement" {
			return kind == "click" || kind == "doubleClick"
		}
	}
	return false
}

// leastWidth is the width of the window from which on pages look as in the window of a run.
const leastWidth = 1000

func (r *reader) viewport(s *jsontree.Value) {
	if width := s.Get("width").Float(); width < leastWidth {
		r.d.Change("viewport", "the recording had a window of %d pixels, the run has a wide one: the page may look different", int(clamp(width)))
	}
}

// assertedEvents adds a wait for the page that a click has led to.
func (r *reader) assertedEvents(s *jsontree.Value, kind string) {
	events := s.Get("assertedEvents").Items
	if kind == "navigate" || r.d.Item().What == draft.Dropped {
		return
	}
	at := slices.IndexFunc(events, func(e *jsontree.Value) bool { return e.Get("type").String() == "navigation" && e.Has("url") })
	if at < 0 {
		return
	}
	regex, ok := draft.URLRegex(events[at].Get("url").String())
	if ok {
		r.d.Add(draft.Operation{Type: "wait_for_url", URLRegex: regex})
		return
	}
	if title := events[at].Get("title").String(); title != "" {
		r.d.Change("title_event", "the title of the next page is not checked")
	}
}
