package service_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// Close does not wait forever for a run that does not end.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := &routinetest.Browser{Page: routinetest.Page{Fetch: func(context.Context, routine.Fetch, int64) (routine.Response, error) {
			<-release // whatever becomes of the context
			return routine.Response{Status: 200}, nil
		}}}
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
		d := parse(t, definitionOf(`{"type":"fetch","endpoint":{"url":"https://shop.test/"}}`, ""))
		ended := make(chan error, 1)
		go func() {
			_, err := s.RunOnce(t.Context(), routine.Principal{}, d, service.Call{})
			ended <- err
		}()
		synctest.Wait()
		const drain = 10 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), drain)
		defer cancel()
		start := time.Now()
		s.Close(ctx)
		if took := time.Since(start); took < drain || took > drain+15*time.Second {
			t.Errorf("took %v", took)
		}
		close(release)
		if err := <-ended; err != nil {
			t.Errorf("the run, which did what it was to do, ended with %v", err)
		}
	})
}
