package browser

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// blockableTypes are the resources that a run may leave out, by their names in
// [routine.PageOptions.Block].
var blockableTypes = map[string]proto.NetworkResourceType{
	"image": proto.NetworkResourceTypeImage, "font": proto.NetworkResourceTypeFont, "media": proto.NetworkResourceTypeMedia,
}

// blockedTypes are the types of resources that the pages of a run do not load, and how many
// requests for them have failed. They are kept by the run's first page.
//
// Each session of the run, of a page, a popup or a frame with a process of its own, pauses
// the requests of these types and fails each at once. Chromium has nothing cheaper that
// knows the type of a request: Network.setBlockedURLs knows URLs only, the proxy of the run
// only the hosts of https, and the switches for images are those of a whole process.
// Requests of other types are not paused. What a service worker asks for has the type of
// data, whatever it is for, and is loaded.
type blockedTypes struct {
	names    map[proto.NetworkResourceType]string
	patterns []*proto.FetchRequestPattern

	mu    sync.Mutex
	count map[string]int // by name, since the last call of take
}

func newBlockedTypes(names []string) *blockedTypes {
	b := &blockedTypes{names: map[proto.NetworkResourceType]string{}}
	for _, name := range names {
		t := blockableTypes[name]
		if _, twice := b.names[t]; t == "" || twice {
			continue
		}
		b.names[t] = name
		b.patterns = append(b.patterns, &proto.FetchRequestPattern{URLPattern: "*", ResourceType: t})
	}
	return b
}

// add counts a request that has failed.
func (b *blockedTypes) add(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count == nil {
		b.count = map[string]int{}
	}
	b.count[name]++
}

// take returns the counts since the last call; nil if there are none.
func (b *blockedTypes) take() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := maps.Clone(b.count)
	b.count = nil
	return count
}

// blockTypes makes the pages of the run leave out resources of the types with these names.
func (p *page) blockTypes(ctx context.Context, names []string) error {
	b := newBlockedTypes(names)
	if len(b.patterns) == 0 {
		return nil
	}
	p.blocks.Store(b)
	return cdp.CallAll(ctx, p, proto.FetchEnable{Patterns: b.patterns})
}

// blocks reports whether a request of a frame that the browser has paused is to fail, and
// counts it. That saves a second pause, in the session of the page, where the frame is known.
func (t *targets) blocks(frame proto.PageFrameID, kind proto.NetworkResourceType) bool {
	for _, p := range t.currentPages() {
		b := p.blocks.Load()
		if b == nil || b.names[kind] == "" {
			continue
		}
		for _, own := range append(p.openPopups(), p) {
			if own.has(frame) {
				b.add(b.names[kind])
				return true
			}
		}
	}
	return false
}

// has reports whether a frame is known to be one of the page.
func (p *page) has(frame proto.PageFrameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isMain(frame) || p.frames.reach[frame] != nil
}

// isBlockedLoad reports whether an event of a request that failed is that of a blocked type,
// which explains no failure of the run. It runs on the reading goroutine.
func (p *page) isBlockedLoad(method string, params json.RawMessage) bool {
	b := p.first().blocks.Load()
	if b == nil || method != "Network.loadingFailed" {
		return false
	}
	e, ok := cdp.Decode[proto.NetworkLoadingFailed](params)
	return ok && b.names[e.Type] != "" && strings.HasPrefix(e.ErrorText, "net::ERR_BLOCKED_BY_CLIENT")
}

// BlockedRequests returns how many requests of each blocked type have failed since the last
// call; nil if there were none.
func (p *page) BlockedRequests() map[string]int {
	if b := p.blocks.Load(); b != nil {
		return b.take()
	}
	return nil
}
