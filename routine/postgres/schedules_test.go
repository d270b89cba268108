package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
	"rote/routine/service"
)

// lookQueue is a queue that looks for due schedules each time that the test says so.
type lookQueue struct{ look, looked chan struct{} }

func (q lookQueue) Work(ctx context.Context, handlers map[routine.JobKind]routine.JobHandler) {
	for {
		select {
		case <-q.look:
			_, _ = handlers[routine.JobSchedule].Do(ctx, &routine.Job{Kind: routine.JobSchedule})
			q.looked <- struct{}{}
		case <-ctx.Done():
			return
		}
	}
}

// lookingService returns a service that looks for due schedules when queue says so, and
// whose clock is ahead by some time.
func lookingService(t *testing.T, store *Store, queue lookQueue, ahead time.Duration) *service.Service {
	t.Helper()
	return maintained(t, service.Config{Store: store, Browser: &routinetest.Browser{}, Concurrency: 9, Jobs: queue, Schedules: true,
		Now: func() time.Time { return time.Now().UTC().Add(ahead).Truncate(time.Microsecond) }})
}

// makeDue sets when a schedule is due next.
func makeDue(t *testing.T, store *Store, id string, at time.Time) {
	t.Helper()
	_, err := store.pool.Exec(t.Context(), `UPDATE schedules SET next_at = $1 WHERE id = $2`, at.UnixMicro(), id)
	must(t, err)
}

// Of three processes that find a schedule due at once, one starts its run, at each of its
// times.
func TestProcessesStartScheduledRunsOnce(t *testing.T) {
	url := emptyDatabase(t)
	queue := lookQueue{make(chan struct{}), make(chan struct{})}
	const processes, times = 3, 4
	store := open(t, url)
	first := lookingService(t, store, queue, 0)
	for range processes - 1 {
		lookingService(t, open(t, url), queue, 0)
	}
	id := (&replica{Service: first}).create(t)
	sc, err := first.CreateSchedule(t.Context(), caller, fmt.Appendf(nil, `{"routine_id": %q, "cron": "@yearly"}`, id), service.Idempotency{})
	must(t, err)
	for i := range times {
		makeDue(t, store, sc.ID, time.Now().Add(time.Duration(i-times)*time.Minute))
		for range processes {
			queue.look <- struct{}{}
		}
		for range processes {
			<-queue.looked
		}
		kept, err := first.Schedule(t.Context(), caller, sc.ID)
		must(t, err)
		if e, err := first.Wait(t.Context(), caller, kept.LastExecutionID); err != nil || e.Status != routine.ExecutionCompleted {
			t.Fatalf("%+v, %v", e, err)
		}
	}
	list, total, err := first.Executions(t.Context(), caller, routine.ExecutionFilter{})
	must(t, err)
	if total != times || list[0].ScheduleID != sc.ID {
		t.Errorf("%d runs at %d times", total, times)
	}
}

// Servers whose clocks are hours apart share schedules: none is moved back to a time for
// which a run was started.
func TestClocksHoursApartRepeatNoScheduledRun(t *testing.T) {
	url := emptyDatabase(t)
	store := open(t, url)
	var queues []lookQueue
	var services []*service.Service
	for _, ahead := range []time.Duration{0, -3 * time.Hour, time.Hour, 3 * time.Hour, -time.Hour} {
		queue := lookQueue{make(chan struct{}), make(chan struct{})}
		queues, services = append(queues, queue), append(services, lookingService(t, store, queue, ahead))
	}
	id := (&replica{Service: services[0]}).create(t)
	due := time.Now().UTC().Truncate(time.Minute).Add(-30 * time.Minute)
	body := fmt.Appendf(nil, `{"routine_id": %q, "cron": "%d * * * *"}`, id, due.Minute())
	sc, err := services[0].CreateSchedule(t.Context(), caller, body, service.Idempotency{})
	must(t, err)
	makeDue(t, store, sc.ID, due)
	for range 2 {
		for _, queue := range queues {
			queue.look <- struct{}{}
			<-queue.looked
			kept, err := services[0].Schedule(t.Context(), caller, sc.ID)
			must(t, err)
			if e, err := services[0].Wait(t.Context(), caller, kept.LastExecutionID); err != nil || e.Status != routine.ExecutionCompleted {
				t.Fatalf("%+v, %v", e, err)
			}
			if want := due.Add(time.Hour); !kept.NextAt.Equal(want) {
				t.Errorf("the schedule is due at %v, want %v", kept.NextAt, want)
			}
		}
	}
	_, total, err := services[0].Executions(t.Context(), caller, routine.ExecutionFilter{})
	must(t, err)
	if total != 1 {
		t.Errorf("%d runs for one time", total)
	}
}

// A schedule that is saved by a server whose clock is behind is due at the next time by the
// clock of the database, and starts no run for a time that has passed.
func TestScheduleSavedByASlowClock(t *testing.T) {
	url := emptyDatabase(t)
	queue := lookQueue{make(chan struct{}), make(chan struct{})}
	slow := lookingService(t, open(t, url), queue, -3*time.Hour)
	id := (&replica{Service: slow}).create(t)
	sc, err := slow.CreateSchedule(t.Context(), caller, fmt.Appendf(nil, `{"routine_id": %q, "cron": "@hourly"}`, id), service.Idempotency{})
	must(t, err)
	for _, change := range []string{"", `{"cron": "30 * * * *"}`} {
		if change != "" {
			sc, err = slow.PatchSchedule(t.Context(), caller, sc.ID, []byte(change))
			must(t, err)
		}
		if wait := time.Until(*sc.NextAt); wait < 0 || wait > time.Hour {
			t.Errorf("after %q it is due in %v", change, wait)
		}
	}
	queue.look <- struct{}{}
	<-queue.looked
	if _, total, err := slow.Executions(t.Context(), caller, routine.ExecutionFilter{}); err != nil || total != 0 {
		t.Errorf("%d runs, %v", total, err)
	}
}

// The look for schedules that are due, which each process makes every two seconds, reads no more
// than indexes and the schedules that it chooses.
func TestDueSchedulesUseIndexes(t *testing.T) {
	url := emptyDatabase(t)
	s := open(t, url)
	must(t, s.CreateSchedule(t.Context(), routinetest.Schedule(t), 1))
	execute(t, url, `
		INSERT INTO schedules SELECT (jsonb_populate_record(s, jsonb_build_object(
			'id', n::text, 'next_at', (extract(epoch FROM now())::bigint + 60 * (n - 10)) * 1000000))).*
		FROM schedules s, generate_series(1, 5000) n`)
	execute(t, url, `VACUUM ANALYZE schedules`)
	plan, err := collect(t.Context(), s.pool, func(scan rows.Scan) (line string, err error) { return line, scan(&line) },
		`EXPLAIN `+dueSchedules, time.Now().UnixMicro(), rows.WrongClock, 10)
	must(t, err)
	text := strings.Join(plan, "\n")
	for _, want := range []string{"Index Only Scan using schedules_due", "Index Only Scan using schedules_moved", "Index Scan using schedules_pkey"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Seq Scan on schedules") {
		t.Errorf("all schedules are read:\n%s", text)
	}
}
