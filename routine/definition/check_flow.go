package definition

import (
	"fmt"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/operation"
)

// flow checks the operations in their sequence: which session values they store and
// read, what they return, and how long they sleep. It skips checks that would be
// guesses because an operation could not be read.
func (c *checker) flow() {
	var slept time.Duration
	stored := storedKeys{has: map[string]bool{}}
	last, blank, popups := false, true, 0
	for i, op := range c.ops {
		if op == nil {
			continue
		}
		popups = c.popups(i, popups)
		slept += operation.PauseOf(op)
		k := c.kinds[i]
		if blank && operation.ActsOnPage(k, op) && !c.guessing && c.problems.count == 0 {
			c.warn(routine.Problem{Pointer: operationPointer(i), Code: "blank_page",
				Message: "acts on an empty page: nothing before it opens one", Hint: "begin with navigate"})
		}
		blank = blank && !k.OpensPage && !operation.ActsOnPage(k, op) // once is enough
		if !c.guessing {
			c.returnKey(operationPointer(i), operation.LoadedKey(op), stored)
		}
		if key := operation.StoredKey(op); key != "" {
			stored.add(key)
		}
		last = k.Ends()
	}
	if slept > routine.MaxRunTimeout {
		c.add(routine.Problem{Pointer: "/operations", Code: "too_long",
			Message: fmt.Sprintf("the fixed sleeps add up to %v s, more than a run may last (%v s)", slept.Seconds(), routine.MaxRunTimeout.Seconds()),
			Hint:    "wait for what you need instead: click, input_text, wait_for_url and return_html wait by themselves"})
	}
	if !last && len(c.ops) > 0 && !c.guessing {
		c.noResult()
	}
}

// popups returns the number of open popups after operation i, of which open existed
// before it. It warns of a close operation without an open popup.
func (c *checker) popups(i, open int) int {
	field := c.root.member("operations").items()[i].member("x-popup")
	switch {
	case field == nil || field.bad:
		return open
	case field.text == operation.FollowPopup:
		return open + 1
	case open > 0:
		return open - 1
	case !c.guessing && !c.warnings.full():
		c.warn(routine.Problem{Pointer: operationPointer(i) + "/x-popup", Code: "no_popup", Message: "closes nothing: no operation before it follows a popup",
			Hint: `write "x-popup": "follow" on the click that opens the window`})
	}
	return open
}

// returnKey warns of a return whose key no earlier operation stores. It is only a
// warning because the site may store it. Keys with placeholders are not compared.
func (c *checker) returnKey(base, key string, stored storedKeys) {
	if key == "" || stored.has[key] || stored.open || operation.HasToken(key) {
		return
	}
	if c.warnings.full() {
		c.warnings.count++
		return
	}
	p := routine.Problem{Pointer: base + "/session_storage_key", Code: "unstored_key",
		Message: fmt.Sprintf("nothing before stores %q: the run fails unless the site does", routine.Truncate(key, 60))}
	p.Hint = routine.DidYouMean(key, stored.names)
	c.warn(p)
}

// storedKeys are the keys of the session values that operations store.
type storedKeys struct {
	has   map[string]bool
	names []string // in order
	open  bool     // a key has a placeholder, so any key may be stored
}

func (s *storedKeys) add(key string) {
	if !s.has[key] {
		s.has[key], s.names = true, append(s.names, key)
		s.open = s.open || operation.HasToken(key)
	}
}

func (c *checker) noResult() {
	for _, k := range c.kinds {
		if k.Ends() {
			c.warn(routine.Problem{Pointer: operationPointer(len(c.ops) - 1), Code: "result_not_last",
				Message: "the result is set before the last operation: is what follows meant to run?"})
			return
		}
	}
	message := "no operation yields a result: data will be null"
	if slices.ContainsFunc(c.kinds, func(k operation.Kind) bool { return k.SendsFiles }) {
		message += " unless the page sends a file"
	}
	c.warn(routine.Problem{Pointer: "/operations", Code: "no_result", Message: message,
		Hint: "end with " + alternatives(operation.EndingKinds())})
}
