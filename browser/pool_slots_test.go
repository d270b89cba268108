package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/browser/chromium"
	"rote/routine"
)

// provider is a server that gives each connection a browser of its own, and answers 429 when
// all are in use.
type provider struct {
	browsers chan *url.URL
	refused  atomic.Int64
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case b := <-p.browsers:
		defer func() { p.browsers <- b }()
		proxy := httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL = &url.URL{Scheme: "http", Host: b.Host, Path: b.Path}
			r.Out.Host = b.Host
		}}
		proxy.ServeHTTP(w, r)
	default:
		p.refused.Add(1)
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// A provider that has no room for another connection is busy and not broken: runs use the
// connections that there are, and none is lost.
func TestPoolOfBusyProvider(t *testing.T) {
	onlyWhole(t)
	t.Parallel()
	const room, runs = 2, 10
	provider := &provider{browsers: make(chan *url.URL, room)}
	for range room {
		u, err := url.Parse(listening(t, "", chromium.FlagsElsewhere("127.0.0.1")))
		if err != nil {
			t.Fatal(err)
		}
		provider.browsers <- u
	}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	at := "ws" + server.URL[len("http"):] + "/session"
	p := testPool(t, endpointAt(t, at, "slots=1"), endpointAt(t, at, "slots=1"), endpointAt(t, at, "slots=1"))
	soon(t, "two are connected and one is refused", func() bool {
		e := p.BrowserStatistics().Endpoints
		return e.Ready == room && e.Busy == 1
	})
	form := site(t, map[string]any{"/form": form}) + "/form"
	var now, most atomic.Int64
	var work sync.WaitGroup
	for range runs {
		work.Go(func() {
			opened, err := p.Open(testContext(t), routine.PageOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			formTask(t, opened.(*tabs).first, form)
			now.Add(-1)
			opened.Close()
		})
	}
	work.Wait()
	if most.Load() != room || provider.refused.Load() == 0 {
		t.Errorf("%d runs at a time, %d connections refused", most.Load(), provider.refused.Load())
	}
	if s := p.BrowserStatistics(); s.Failures != 0 || s.Endpoints.Down != 0 {
		t.Errorf("counted as %+v %+v", s, *s.Endpoints)
	}
}

// idlePool is a pool whose members have these states and slots. It does not connect.
func idlePool(states []endpointState, slots ...int) (*Pool, map[*poolMember]endpointState) {
	var endpoints []Endpoint
	for i, n := range slots {
		e := Endpoint{Name: fmt.Sprint(i), Slots: n, address: &url.URL{}}
		if i == 0 {
			e.address = nil // the local one
		}
		endpoints = append(endpoints, e)
	}
	p, of := newPool(Config{Egress: shared.config.Egress}, endpoints), map[*poolMember]endpointState{}
	for i, m := range p.members {
		of[m] = states[i]
	}
	return p, of
}

// A run gets the local browser first, then the one with the smallest share of used slots.
func TestPoolChoosesMember(t *testing.T) {
	ready := []endpointState{endpointReady, endpointReady, endpointReady}
	for name, row := range map[string]struct {
		states   []endpointState
		users    [3]int
		tried    int
		want     int // -1 for none
		expected bool
	}{
		"the local one":             {ready, [3]int{1, 0, 0}, -1, 0, true},
		"the local one is full":     {ready, [3]int{2, 1, 1}, -1, 2, true},
		"the same share":            {ready, [3]int{2, 1, 2}, -1, 1, true},
		"all are full":              {ready, [3]int{2, 2, 4}, -1, -1, true},
		"the local one was tried":   {ready, [3]int{0, 0, 0}, 0, 1, true},
		"one is connecting":         {[]endpointState{endpointDown, endpointConnecting, endpointDown}, [3]int{}, -1, -1, true},
		"one is busy":               {[]endpointState{endpointDown, endpointBusy, endpointDown}, [3]int{}, -1, -1, true},
		"all are down":              {[]endpointState{endpointDown, endpointDown, endpointDown}, [3]int{}, -1, -1, false},
		"the only one was tried":    {[]endpointState{endpointReady, endpointDown, endpointDown}, [3]int{}, 0, -1, false},
		"the emptier one is not up": {[]endpointState{endpointDown, endpointConnecting, endpointReady}, [3]int{0, 0, 3}, -1, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, states := idlePool(row.states, 2, 2, 4)
			for i, n := range row.users {
				p.members[i].users = n
			}
			r := &slotRequest{tried: map[*poolMember]bool{}}
			if row.tried >= 0 {
				r.tried[p.members[row.tried]] = true
			}
			m, expected := p.choose(r, states)
			got := -1
			for i, other := range p.members {
				if other == m {
					got = i
				}
			}
			if got != row.want || expected != row.expected {
				t.Errorf("member %d, expected %v; want %d, %v", got, expected, row.want, row.expected)
			}
		})
	}
}

// Runs get slots in the order in which they came. One that gives up loses none, and one that
// waits too long fails as busy.
func TestPoolSlots(t *testing.T) {
	p, _ := idlePool([]endpointState{endpointReady}, 1) // the local browser, which is not started
	take := func(ctx context.Context) <-chan error {
		p.mu.Lock()
		waiting := len(p.waiting)
		p.mu.Unlock()
		done := make(chan error, 1)
		go func() {
			_, err := p.takeSlot(ctx, nil, false)
			done <- err
		}()
		soon(t, "the run waits or has a slot", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.waiting) > waiting || len(done) > 0
		})
		return done
	}
	ctx := testContext(t)
	if err := <-take(ctx); err != nil {
		t.Fatal(err)
	}
	if m, err := p.takeSlot(ctx, nil, true); m != p.members[0] || err != nil { // a lesson needs none
		t.Fatal(m, err)
	}
	givesUp, giveUp := context.WithCancel(ctx)
	abandoned, second, third := take(givesUp), take(ctx), take(ctx)
	giveUp()
	if err := <-abandoned; err == nil {
		t.Fatal("it has got a slot")
	}
	p.freeSlot(p.members[0])
	if err := <-second; err != nil || len(third) > 0 {
		t.Fatal(err, len(third))
	}
	p.slotBound = 10 * time.Millisecond
	wantCode(t, <-take(ctx), routine.CodeBusy, "no browser had a free slot within 10ms")
	p.freeSlot(p.members[0])
	if err := <-third; err != nil {
		t.Fatal(err)
	}
	p.freeSlot(p.members[0])
	if used := slotsInUse(p); used[0] != 0 {
		t.Error(used)
	}
	p.slotBound = testTime
	late := take(ctx) // has the slot
	waits := take(ctx)
	p.Close()
	if err := <-late; err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-waits, routine.CodeShuttingDown, "closed")
}
