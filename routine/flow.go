package routine

import (
	"fmt"
	"strconv"
	"time"

	"rote/routine/placeholder"
)

// flow checks the operations together: what they store and read, what they
// return, how long they sleep.
func (c *checker) flow() {
	var slept time.Duration
	stored := map[string]bool{}
	last := false
	for i, op := range c.decoded {
		if op == nil {
			return // the rest would be guesses
		}
		base := "/operations/" + strconv.Itoa(i)
		if s, ok := op.(sleeping); ok {
			slept += s.sleeps()
		}
		if r, ok := op.(*opReturn); ok {
			c.returnKey(base, r.SessionKey, stored)
		}
		if s, ok := op.(storing); ok && s.storesKey() != "" {
			stored[s.storesKey()] = true
		}
		_, last = op.(yielding)
	}
	if slept > MaxRunTimeout {
		c.add(Problem{Pointer: "/operations", Code: "too_long", Message: fmt.Sprintf("the fixed sleeps add up to %v, more than a run may last (%v): wait for what you need instead (wait_for_url, timeout_ms)", slept, MaxRunTimeout)})
	}
	if !last && len(c.decoded) > 0 {
		c.noResult()
	}
}

// returnKey warns of a return whose key nothing before it stores; the site
// itself may.
func (c *checker) returnKey(base, key string, stored map[string]bool) {
	if t, _ := placeholder.Parse(key, placeholder.Text); !t.Literal() || stored[key] {
		return
	}
	p := Problem{Pointer: base + "/session_storage_key", Code: "unstored_key", Message: fmt.Sprintf("nothing before stores %q; the run fails unless the site does", key)}
	if near := nearest(key, sortedNames(stored)); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.warn(p)
}

func (c *checker) noResult() {
	for _, op := range c.decoded {
		if _, ok := op.(yielding); ok {
			c.warn(Problem{Pointer: "/operations/" + strconv.Itoa(len(c.decoded)-1), Code: "result_not_last",
				Message: "the result is set before the last operation: is what follows meant to run?"})
			return
		}
	}
	c.warn(Problem{Pointer: "/operations", Code: "no_result", Message: "no operation yields a result: data will be null",
		Hint: "end with return, return_html or download"})
}
