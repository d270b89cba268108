package browser

import (
	"encoding/json"

	"rote/browser/cdp"
	"rote/routine"
)

// Limits of what a page may write to its console: the bytes, and how many bytes each
// message counts for at least. The events of all pages come through one process and one
// pipe, so a page that writes without end would delay every other run.
const (
	maxConsoleBytes = 64 << 20
	messageCost     = 4 << 10
	// copyCost is how often the bytes of what a page copies count: such a message is
	// decoded, however long it is.
	copyCost = 4
)

// countConsole counts what the page writes to its console and to the run's clipboard, ends
// the run when that is too much, and reports whether the event is to be handled. It runs
// on the reading goroutine.
func (p *page) countConsole(method string, params json.RawMessage) bool {
	copies := method == "Runtime.bindingCalled" // to its clipboard
	if !cdp.IsConsoleEvent(method) && !copies {
		return true
	}
	first := p.first()
	first.mu.Lock()
	first.console.bytes += len(params) + messageCost
	if copies {
		first.console.bytes += (copyCost - 1) * len(params)
	}
	over := first.console.bytes > maxConsoleBytes
	first.mu.Unlock()
	if over {
		p.block(routine.Errorf(routine.CodeResultTooLarge, "the page was ended: it floods its console or clipboard, which holds up other runs"))
	}
	return !over && (copies || len(params) <= cdp.MaxConsoleEvent)
}
