package definition

import (
	"strings"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
	"rote/routine/selector"
)

// textWarnings warns of text that probably does not do what it seems to: a placeholder
// that is never closed, and a selector of a pseudo-element, which matches no element.
func (c *checker) textWarnings(pointer func() string, s operation.Site, t *placeholder.Template, faults []placeholder.Fault) {
	if i := strings.LastIndex(s.Text, "{{"); i >= 0 && s.Place != placeholder.Script && !strings.Contains(s.Text[i:], "}}") {
		c.put(&c.warnings, finding{within: i + 1, Problem: routine.Problem{Pointer: pointer(), Code: "open_placeholder",
			Message: "{{ is never closed: it stays as it is written", Hint: "close it with }}"}})
	}
	if s.Place == placeholder.Selector && strings.Contains(s.Text, "::") {
		if i := selector.PseudoElement(sampleIn(s.Text, t, faults, identSample)); i >= 0 {
			c.put(&c.warnings, finding{within: i + 1, Problem: routine.Problem{Pointer: pointer(), Code: "selector",
				Message: "a pseudo-element is no element: nothing will be found", Hint: "select the element that has it"}})
		}
	}
}
