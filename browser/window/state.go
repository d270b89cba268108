package window

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"rote/routine/browserstate"
)

// readTime is how long reading the state may take.
const readTime = 20 * time.Second

// State returns the cookies, and the local storage of the sites of the pages. If the browser has
// ended, it returns those that were read last, up to a second before.
func (w *Window) State(ctx context.Context) (*browserstate.State, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	w.reading.Lock()
	defer w.reading.Unlock()
	state, err := w.read(ctx)
	switch {
	case err == nil:
		w.last = state
	case w.last == nil || w.client.Err() == nil:
		return nil, err
	}
	return w.last, nil
}

func (w *Window) read(ctx context.Context) (*browserstate.State, error) {
	cookies, err := w.client.Send("", "Storage.getCookies", nil).Wait(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the cookies: %w", err)
	}
	state := &browserstate.State{}
	if state.Cookies, err = browserstate.ParseCookies(cookies); err != nil {
		return nil, err
	}
	w.mu.Lock()
	origins := slices.Sorted(maps.Keys(w.origins))
	w.mu.Unlock()
	for _, origin := range origins {
		items, err := w.storage.Read(ctx, origin)
		if err != nil {
			return nil, fmt.Errorf("read the storage of %s: %w", origin, err)
		}
		if items != nil {
			state.Storage = append(state.Storage, browserstate.Origin{Origin: origin, Items: items})
		}
	}
	return state, nil
}
