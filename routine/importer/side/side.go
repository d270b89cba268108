// Package side reads projects of Selenium IDE.
package side

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
)

// Kind is the name of this kind of recordings.
const Kind = "side"

// Matches reports whether a JSON text is a project of this kind.
func Matches(root *jsontree.Value) bool {
	return slices.ContainsFunc(root.Get("tests").Items, func(t *jsontree.Value) bool { return t.Get("commands").Kind == jsontree.Array })
}

// Tests returns the names of the tests of a project.
func Tests(root *jsontree.Value) []string {
	names := []string{}
	for _, t := range root.Get("tests").Items {
		names = append(names, t.Get("name").String())
	}
	return names
}

// Read makes a draft of one test of a project. test is its name; it may be empty if there is only one.
func Read(root *jsontree.Value, test string) (*draft.Draft, error) {
	t, err := selectTest(root.Get("tests").Items, test)
	if err != nil {
		return nil, err
	}
	r := &reader{d: &draft.Draft{Title: t.Get("name").String()}, base: strings.TrimSpace(root.Get("url").String()),
		tests: root.Get("tests").Items, constants: map[string]string{}, stored: map[string]bool{}}
	commands := t.Get("commands").Items
	if len(commands) > draft.MaxSteps {
		return nil, routine.Errorf(routine.CodeInvalid, "line %d: the test has %d commands, the limit is %d",
			commands[draft.MaxSteps].Line, len(commands), draft.MaxSteps)
	}
	r.running = []string{t.Get("name").String()}
	r.block(commands)
	return r.d, nil
}

// maxTests is how many tests a project may have.
const maxTests = 50

func selectTest(tests []*jsontree.Value, name string) (*jsontree.Value, error) {
	if len(tests) > maxTests {
		return nil, routine.Errorf(routine.CodeInvalid, "line %d: the project has %d tests, the limit is %d", tests[maxTests].Line, len(tests), maxTests)
	}
	var names []string
	for _, t := range tests {
		if t.Get("name").String() == name && name != "" || name == "" && len(tests) == 1 {
			return t, nil
		}
		names = append(names, routine.Quote(draft.Shown(t.Get("name").String())))
	}
	if name != "" {
		return nil, routine.Errorf(routine.CodeInvalid, "there is no test %s: there are %s", routine.Quote(draft.Shown(name)), strings.Join(names, ", "))
	}
	return nil, routine.Errorf(routine.CodeInvalid, "name one of the tests: %s", strings.Join(names, ", "))
}

// reader turns the commands of one test into operations.
type reader struct {
	d     *draft.Draft
	base  string // URL of relative ones
	tests []*jsontree.Value
	// constants are the variables with a known value, and stored those that a script stores.
	constants map[string]string
	stored    map[string]bool
	running   []string      // the names of the tests that are run, from the outermost
	popup     string        // the name of the window that is followed; empty: none
	typed     draft.Locator // the field that was typed into last
}

// command is one command of a test.
type command struct {
	name, target, value string
	at                  *jsontree.Value
}

func read(v *jsontree.Value) command {
	name := strings.TrimSpace(v.Get("command").String())
	return command{name, strings.TrimSpace(v.Get("target").String()), v.Get("value").String(), v}
}

// comment reports whether a command does nothing.
func (c command) comment() bool { return c.name == "" || strings.HasPrefix(c.name, "//") }

// step begins the account of a command.
func (r *reader) step(c command) {
	text := c.name
	if !valueTargets[c.name] {
		shown, _, _ := strings.Cut(routine.WithoutUser(c.target), "?")
		text += " " + shown
	}
	r.d.Step(c.at.Line, c.at.Column, text)
}

// valueTargets are commands whose target is a value or a script.
var valueTargets = map[string]bool{"store": true, "executeScript": true, "executeAsyncScript": true, "runScript": true, "echo": true,
	"answerPrompt": true, "answerOnNextPrompt": true, "webdriverAnswerOnVisiblePrompt": true, "storeJson": true, "assertPrompt": true, "assertAlert": true,
	"assertConfirmation": true}

// block does the commands of a list.
func (r *reader) block(commands []*jsontree.Value) {
	for i := 0; i < len(commands); i++ {
		c := read(commands[i])
		r.step(c)
		switch {
		case c.comment():
		case opens[c.name]:
			end := blockEnd(commands, i)
			r.control(c, commands[i+1:max(end, i+1)])
			for _, inner := range commands[i+1 : min(end+1, len(commands))] {
				r.within(read(inner))
			}
			i = end
		default:
			r.do(c, i, commands)
		}
	}
}

// within accounts for a command of a block, which has become what the step of the block's
// beginning has.
func (r *reader) within(c command) {
	begin := *r.d.Item()
	r.step(c)
	item := r.d.Item()
	item.What, item.Code, item.Message = begin.What, begin.Code, begin.Message
	item.Operations = begin.Operations
	if c.comment() || c.name == "end" || c.name == "else" || c.name == "echo" {
		return
	}
	if item.What == draft.Dropped {
		item.Message = "it is in the block that is left out"
	}
}

// do does one command.
func (r *reader) do(c command, i int, commands []*jsontree.Value) {
	if c.name != "selectWindow" {
		c.target, c.value = r.filled(c.target), r.filled(c.value)
	}
	switch handle := handler(c.name); {
	case handle != nil:
		handle(r, c)
	case hoverCommands[c.name]:
		r.hover(c, i, commands)
	case dialogAccepts[c.name]:
		r.d.Drop("dialog_accept", "the dialog was accepted, rote dismisses it: the site may do something else from here; "+
			"\"x-dialog\": \"accept\" on the operation before accepts it")
	case dialogTexts[c.name]:
		r.d.Drop("dialog_text", "the text of the dialog is not checked; the dialog is dismissed")
	case silent[c.name]:
	case strings.HasPrefix(c.name, "assert"), strings.HasPrefix(c.name, "verify"), strings.HasPrefix(c.name, "waitFor"):
		r.check(c)
	case strings.HasPrefix(c.name, "store"):
		r.store(c)
	case strings.HasPrefix(c.name, "eyes"):
		r.d.Drop("plugin", "%s is a command of a plug-in", routine.Quote(draft.Shown(c.name)))
	default:
		r.d.Drop("plugin", "%s is no command of Selenium IDE itself", routine.Quote(draft.Shown(c.name)))
	}
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][\w.]*)\}`)

// filled returns a text with the values of the constants in it. A variable that a script has
// stored becomes a placeholder; one that is not known becomes a parameter.
func (r *reader) filled(text string) string {
	return variable.ReplaceAllStringFunc(text, func(token string) string {
		name := token[2 : len(token)-1]
		switch {
		case strings.HasPrefix(name, "KEY_"):
			return token
		case r.stored[name]:
			return fmt.Sprintf("{{sessionStorage:%s}}", name)
		}
		if value, known := r.constants[name]; known {
			return value
		}
		r.d.Change("variable", "the variable %s is not in the test: it is a parameter", name)
		placeholder := r.d.Parameter(name, "", draft.IsSecret(name, "?"))
		r.constants[name] = placeholder
		return placeholder
	})
}

// silent are the commands without which a run is the same.
var silent = map[string]bool{"echo": true, "debugger": true, "setSpeed": true, "selectFrame": true, "close": true, "end": true,
	"dismissConfirmation": true, "dismissPrompt": true, "acceptAlert": true, "chooseCancelOnNextConfirmation": true, "chooseCancelOnNextPrompt": true,
	"webdriverChooseCancelOnVisibleConfirmation": true, "webdriverChooseCancelOnVisiblePrompt": true}

var dialogAccepts = map[string]bool{"assertConfirmation": true, "acceptConfirmation": true, "chooseOkOnNextConfirmation": true,
	"webdriverChooseOkOnVisibleConfirmation": true, "answerOnNextPrompt": true, "answerPrompt": true, "webdriverAnswerOnVisiblePrompt": true}

var dialogTexts = map[string]bool{"assertAlert": true, "assertPrompt": true}

var hoverCommands = map[string]bool{"mouseOver": true, "mouseOut": true, "mouseMoveAt": true, "mouseDown": true, "mouseDownAt": true,
	"mouseUp": true, "mouseUpAt": true, "dragAndDropToObject": true}

// hover accounts for the movements of the mouse: those around a click or choice of the same element
// say nothing more than that.
func (r *reader) hover(c command, i int, commands []*jsontree.Value) {
	clicks := false
	for _, next := range commands[i+1:] {
		n := read(next)
		if hoverCommands[n.name] && (n.target == c.target || !strings.HasPrefix(n.name, "mouseDown")) {
			continue
		}
		clicks = strings.HasPrefix(n.name, "click") || strings.HasPrefix(n.name, "doubleClick") || strings.HasPrefix(n.name, "mouseDown")
		if n.target == c.target && (strings.HasPrefix(n.name, "click") || strings.HasPrefix(n.name, "addSel") || n.name == "select" || n.name == "type") {
			return
		}
		break
	}
	down := i > 0 && strings.HasPrefix(read(commands[i-1]).name, "mouseDown")
	switch {
	case strings.HasPrefix(c.name, "mouseUp") && (down && read(commands[i-1]).target == c.target):
		r.d.Act(r.locate(c), draft.Operation{Type: "click"})
	case strings.HasPrefix(c.name, "mouseDown") && i+1 < len(commands) && strings.HasPrefix(read(commands[i+1]).name, "mouseUp") &&
		read(commands[i+1]).target == c.target:
	case c.name == "mouseOut": // the next click moves it anyway
	case !clicks && (c.name == "mouseOver" || c.name == "mouseMoveAt"):
		r.d.Drop("hover", "rote moves the mouse over an element only before a click (x-hover)")
	case c.name == "mouseOver", c.name == "mouseMoveAt":
		r.d.Hover(r.locate(c))
	default:
		r.d.Drop("drag", "rote does not drag")
	}
}
