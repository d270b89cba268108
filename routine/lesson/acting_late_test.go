package lesson

import (
	"context"
	"slices"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
)

// requestLog is a request log of a test.
type requestLog struct {
	all     []routine.Request
	dropped int
	err     error
}

func (l *requestLog) list(_ context.Context, after int) (routine.RequestLog, error) {
	log := routine.RequestLog{Dropped: l.dropped}
	for _, r := range l.all {
		if r.Number > after {
			log.Requests = append(log.Requests, r)
		}
	}
	return log, l.err
}

// post adds a POST of the page that is sent at a time.
func (l *requestLog) post(path string, at time.Time) {
	l.all = append(l.all, routine.Request{Number: len(l.all) + 1, Method: "POST", Kind: "fetch", URL: "https://shop.test" + path,
		PageURL: "https://shop.test/", SentAt: at})
}

// A request that is sent a while after an operation is charged to that operation, whatever
// asks for the log next.
func TestLateRequests(t *testing.T) {
	const click, other = `{"type":"click","selector":"#order"}`, `{"type":"click","selector":"#other"}`
	for _, row := range []struct {
		name string
		late func(c *classroom, log *requestLog, id string) // what sends the request
		want [][]string                                     // the acting requests of the operations after navigate
	}{
		{"nothing asks before the save", func(_ *classroom, log *requestLog, _ string) { log.post("/orders", time.Now()) }, [][]string{{"POST /orders"}}},
		{"an operation was begun after it", func(c *classroom, log *requestLog, id string) {
			log.post("/orders", time.Now())
			c.tried(t, id, TryRequest{Operations: raw(other)})
		}, [][]string{{"POST /orders"}, nil}},
		{"an operation waited meanwhile", func(c *classroom, log *requestLog, id string) {
			log.post("/orders", time.Now().Add(time.Hour))
			c.tried(t, id, TryRequest{Operations: raw(`{"type":"return_html"}`)})
		}, [][]string{{"POST /orders"}, nil}},
		{"an operation waited that is not kept", func(c *classroom, log *requestLog, id string) {
			log.post("/orders", time.Now().Add(time.Hour))
			c.tried(t, id, TryRequest{Operations: raw(`{"type":"return_html"}`), Keep: new(bool)})
		}, [][]string{{"POST /orders"}}},
		{"an operation awaited its element", func(c *classroom, log *requestLog, id string) {
			log.post("/orders", time.Now().Add(time.Hour))
			c.tried(t, id, TryRequest{Operations: raw(`{"type":"click","selector":"#later"}`)})
		}, [][]string{{"POST /orders"}, {"POST /orders"}}},
		{"another operation sent it", func(c *classroom, log *requestLog, id string) {
			log.post("/orders", time.Now().Add(time.Hour))
			c.tried(t, id, TryRequest{Operations: raw(other)})
		}, [][]string{nil, {"POST /orders"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			log := &requestLog{}
			c := newClassroom(t, routinetest.Page{Requests: log.list,
				Describe: func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
					if selector == "#later" {
						return routine.ElementDescription{}, nil
					}
					return routine.ElementDescription{Matches: 1, Selector: selector}, nil
				}})
			id := c.start(t)
			c.tried(t, id, TryRequest{Operations: raw(click)})
			row.late(c, log, id)
			_, err := c.Save(t.Context(), author, id, SaveRequest{Name: "order", Description: "Orders."})
			wantError(t, err, routine.CodeConflict, "does POST /orders again when proved")
			_, l, release, err := c.acquire(t.Context(), author, id, "looking")
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			for i, want := range row.want {
				if got := l.kept[i+1].acting; !slices.Equal(got, want) {
					t.Errorf("operation %d acts by %q, want %q", i+2, got, want)
				}
			}
		})
	}
}

// Requests that are not known count as acting.
func TestUnknownRequests(t *testing.T) {
	crashed := routine.Errorf(routine.CodeBrowserCrashed, "the page crashed")
	for _, row := range []struct {
		name  string
		click func(log *requestLog, p *routinetest.Page)
		acts  bool
	}{
		{"the page did not answer", func(log *requestLog, _ *routinetest.Page) { log.err = crashed }, true},
		{"the page died", func(_ *requestLog, p *routinetest.Page) { p.Unusable = crashed }, true},
		{"the log dropped new requests", func(log *requestLog, _ *routinetest.Page) {
			log.dropped, log.all = 1, []routine.Request{{Number: 2, Method: "GET"}}
		}, true},
		{"the log dropped all", func(log *requestLog, _ *routinetest.Page) { log.dropped = 1 }, true},
		{"the log dropped old requests", func(log *requestLog, _ *routinetest.Page) {
			log.dropped, log.all = 1, []routine.Request{{Number: 1, Method: "GET"}}
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			log := &requestLog{}
			c := newClassroom(t, routinetest.Page{})
			c.browser.OnOpen = func(_ context.Context, p *routinetest.Page) error {
				p.Requests = log.list
				p.Click = func(context.Context, routine.Click) (routine.Match, error) {
					row.click(log, p)
					return routine.Match{Matches: 1}, nil
				}
				return nil
			}
			id := c.start(t)
			answer := c.tried(t, id, TryRequest{Operations: raw(`{"type":"click","selector":"#order"}`)})
			if len(answer.Operations) != 2 {
				t.Fatalf("%+v", answer)
			}
			if acting := answer.Operations[1].Acting; slices.Contains(acting, "requests that are not known") != row.acts {
				t.Errorf("acts by %q", acting)
			}
			if row.acts {
				_, err := c.Save(t.Context(), author, id, SaveRequest{Name: "order", Description: "Orders."})
				wantError(t, err, routine.CodeConflict, "operation 2 does requests that are not known again when proved")
			}
		})
	}
}
