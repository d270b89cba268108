package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

func exclusive(s *routine.Session) { s.Mode = routine.SessionExclusive }

// lengthy makes each page of a browser take a second to open a site, and records in what order the
// sites were opened.
func lengthy(b *routinetest.Browser) (opened func() []string) {
	var mu sync.Mutex
	var urls []string
	b.Page.Navigate = func(ctx context.Context, url string) (routine.Navigation, error) {
		mu.Lock()
		urls = append(urls, url)
		mu.Unlock()
		select {
		case <-time.After(time.Second):
			return routine.Navigation{URL: url, Status: 200}, nil
		case <-ctx.Done():
			return routine.Navigation{}, context.Cause(ctx)
		}
	}
	return func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(urls) }
}

func newExclusive(t *testing.T, store routine.Store, s *service.Service) *routine.Routine {
	t.Helper()
	if err := store.SaveSession(t.Context(), routinetest.Session(exclusive), nil, 0); err != nil {
		t.Fatal(err)
	}
	return create(t, s, ann, fmt.Sprintf(inSession, "shop"))
}

func parameter(account string) json.RawMessage {
	return json.RawMessage(`{"account":"` + account + `"}`)
}

// Runs with an exclusive session follow each other, in the order of their calls. While they wait
// they take no place: a run of another routine has it.
func TestExclusiveSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, b := routinetest.NewStore(), &routinetest.Browser{}
		s := service.New(service.Config{Store: store, Browser: b, Concurrency: 2, Queue: 10})
		defer s.Close(context.Background())
		opened := lengthy(b)
		r := newExclusive(t, store, s)
		text := definitionOf(`{"type":"navigate","url":"https://other.example/"},{"type":"return_html"}`, "")
		other := create(t, s, ann, strings.Replace(text, `"name":"`, `"name":"other `, 1))
		var runs sync.WaitGroup
		var mu sync.Mutex
		waited := map[string]bool{}
		for _, account := range []string{"a", "b", "c"} {
			runs.Go(func() {
				_, err := s.Execute(t.Context(), ann, r.ID, service.Call{Parameters: parameter(account), Progress: func(p routine.Progress) {
					mu.Lock()
					defer mu.Unlock()
					waited[account] = waited[account] || p.Operation == "waiting for session shop"
				}})
				wantNoError(t, err)
			})
			synctest.Wait()
		}
		began := time.Now()
		_, err := s.Execute(t.Context(), ann, other.ID, service.Call{})
		if took := time.Since(began); err != nil || took > 1100*time.Millisecond {
			t.Errorf("the run of another routine took %v, %v", took, err)
		}
		runs.Wait()
		got := slices.DeleteFunc(opened(), func(url string) bool { return url == "https://other.example/" })
		if want := []string{"https://shop.example/a", "https://shop.example/b", "https://shop.example/c"}; !slices.Equal(got, want) {
			t.Errorf("opened %q", got)
		}
		if waited["a"] || !waited["b"] || !waited["c"] {
			t.Errorf("waited: %v", waited)
		}
		if total := time.Since(began); total < 2900*time.Millisecond || total > 4*time.Second {
			t.Errorf("three runs of a second took %v", total)
		}
	})
}

// A run that waits for its session ends with its time or when it is cancelled, and those behind it
// get the session.
func TestWaitForSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, b := routinetest.NewStore(), &routinetest.Browser{}
		s := service.New(service.Config{Store: store, Browser: b, Concurrency: 1, Queue: 10})
		defer s.Close(context.Background())
		lengthy(b)
		r := newExclusive(t, store, s)
		holder := &routine.Execution{ID: "holder", OrganizationID: "acme", Status: routine.ExecutionRunning, CreatedAt: time.Now()}
		wantNoError(t, store.CreateExecution(t.Context(), holder))
		lease := routine.SessionLease{OrganizationID: "acme", ProjectID: "p", Name: "shop", Purpose: routine.LeaseForRun, ExecutionID: "holder"}
		if leased, err := store.LeaseSession(t.Context(), lease); !leased || err != nil {
			t.Fatal(leased, err)
		}
		_, err := s.Execute(t.Context(), ann, r.ID, service.Call{Timeout: 2 * time.Second})
		if routine.CodeOf(err) != routine.CodeTimeout || !strings.HasSuffix(err.Error(), ", waiting for session shop") {
			t.Error(err)
		}
		async, err := s.Start(t.Context(), ann, r.ID, service.Call{Timeout: 2 * time.Second})
		wantNoError(t, err)
		if e, err := s.Wait(t.Context(), ann, async.ID); e == nil || e.ErrorCode != routine.CodeTimeout {
			t.Errorf("%+v %v", e, err)
		}
		first, err := s.Start(t.Context(), ann, r.ID, service.Call{})
		wantNoError(t, err)
		synctest.Wait()
		second, err := s.Start(t.Context(), ann, r.ID, service.Call{})
		wantNoError(t, err)
		synctest.Wait()
		if _, err := s.Cancel(t.Context(), ann, first.ID); err != nil {
			t.Fatal(err)
		}
		wantNoError(t, store.FinishExecution(t.Context(), routinetest.Failed(holder)))
		if e, err := s.Wait(t.Context(), ann, first.ID); e == nil || e.ErrorCode != routine.CodeCancelled {
			t.Errorf("%+v %v", e, err)
		}
		if e, err := s.Wait(t.Context(), ann, second.ID); e == nil || e.Status != routine.ExecutionCompleted {
			t.Errorf("%+v %v", e, err)
		}
	})
}

// Of queued runs, too, one at a time has the session, in all processes.
func TestExclusiveSessionOfQueuedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		var mu sync.Mutex
		open, most := 0, 0
		slow := func(p *routinetest.Page) {
			p.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
				mu.Lock()
				open++
				most = max(most, open)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				open--
				return routine.Navigation{URL: url, Status: 200}, nil
			}
		}
		one, two := newReplica(t, store, 2), newReplica(t, store, 2)
		slow(&one.browser.Page)
		slow(&two.browser.Page)
		r := newExclusive(t, store, one.Service)
		var ids []string
		for range 5 {
			ids = append(ids, one.start(t, ann, r.ID, service.Call{}).ID)
		}
		for _, id := range ids {
			if e := one.ended(t, ann, id, 30*time.Second); e.Status != routine.ExecutionCompleted {
				t.Errorf("%+v", e)
			}
		}
		if most != 1 || one.browser.Opened()+two.browser.Opened() != 5 {
			t.Errorf("%d runs had the session at once, %d pages", most, one.browser.Opened()+two.browser.Opened())
		}
	})
}

// A run of a file has no execution that could hold the session.
func TestRunOnceWithExclusiveSession(t *testing.T) {
	c := newSessions(t, nil, exclusive)
	_, err := c.service.RunOnce(t.Context(), ann, parse(t, fmt.Sprintf(inSession, "shop")), service.Call{})
	if routine.CodeOf(err) != routine.CodeConflict || !strings.Contains(err.Error(), "rote add") || c.browser.Opened() != 0 {
		t.Error(err)
	}
}

// A run whose execution another process has ended does not save the session, which somebody else has.
func TestLostLeaseSavesNothing(t *testing.T) {
	c := newSessions(t, stateText("shop.example sid=first-value"), exclusive)
	c.browser.Page.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
		list, _, err := c.store.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: "acme", Limit: 1})
		if err == nil {
			err = c.store.FinishExecution(t.Context(), routinetest.Failed(list[0]))
		}
		return routine.Navigation{URL: url, Status: 200}, err
	}
	_, _ = c.run(stateText("shop.example sid=of-a-lost-run"))
	c.want("after a lost run", "shop.example sid=first-value", 1)
}

// A run that was frozen, while another process has ended its execution, does no operation any more.
// A store that does not answer ends no run.
func TestLostLeaseEndsRun(t *testing.T) {
	for _, lost := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newSessions(t, nil, exclusive)
			clicks := 0
			c.browser.Page.Click = func(context.Context, routine.Click) (routine.Match, error) {
				clicks++
				return routine.Match{Matches: 1}, nil
			}
			c.browser.Page.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
				list, _, err := c.store.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: "acme", Limit: 1})
				if err == nil && lost {
					err = c.store.FinishExecution(t.Context(), routinetest.Failed(list[0]))
				}
				time.Sleep(10 * time.Second) // frozen, for the clock of the test
				return routine.Navigation{URL: url, Status: 200}, err
			}
			r := create(t, c.service, ann, `{"name":"clicks","description":"d","session":"shop","operations":[`+
				`{"type":"navigate","url":"https://shop.example/"},{"type":"click","selector":"#buy"}]}`)
			_, err := c.service.Execute(t.Context(), ann, r.ID, service.Call{})
			if want := map[bool]int{true: 0, false: 1}[lost]; clicks != want || lost && err == nil || !lost && err != nil {
				t.Errorf("lost %t: %d clicks, want %d; %v", lost, clicks, want, err)
			}
		})
	}
}
