package browser

import (
	"encoding/json"

	"rote/routine"
)

// A page may write so much to its console, of which each message costs as much
// as so many bytes. What all pages say comes through one process and one pipe:
// one that writes without end holds up every other run.
const (
	maxWritten  = 64 << 20
	messageCost = 4 << 10
)

// mayWrite counts what the page writes to its console and ends the page when it
// is too much. It runs on the reading goroutine.
func (p *page) mayWrite(method string, params json.RawMessage) bool {
	if method != "Runtime.consoleAPICalled" && method != "Runtime.exceptionThrown" {
		return true
	}
	p.mu.Lock()
	p.written += len(params) + messageCost
	over := p.written > maxWritten
	p.mu.Unlock()
	if over {
		p.block(routine.Errorf(routine.CodeResultTooLarge, "the page was ended: it floods its console, which holds up other runs"))
	}
	return !over
}
