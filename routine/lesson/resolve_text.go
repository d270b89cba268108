package lesson

import (
	"fmt"
	"strings"

	"rote/routine"
	imported "rote/routine/importer/draft"
)

// maxItemsText bounds the lines about steps of a recording that were not carried as they were, in
// bytes.
const maxItemsText = 4000

// Text is the answer for a reader. It needs Resolved.
func (i *Imported) Text() string {
	r := i.Resolved
	a := &answer{}
	a.line("%s is open, and ends after %s without a call. Imported: %s.", r.ID, spell(r.idle), i.Report.Summary())
	a.items(i.Report.Items)
	if r.SessionWarning != "" {
		a.line("%s.", r.SessionWarning)
	}
	if r.Ended != "" {
		a.line("%s, which was saved, was ended to open this one.", r.Ended)
	}
	for _, t := range r.Replaced {
		a.line("Operation %d has %s (%s) in place of its texts.", t.Operation, routine.Truncate(t.Selector, 200), t.Grade)
	}
	a.resolved(r)
	a.snapshot(r.Snapshot)
	return a.b.String()
}

// items adds a line for each step that was not carried as it was.
func (a *answer) items(items []imported.Item) {
	size, left := 0, 0
	for _, item := range items {
		if item.What == imported.Carried {
			continue
		}
		text := fmt.Sprintf("Line %d: %s: %s: %s", item.Source.Line, item.What, item.Source.Text, item.Message)
		if size += len(text); size > maxItemsText {
			left++
			continue
		}
		a.line("%s", routine.OneLine(text))
	}
	if left > 0 {
		a.line("… and %d more: import_routine without resolve lists all.", left)
	}
}

// resolved adds the operations that were done, and the next call.
func (a *answer) resolved(r *Resolved) {
	var done []string
	for _, step := range r.Steps {
		if step.OK {
			done = append(done, stepText(step))
		}
	}
	if len(done) > 0 {
		a.line("Done: %s", routine.Truncate(strings.Join(done, " · "), maxOperationsText))
	}
	for _, step := range r.Steps {
		if step.OK {
			for _, w := range step.Warnings {
				a.page("Warning: %s", routine.OneLine(routine.PlainText(w)))
			}
		} else {
			a.step(step)
		}
	}
	if r.PageLost != "" {
		a.line("page_lost: %s.", r.PageLost)
	}
	a.operations(r.Info)
	a.mended(&r.Tried)
}
