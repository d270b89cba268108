package routinetest

import (
	"context"
	"fmt"
	"sync"

	"rote/routine"
)

var _ routine.Browser = (*Browser)(nil)

// Browser is a [routine.Browser] that starts no process. Its pages answer as
// Page says. The zero Browser opens pages on which everything succeeds.
type Browser struct {
	// Page is what each page answers. It is copied when a page is opened: a later
	// change is for the pages that are opened after it.
	Page Page
	// OpenError, if set, is what Open returns instead of a page.
	OpenError error
	// OnOpen, if set, is called each time a page is asked for, with the answers of
	// that page. It may change them, also while the page is open. If it returns an error, Open returns that
	// error and no page.
	OnOpen func(ctx context.Context, p *Page) error

	mu       sync.Mutex
	opened   int
	closed   int
	mostOpen int
	opening  routine.PageOptions
}

// Open opens a page.
func (b *Browser) Open(ctx context.Context, o routine.PageOptions) (routine.Page, error) {
	answers := new(b.Page)
	if b.OpenError != nil {
		return nil, b.OpenError
	}
	if b.OnOpen != nil {
		if err := b.OnOpen(ctx, answers); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opening = o
	b.opened++
	b.mostOpen = max(b.mostOpen, b.opened-b.closed)
	return newPage(b, answers), nil
}

// Opened returns how many pages were opened.
func (b *Browser) Opened() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened
}

// Closed returns how often pages were closed.
func (b *Browser) Closed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// MostOpen returns how many pages were open at the same time, at most.
func (b *Browser) MostOpen() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mostOpen
}

// LastOpening returns the options of the page that was opened last.
func (b *Browser) LastOpening() routine.PageOptions {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opening
}

func (b *Browser) record(actions *[]string, format string, args ...any) {
	if actions == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	*actions = append(*actions, fmt.Sprintf(format, args...))
}

func (b *Browser) pageClosed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
}
