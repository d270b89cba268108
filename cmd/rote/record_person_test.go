package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/browser/recorder"
)

// point is a place in the viewport.
type point struct{ X, Y float64 }

// middle returns the middle of the element that a selector matches, when it is there and the page
// was drawn since: a window drops clicks on what it has not drawn yet.
func (v *visitor) middle(selector string) point {
	quoted, _ := json.Marshal(selector)
	v.does(fmt.Sprintf(`document.readyState === "complete" && !!document.querySelector(%s)`, quoted))
	return v.middleOf(fmt.Sprintf("document.querySelector(%s)", quoted))
}

// middleOf is middle for the element that an expression gives.
func (v *visitor) middleOf(element string) point {
	var answer struct {
		Result struct {
			Value point `json:"value"`
		} `json:"result"`
	}
	v.call(v.session, "Runtime.evaluate", map[string]any{"returnByValue": true, "awaitPromise": true, "expression": fmt.Sprintf(
		`(async e => {
			e.scrollIntoView({block: "center"});
			for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
			const r = e.getBoundingClientRect();
			return {X: r.x + r.width / 2, Y: r.y + r.height / 2};
		})(%s)`, element)}, &answer)
	return answer.Result.Value
}

// click clicks an element, with keys held.
func (v *visitor) click(selector string, modifiers int) { v.clickAt(v.middle(selector), modifiers, 1) }

const withAlt, withControl = 1, 2

// clickAt clicks a point for the count-th time.
func (v *visitor) clickAt(at point, modifiers, count int) {
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		button := "left"
		if kind == "mouseMoved" {
			button = "none"
		}
		v.call(v.session, "Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": button, "clickCount": count,
			"modifiers": modifiers}, &struct{}{})
	}
}

// types sends the keys of a text to the focused element.
func (v *visitor) types(text string) {
	for _, c := range text {
		v.call(v.session, "Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "text": string(c), "key": string(c)}, &struct{}{})
		v.call(v.session, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": string(c)}, &struct{}{})
	}
}

// presses presses a key.
func (v *visitor) presses(key string, code int, text string) {
	v.call(v.session, "Input.dispatchKeyEvent",
		map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}, &struct{}{})
	v.call(v.session, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code}, &struct{}{})
}

// recordRun is a run of rote record in this process.
type recordRun struct {
	out, errs string
	err       error
	db        string
}

// recordInWindow runs rote record with arguments. The person acts with the window and the terminal.
func recordInWindow(t *testing.T, headless bool, person func(v *visitor, terminal *terminal), args ...string) recordRun {
	t.Helper()
	needsWindowed(t)
	if headless {
		t.Setenv("DISPLAY", ":not-used") // the browser has no window
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	read, typing := io.Pipe()
	defer typing.Close()
	var out strings.Builder
	screen := &terminal{t: t, keys: typing, output: output{more: make(chan struct{}, 1)}}
	s := streams{in: read, out: &out, err: screen}
	db := filepath.Join(t.TempDir(), "rote.db")
	command, g, err := parse(append([]string{"record", "--db", db}, args...), s)
	if err != nil {
		t.Fatal(err)
	}
	record := command.(*recordCommand)
	open, done := withPerson(t, recorder.Open, screen, person)
	record.open = func(ctx context.Context, c recorder.Config) (*recorder.Window, error) {
		c.Headless = headless
		return open(ctx, c)
	}
	err = record.Run(ctx, g, s)
	typing.Close()
	<-done
	return recordRun{out.String(), screen.String(), err, db}
}

// shows waits for a text in the terminal.
func (s *terminal) shows(text string) {
	s.wait(s.t, func(all string) string {
		if strings.Contains(all, text) {
			return text
		}
		return ""
	})
}

// readJSON returns a file of JSON.
func readJSON(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}
