package draft

import "slices"

// checkedText is a step that checks the text of an element.
type checkedText struct {
	element Locator
	items   int // the number of steps, of which this is the last
	after   int // the number of operations with those of this step
}

// TextChecked notes that the present step has checked the text of an element.
func (d *Draft) TextChecked(l Locator) {
	if d.Item().What != Dropped && !l.Empty() {
		d.checked = checkedText{l, len(d.Items), len(d.Operations)}
	}
}

// addResult returns the element whose text was checked in the end, if nothing else gives a result.
func (d *Draft) addResult() {
	yields := slices.ContainsFunc(d.Operations, func(o Operation) bool {
		return o.Type == "return" || o.Type == "return_html" || o.Type == "download"
	})
	if d.checked.after == 0 || d.checked.after != len(d.Operations) || yields {
		return
	}
	all := d.Items
	d.Items = all[:d.checked.items]
	d.Act(d.checked.element, Operation{Type: "return_html", Scope: "element"})
	d.Change("result", "the element is also the result of the routine (return_html)")
	d.Items = all
}
