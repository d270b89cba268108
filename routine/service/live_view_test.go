package service_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// pictures is a page that counts its pictures.
type pictures struct {
	sync.Mutex
	taken int
	fail  error
}

func (p *pictures) take(context.Context) ([]byte, error) {
	p.Lock()
	defer p.Unlock()
	p.taken++
	return fmt.Append(nil, "picture ", p.taken), p.fail
}

func withPictures(t *testing.T, on bool) (*service.Service, *pictures, *routinetest.Store) {
	t.Helper()
	p, store := &pictures{}, routinetest.NewStore()
	s := service.New(service.Config{Store: store, LiveView: on, Browser: &routinetest.Browser{Page: routinetest.Page{HTML: "<p>shop</p>", Picture: p.take}}})
	t.Cleanup(func() { s.Close(context.Background()) })
	return s, p, store
}

// All who watch a run share a picture each second, and none is taken when nobody looks.
func TestLiveView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, taken, _ := withPictures(t, true)
		e := start(t, s, create(t, s, ann, nap).ID)
		synctest.Wait()
		time.Sleep(5 * time.Second)
		if taken.taken != 0 {
			t.Errorf("%d pictures were taken for nobody", taken.taken)
		}
		want := func(want string) {
			t.Helper()
			if got, err := s.LiveView(t.Context(), ann, e.ID); err != nil || string(got) != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		}
		want("picture 1")
		time.Sleep(999 * time.Millisecond)
		want("picture 1")
		time.Sleep(time.Millisecond)
		want("picture 2")
		taken.fail = errors.New("the page is busy")
		time.Sleep(time.Second)
		if _, err := s.LiveView(t.Context(), ann, e.ID); routine.CodeOf(err) != routine.CodeConflict {
			t.Error(err)
		}
		if _, err := s.Wait(t.Context(), ann, e.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.LiveView(t.Context(), ann, e.ID); routine.CodeOf(err) != routine.CodeConflict {
			t.Error("after the end: ", err)
		}
	})
}

// No picture shows what evidence would hide, or what only another project may see.
func TestWhoSeesTheLiveView(t *testing.T) {
	other, watcher := ann, ann
	other.ProjectID, watcher.Scopes = "other", routine.ScopeRoutinesRead
	const sleep = `{"type": "sleep", "timeout_seconds": 10}`
	text := func(fields, operations string) string {
		return `{"name": "n", "description": "d", ` + fields + `"operations": [{"type": "navigate", "url": "https://shop.example/"}, ` + operations + `]}`
	}
	plain, saved := text("", sleep), text(`"incognito": false, `, sleep)
	for name, row := range map[string]struct {
		definition string
		caller     routine.Principal
		off        bool
		want       routine.Code
	}{
		"the owner":                      {plain, ann, false, ""},
		"a colleague of another project": {plain, other, false, ""},
		"another organization":           {plain, bob, false, routine.CodeForbidden},
		"who may not read executions":    {plain, watcher, false, routine.CodeForbidden},
		"nobody":                         {plain, nobody, false, routine.CodeUnauthenticated},
		"when it is off":                 {plain, ann, true, routine.CodeForbidden},
		"saved state of the project":     {saved, ann, false, ""},
		"saved state of another project": {saved, other, false, routine.CodeForbidden},
		"a secret parameter": {text(`"parameters": [{"name": "p", "description": "d", "x-secret": true, "default": "x"}], `, sleep), ann, false,
			routine.CodeForbidden},
		"a parameter that is not secret": {text(`"parameters": [{"name": "p", "description": "d", "default": "x"}], `, sleep), ann, false, ""},
		"a cookie that is typed": {text("", sleep+`, {"type": "input_text", "selector": "#a", "text": "{{cookie:c}}"}`), ann, false,
			routine.CodeForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, taken, _ := withPictures(t, !row.off)
				e := start(t, s, create(t, s, ann, row.definition).ID)
				synctest.Wait()
				_, err := s.LiveView(t.Context(), row.caller, e.ID)
				if routine.CodeOf(err) != row.want || (taken.taken > 0) != (row.want == "") {
					t.Errorf("%v with %d pictures, want %q", err, taken.taken, row.want)
				}
			})
		})
	}
}

// A run with a secret that its caller gives has no live view.
func TestLiveViewWithAGivenSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, taken, _ := withPictures(t, true)
		r := create(t, s, ann, nap)
		var run sync.WaitGroup
		run.Go(func() {
			given := map[string]service.GivenSecret{"shop": {Hosts: []string{"shop.example"}, Fields: map[string]routine.Hidden{"password": "x"}}}
			if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{Secrets: given}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if _, err := s.LiveView(t.Context(), ann, s.InFlight()[0].ID); routine.CodeOf(err) != routine.CodeForbidden || taken.taken > 0 {
			t.Errorf("%v with %d pictures", err, taken.taken)
		}
		run.Wait()
	})
}

func TestLiveViewOfOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, store := withPictures(t, true)
		there := service.New(service.Config{Store: store, LiveView: true, Browser: &routinetest.Browser{}})
		defer there.Close(context.Background())
		e := start(t, s, create(t, s, ann, nap).ID)
		synctest.Wait()
		if _, err := there.LiveView(t.Context(), ann, e.ID); routine.CodeOf(err) != routine.CodeConflict {
			t.Error(err)
		}
	})
}
