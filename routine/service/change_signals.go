package service

import "sync"

// changeSignals wakes those who wait for a change of routines or tokens by any process.
type changeSignals struct {
	mu sync.Mutex
	// next is closed at the next change. It is nil while the store is not listened to.
	next chan struct{}
}

// begin is called before the store is listened to.
func (c *changeSignals) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = make(chan struct{})
}

func (c *changeSignals) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.next)
	c.next = make(chan struct{})
}

// end wakes all, because there are no more signals.
func (c *changeSignals) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.next)
	c.next = nil
}

// Changed returns a channel that is closed soon after the next change of a routine or a
// token by any process, or nil if this process gets no signals of changes: then the caller
// has to look itself, with ToolsStamp. Maintain gets the signals.
func (s *Service) Changed() <-chan struct{} {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	return s.changes.next
}
