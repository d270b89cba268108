package browser

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/chromium"
	"rote/routine"
)

// A browser is one program's alone: of two that connect at once one gets it, one that comes later is
// refused, and a client that comes into a browser in use makes the pool leave it.
func TestPoolRefusesSharedBrowser(t *testing.T) {
	t.Parallel()
	at := listening(t, "", chromium.FlagsElsewhere("127.0.0.1"))
	all, err := proto.TargetGetTargets{}.Call(otherClient(t, at))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range all.TargetInfos { // then an idle rote has no page
		_, _ = proto.TargetCloseTarget{TargetID: target.TargetID}.Call(otherClient(t, at))
	}
	first, second := testPool(t, endpointAt(t, at, "")), testPool(t, endpointAt(t, at, ""))
	isReady := func(p *Pool) bool { return p.BrowserStatistics().Endpoints.Ready == 1 }
	soon(t, "one of them gets the browser", func() bool { return isReady(first) || isReady(second) })
	if isReady(second) {
		first, second = second, first
	}
	soon(t, "the second pool is refused", func() bool { return second.BrowserStatistics().Endpoints.Down == 1 })
	if !isReady(first) {
		t.Fatal("the first pool has lost the browser")
	}
	_, err = second.Open(testContext(t), routine.PageOptions{})
	wantCode(t, err, routine.CodeBrowserUnavailable, "rote browser check")
	if !errors.Is(err, errShared) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Error(err)
	}
	wantCode(t, second.Ready(testContext(t)), routine.CodeBrowserUnavailable, "rote browser check")
	first.Close()
	tryAgain(second)
	awaitReady(t, second, 1)

	other := otherClient(t, at)
	if _, err := (proto.TargetCreateBrowserContext{}).Call(other); err != nil {
		t.Fatal(err)
	}
	soon(t, "the pool leaves", func() bool {
		m := second.members[0].browser
		m.mu.Lock()
		i := m.current
		m.mu.Unlock()
		if i == nil {
			return true
		}
		m.checkRemote(i)
		return false
	})
}
