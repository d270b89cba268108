package service_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine/routinetest"
	"rote/routine/service"
)

// unrecovering is a store that cannot end the executions of dead processes.
type unrecovering struct{ *routinetest.Store }

func (unrecovering) RecoverExecutions(context.Context, time.Time) (int, error) {
	return 0, errors.New("no answer")
}

// A fault that lasts is logged once, not with each look.
func TestLastingFaultOfTheLedgerIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := service.New(service.Config{Store: unrecovering{routinetest.NewStore()}, Browser: &routinetest.Browser{},
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithCancel(t.Context())
		var maintaining sync.WaitGroup
		maintaining.Go(func() { s.Maintain(ctx) })
		time.Sleep(time.Minute)
		stop()
		maintaining.Wait()
		s.Close(t.Context())
		if n := strings.Count(log.String(), "the ledger cannot be maintained"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, log.String())
		}
	})
}
