package routinetest

import (
	"testing"
	"time"

	"rote/routine"
)

var webhookPromises = []promise{
	{"a webhook is due when its execution has ended", webhookIsDue},
	{"a webhook that was claimed is due again when its time is over", webhookIsClaimed},
	{"a webhook that was settled is due when it should be tried again", webhookIsSettled},
	{"no more webhooks are claimed than asked for", webhookLimit},
	{"of many that claim a webhook at once one gets it", webhookRace},
	{"an organization has one secret", secretIsKept},
}

func withCallback(e *routine.Execution) {
	e.Callback = &routine.Callback{URL: "https://receiver.example/?a=b", AllowedHosts: []string{"*.example", "10.0.0.0/8"}}
}

// due claims until a minute later, and gives the attempts by execution.
func due(t *testing.T, s routine.Store, now time.Time) map[string]int {
	t.Helper()
	all, err := s.DueWebhooks(t.Context(), now, now.Add(time.Minute), 10)
	must(t, err)
	attempts := map[string]int{}
	for _, w := range all {
		want := routine.Execution{}
		withCallback(&want)
		equal(t, "callback", w.Callback, *want.Callback)
		attempts[w.ExecutionID] = w.Attempt
	}
	return attempts
}

func webhookIsDue(t *testing.T, s routine.Store) {
	e, other := create(t, s, withCallback), create(t, s)
	equal(t, "due while it goes on", due(t, s, Time.Add(time.Hour)), map[string]int{})
	for _, e := range []*routine.Execution{e, other} {
		must(t, s.FinishExecution(t.Context(), Ended(e)))
	}
	equal(t, "due after the end", due(t, s, Time.Add(time.Hour)), map[string]int{e.ID: 1})
	e.Callback = nil
	wantExecution(t, s, Ended(e))
}

// endedWithCallback is the id of an execution that has ended.
func endedWithCallback(t *testing.T, s routine.Store) string {
	t.Helper()
	e := create(t, s, withCallback)
	must(t, s.FinishExecution(t.Context(), Failed(e)))
	return e.ID
}

func webhookIsClaimed(t *testing.T, s routine.Store) {
	id := endedWithCallback(t, s)
	equal(t, "first", due(t, s, Time), map[string]int{id: 1})
	equal(t, "at once", due(t, s, Time), map[string]int{})
	equal(t, "before its time is over", due(t, s, Time.Add(time.Minute-time.Microsecond)), map[string]int{})
	equal(t, "when its time is over", due(t, s, Time.Add(time.Minute)), map[string]int{id: 2})
}

func webhookIsSettled(t *testing.T, s routine.Store) {
	id := endedWithCallback(t, s)
	claimed, err := s.DueWebhooks(t.Context(), Time, Time, 1)
	must(t, err)
	must(t, s.SettleWebhook(t.Context(), claimed[0].ID, "status 500", new(Time.Add(time.Hour))))
	equal(t, "before", due(t, s, Time.Add(time.Minute)), map[string]int{})
	equal(t, "then", due(t, s, Time.Add(time.Hour)), map[string]int{id: 2})
	must(t, s.SettleWebhook(t.Context(), claimed[0].ID, "status 200", nil))
	equal(t, "ever", due(t, s, Time.Add(1000*time.Hour)), map[string]int{})
}

func webhookLimit(t *testing.T, s routine.Store) {
	for range 3 {
		endedWithCallback(t, s)
	}
	for _, want := range []int{2, 1, 0} {
		claimed, err := s.DueWebhooks(t.Context(), Time, Time.Add(time.Minute), 2)
		must(t, err)
		equal(t, "claimed", len(claimed), want)
	}
}

func webhookRace(t *testing.T, s routine.Store) {
	id := endedWithCallback(t, s)
	claims := make([]map[string]int, 16)
	for _, err := range race(len(claims), func(i int) error { claims[i] = due(t, s, Time); return nil }) {
		must(t, err)
	}
	won := 0
	for _, c := range claims {
		won += c[id]
	}
	equal(t, "claims", won, 1)
}

func secretIsKept(t *testing.T, s routine.Store) {
	for _, row := range []struct{ organization, fresh, want string }{{"acme", "a", "a"}, {"globex", "b", "b"}, {"acme", "c", "a"}} {
		got, err := s.WebhookSecret(t.Context(), row.organization, []byte(row.fresh))
		must(t, err)
		equal(t, "secret of "+row.organization, string(got), row.want)
	}
}
