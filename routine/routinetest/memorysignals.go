package routinetest

import (
	"context"

	"rote/routine"
)

// listener collects signals until its caller of Signals has heard them.
type listener struct {
	signals []routine.Signal
	more    chan struct{} // has an element if there are signals
}

func (s *Store) Signals(ctx context.Context, heard func(routine.Signal)) error {
	l := &listener{more: make(chan struct{}, 1)}
	s.mu.Lock()
	s.listeners[l] = true
	for id, e := range s.executions {
		if e.Open() && e.cancelled {
			l.add(routine.Signal{Cancel: id})
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}()
	for {
		select {
		case <-l.more:
		case <-ctx.Done():
			return nil
		}
		s.mu.Lock()
		signals := l.signals
		l.signals = nil
		s.mu.Unlock()
		for _, signal := range signals {
			heard(signal)
		}
	}
}

// signal tells all listeners. s.mu must be held.
func (s *Store) signal(signal routine.Signal) {
	for l := range s.listeners {
		l.add(signal)
	}
}

// add adds a signal and wakes the listener. The mu of its Store must be held.
func (l *listener) add(signal routine.Signal) {
	l.signals = append(l.signals, signal)
	select {
	case l.more <- struct{}{}:
	default:
	}
}
