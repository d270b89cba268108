package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/seeded"
	"rote/routine/service"
)

// crowd is a service in use by several organizations, each with one routine that
// sleeps.
type crowd struct {
	t        *testing.T
	service  *service.Service
	routines map[string]*routine.Routine

	mu    sync.Mutex
	began []string // names of the runs, in the order in which they began
	most  int      // runs at once, when nothing happens any more at a moment
	now   int
}

func newCrowd(t *testing.T, places, queue int) *crowd {
	return &crowd{t: t, routines: map[string]*routine.Routine{},
		service: service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Concurrency: places, Queue: queue})}
}

func member(organization string) routine.Principal {
	p := ann
	p.OrganizationID = organization
	return p
}

// start starts a run that sleeps for some seconds. It returns a function that
// says how many runs wait before it, or nil if the run does not wait.
func (c *crowd) start(organization, name string, seconds int) (ahead func() int, err error) {
	c.t.Helper()
	e, err := c.service.Start(c.t.Context(), member(organization), c.sleeper(organization, seconds), service.Call{Timeout: routine.MaxRunTimeout,
		Queued: func(f func() int) { ahead = f },
		Progress: func(p routine.Progress) {
			if p.Index == 0 {
				c.note(name)
			}
		}})
	if err == nil {
		go func() {
			_, _ = c.service.Wait(context.WithoutCancel(c.t.Context()), member(organization), e.ID)
			c.mu.Lock()
			defer c.mu.Unlock()
			if slices.Contains(c.began, name) {
				c.now--
			}
		}()
	}
	c.order()
	return ahead, err
}

// sleeper is the id of a routine of an organization that sleeps.
func (c *crowd) sleeper(organization string, seconds int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprint(organization, seconds)
	if c.routines[key] == nil {
		c.routines[key] = create(c.t, c.service, member(organization), definitionOf(fmt.Sprintf(`{"type":"sleep","timeout_seconds":%d},{"type":"return_html"}`, seconds), ""))
	}
	return c.routines[key].ID
}

func (c *crowd) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = append(c.began, name)
	c.now++
}

// order is the names of the runs that have begun, in their order.
func (c *crowd) order() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most = max(c.most, c.now)
	return strings.Join(c.began, " ")
}

// fill starts runs of an organization until one is refused, and gives how many
// were not.
func (c *crowd) fill(organization string, seconds int) (n int) {
	c.t.Helper()
	for ; ; n++ {
		_, err := c.start(organization, fmt.Sprint(organization, n), seconds)
		if err == nil {
			continue
		}
		if ours := routine.AsError(err); ours.Code != routine.CodeBusy || ours.RetryAfter == 0 || !strings.Contains(ours.Message, "all again") {
			c.t.Fatal(err)
		}
		return n
	}
}

// TestOneOrganizationCannotFillTheQueue: 104 calls of an organization that sleep
// for minutes once gave all others 503.
func TestOneOrganizationCannotFillTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 4, 100)
		if n := c.fill("a", 290); n != 4+50 {
			t.Errorf("%d runs of the first organization were accepted", n)
		}
		if n := c.fill("b", 290); n != 1+25 { // one runs, though all places are taken
			t.Errorf("%d runs of the second organization were accepted", n)
		}
		for _, late := range []string{"c", "d", "e"} {
			if _, err := c.start(late, late, 1); err != nil {
				t.Errorf("organization %s: %v", late, err)
			}
		}
		time.Sleep(2 * time.Hour) // the wait does not count into the timeout of a run
	})
}

// While one organization has all places for minutes, another still has one: its
// calls do not fail waiting.
func TestOneOrganizationCannotTakeAllPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 4, 100)
		c.fill("a", 290)
		began := time.Now()
		for i := range 5 {
			if ahead, err := c.start("b", fmt.Sprint("b", i), 1); err != nil || i == 0 && ahead != nil {
				t.Fatal(err)
			}
		}
		for !strings.HasSuffix(c.order(), "b4") {
			time.Sleep(time.Second)
		}
		if took := time.Since(began); took > 5*time.Second || c.order() != "a0 a1 a2 a3 b0 b1 b2 b3 b4" {
			t.Errorf("after %v: %s", took, c.order())
		}
		if c.most != 5 {
			t.Errorf("%d runs at once", c.most)
		}
		time.Sleep(2 * time.Hour) // the wait does not count into the timeout of a run
	})
}

// An organization that is alone has all places, and no more.
func TestOneOrganizationAloneHasAllPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 3, 10)
		c.fill("a", 10)
		if got := c.order(); got != "a0 a1 a2" {
			t.Errorf("begun: %s", got)
		}
		for range 60 {
			time.Sleep(time.Second)
			c.order()
		}
		time.Sleep(2 * time.Hour) // the wait does not count into the timeout of a run
		if c.most != 3 {
			t.Errorf("%d runs at once", c.most)
		}
	})
}

// When the queue is full, organizations take turns, regardless of the order and
// the number of their calls.
func TestOrganizationsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 1, 100)
		for _, row := range []struct {
			organization string
			calls        int
		}{{"a", 5}, {"b", 3}, {"c", 1}} {
			for i := range row.calls {
				if _, err := c.start(row.organization, fmt.Sprint(row.organization, i), 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(time.Minute)
		if got := c.order(); got != "a0 b0 c0 a1 b1 a2 b2 a3 a4" {
			t.Errorf("begun: %s", got)
		}
	})
}

// Organizations that ask again and again, one call at a time, do not keep one
// with a long line from its turn.
func TestTurnsAmongThoseWhoComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 1, 100)
		for i := range 4 {
			_, _ = c.start("a", fmt.Sprint("a", i), 10)
		}
		for _, o := range []string{"b", "d"} {
			go func() {
				for i := range 5 {
					_, _ = c.service.Execute(t.Context(), member(o), c.sleeper(o, 10), service.Call{Progress: func(p routine.Progress) {
						if p.Index == 0 {
							c.note(fmt.Sprint(o, i))
						}
					}})
				}
			}()
			synctest.Wait()
		}
		time.Sleep(2 * time.Hour) // the wait does not count into the timeout of a run
		if got := c.order(); !strings.HasPrefix(got, "a0 b0 d0 a1 b1 d1 a2 b2 d2 a3") {
			t.Errorf("begun: %s", got)
		}
	})
}

// The place in the queue that a caller sees is the order in which it is served,
// if no more calls come and all runs take equally long.
func TestPlaceInTheQueueIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := seeded.Rand(t)
		for range 20 {
			c := newCrowd(t, 1, 200)
			ahead := map[string]func() int{}
			for i := range 30 {
				name := fmt.Sprint("run", i)
				f, err := c.start(fmt.Sprint("o", random.IntN(4)), name, 1)
				if err != nil {
					t.Fatal(err)
				}
				if f != nil {
					ahead[name] = f
				}
			}
			told := map[string]int{}
			for name, f := range ahead {
				told[name] = f()
			}
			time.Sleep(time.Minute)
			order := strings.Fields(c.order())[1:] // the first has not waited
			for i, name := range order {
				if told[name] != i || ahead[name]() != 0 {
					t.Errorf("%s was told that %d wait before it, and %d did", name, told[name], i)
				}
			}
			if len(order) != len(told) {
				t.Errorf("%d of %d have run", len(order), len(told))
			}
		}
	})
}

// The places of calls that were cancelled while they waited are free again.
func TestCancelledCallsLeaveTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 2, 20)
		for range 3 {
			before := c.fill("a", 20)
			es, _, err := c.service.Executions(t.Context(), member("a"), routine.ExecutionFilter{Status: routine.ExecutionPending})
			if err != nil || before != 12 || len(es) != 10 {
				t.Fatal(before, len(es), err)
			}
			for _, e := range es {
				if _, err := c.service.Cancel(t.Context(), member("a"), e.ID); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Minute)
			if got := c.service.Statistics(); got.Running != 0 || got.Waiting != 0 {
				t.Fatalf("%+v", got)
			}
		}
	})
}
