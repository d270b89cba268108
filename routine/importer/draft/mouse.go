package draft

import (
	"rote/routine/lesson/jsonobject"
)

// maxHovers is how many elements the mouse passes over before a click.
const maxHovers = 10

// hovers are the elements over which the mouse went since the last click.
type hovers struct {
	selectors []string
	items     []int // the indexes of their accounts
}

// Hover keeps an element for the next click, before which the mouse passes over it.
func (d *Draft) Hover(l Locator) {
	if l.CSS == "" || len(d.hovers.selectors) == maxHovers {
		d.Drop("hover", "rote moves the mouse over an element with a selector only, before a click: if a menu opens by it, click the URL of its item")
		return
	}
	d.hovers.selectors = append(d.hovers.selectors, l.CSS)
	d.hovers.items = append(d.hovers.items, len(d.Items)-1)
	d.Change("hover", "the next click moves the mouse over the element first (x-hover)")
}

// hovered accounts for the elements before a click, which has been added.
func (d *Draft) hovered() {
	for _, i := range d.hovers.items {
		d.Items[i].Operations = []int{len(d.Operations) - 1}
	}
	d.hovers = hovers{}
}

// dropHovers drops the elements after which there was no click.
func (d *Draft) dropHovers() {
	for _, i := range d.hovers.items {
		item := &d.Items[i]
		item.What, item.Code, item.Message = Dropped, "hover", "no click follows that could be done"
	}
}

// Popup sets what the last operation does about windows: follow or close. It returns false if there is
// no such operation, or if it does something about them already.
func (d *Draft) Popup(do string) bool {
	last := d.Last()
	if last == nil || last.Popup != "" || do == "follow" && last.Type != "click" {
		return false
	}
	last.Popup = do
	if last.Raw != nil {
		raw, err := jsonobject.Set(last.Raw, "x-popup", []byte(`"`+do+`"`))
		if err != nil {
			return false
		}
		last.Raw = raw
	}
	return true
}
