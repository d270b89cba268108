package routine

import (
	"fmt"
	"strings"
)

// String is the line as a look shows it, without its indent, as in
// `button "Save" disabled | #save`. Its texts of the page are in JSON quotes.
func (x SeenLine) String() string {
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	switch {
	case x.Kind == "more" || x.Kind == "note" || x.Kind == "text" && x.Selector == "":
	case x.Kind == "items" || x.Kind == "columns" || x.Kind == "row":
		add(x.Kind + ":")
	default:
		add(PlainText(x.Kind))
	}
	if x.Matches > 0 {
		add(fmt.Sprintf("%d ×", x.Matches))
	}
	if x.Name != "" {
		add(JSONText(PlainText(x.Name)))
	}
	add(PlainText(x.Detail))
	for _, state := range x.States {
		add(PlainText(state))
	}
	if x.Target != "" {
		add("→ " + PlainText(x.Target))
	}
	if x.Grade == "D" {
		add("place")
	}
	if x.ByName != nil {
		add("or name")
	}
	if x.Selector != "" {
		add("| " + x.Selector)
	}
	return strings.Join(parts, " ")
}
