package service_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine/routinetest"
	"rote/routine/service"
)

// hosts is a Sender to receivers of which those with "dead" in their names never
// answer.
type hosts struct {
	mu      sync.Mutex
	sending map[string]int // by URL
	most    map[string]int // by URL, and at "" of all
	got     map[string]time.Duration
	began   time.Time
}

func newHosts() *hosts {
	return &hosts{sending: map[string]int{}, most: map[string]int{}, got: map[string]time.Duration{}, began: time.Now()}
}

func (*hosts) Allows(context.Context, string, []string) error { return nil }

func (h *hosts) Send(ctx context.Context, url string, _ []string, _ map[string]string, _ []byte) (int, error) {
	h.count(url, 1)
	defer h.count(url, -1)
	if strings.Contains(url, "dead") {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	time.Sleep(100 * time.Millisecond) // of the test's own clock
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got[url] = time.Since(h.began)
	return 200, nil
}

func (h *hosts) count(url string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range []string{url, ""} {
		h.sending[key] += n
		h.most[key] = max(h.most[key], h.sending[key])
	}
}

// called is how many URLs were called to the end.
func (h *hosts) called() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.got)
}

// mostTo is how many calls of a URL went at once, at most.
func (h *hosts) mostTo(url string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.most[url]
}

// took is how long after the beginning a URL was called; negative: it was not.
func (h *hosts) took(url string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, called := h.got[url]; called {
		return at
	}
	return -1
}

// withCallbacks ends n executions of an organization with a callback each. The
// URL's %d is the number of the call.
func withCallbacks(t *testing.T, s *service.Service, organization, url string, n int) {
	t.Helper()
	r := create(t, s, member(organization), private)
	for i := range n {
		to := url
		if strings.Contains(url, "%d") {
			to = fmt.Sprintf(url, i)
		}
		e, err := s.Start(t.Context(), member(organization), r.ID, service.Call{CallbackURL: to})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Wait(t.Context(), member(organization), e.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// delivering gives a service that sends to h, until the end of the test.
func delivering(t *testing.T, h *hosts) *service.Service {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Sender: h})
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Maintain(ctx) })
	t.Cleanup(func() { s.Close(ctx); stop(); done.Wait() })
	return s
}

// TestDeadReceiversDelayNobodyElse: the callbacks of one organization to
// receivers that do not answer once delayed the webhooks of all others by half a
// minute and more.
func TestDeadReceiversDelayNobodyElse(t *testing.T) {
	for _, dead := range []string{"https://dead.example/", "https://dead%d.example/"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHosts()
			s := delivering(t, h)
			withCallbacks(t, s, "a", dead, 64)
			withCallbacks(t, s, "b", "https://b.example/", 1)
			time.Sleep(5 * time.Second) // of the test's own clock
			withCallbacks(t, s, "c", "https://c.example/", 1)
			time.Sleep(5 * time.Second)
			if b, c := h.took("https://b.example/"), h.took("https://c.example/"); b < 0 || b > 4*time.Second || c < 0 || c > 9*time.Second {
				t.Errorf("other organizations' webhooks came after %v and %v", b, c)
			}
			time.Sleep(2 * time.Hour)
			if most := h.mostTo(""); most > 9 {
				t.Errorf("%d were sent at once", most)
			}
		})
	}
}

// An organization's live receiver does not wait for the end of a long line to its
// dead one.
func TestDeadReceiverDelaysTheSameOrganizationLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts()
		s := delivering(t, h)
		withCallbacks(t, s, "a", "https://dead.example/", 64)
		time.Sleep(5 * time.Second) // of the test's own clock
		withCallbacks(t, s, "a", "https://live.example/", 1)
		time.Sleep(time.Minute)
		if took := h.took("https://live.example/"); took < 0 || took > 15*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// A dead receiver that many organizations share takes no more than its share.
func TestDeadReceiverOfManyOrganizations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts()
		s := delivering(t, h)
		for i := range 10 {
			withCallbacks(t, s, fmt.Sprint("many", i), "https://dead.example/hook", 8)
		}
		withCallbacks(t, s, "b", "https://b.example/", 1)
		time.Sleep(20 * time.Second) // of the test's own clock
		if took := h.took("https://b.example/"); took < 0 || took > 4*time.Second {
			t.Errorf("the other receiver was called after %v", took)
		}
		if most := h.mostTo("https://dead.example/hook"); most > 16 {
			t.Errorf("%d were sent to one host at once", most)
		}
	})
}

// Webhooks that are taken at once are sent without pause, however many there are.
func TestManyWebhooksAreSentQuickly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts()
		s := delivering(t, h)
		withCallbacks(t, s, "a", "https://live.example/%d", 400)
		time.Sleep(8 * time.Second) // of the test's own clock: 400 of 100 ms, 8 at once, are 5 s
		if n := h.called(); n != 400 {
			t.Errorf("%d of 400 were sent", n)
		}
	})
}
