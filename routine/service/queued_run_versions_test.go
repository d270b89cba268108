package service_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// newerStore has calls that a newer version of rote has queued.
type newerStore struct{ *routinetest.Store }

func (s newerStore) ClaimExecution(ctx context.Context, id string, at time.Time, limit time.Duration) (*routine.Execution, []byte, error) {
	e, call, err := s.Store.ClaimExecution(ctx, id, at, limit)
	if err == nil {
		call = append([]byte(`{"later":true,`), call[1:]...)
	}
	return e, call, err
}

// A call that this version does not know whole is not run without the rest.
func TestQueuedRunOfANewerVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplica(t, newerStore{routinetest.NewStore()}, 1)
		e := s.start(t, ann, create(t, s.Service, ann, private).ID, service.Call{})
		e = s.ended(t, ann, e.ID, time.Minute)
		if e.ErrorCode != routine.CodeInvalid || !strings.Contains(*e.Error, "update rote") || s.browser.Opened() != 0 {
			t.Errorf("%+v, %d runs", e, s.browser.Opened())
		}
	})
}
