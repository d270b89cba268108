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
	{"a late result of an earlier attempt at a webhook changes nothing", webhookIsSettledLate},
	{"no more webhooks are claimed than asked for", webhookLimit},
	{"organizations take turns with their webhooks", webhookTurns},
	{"the hosts of an organization take turns", webhookHostTurns},
	{"webhooks of one organization, and to one host, are bounded with those in flight", webhookBounds},
	{"the host of a webhook is that of its URL", webhookHost},
	{"of many that claim a webhook at once one gets it", webhookRace},
	{"an organization has one secret", secretIsKept},
}

func withCallback(e *routine.Execution) {
	e.Callback = &routine.Callback{URL: "https://receiver.example/?a=b", AllowedHosts: []string{"*.example", "10.0.0.0/8"}}
}

// claim is for at most limit webhooks, for a minute, without any other bound that
// matters here.
func claim(now time.Time, limit int) routine.WebhookClaim {
	return routine.WebhookClaim{Now: now, Until: now.Add(time.Minute), Limit: limit, PerOrganization: 100, PerHost: 100}
}

// due claims until a minute later, and returns the attempts by execution.
func due(t *testing.T, s routine.Store, now time.Time) map[string]int {
	t.Helper()
	all, err := s.ClaimWebhooks(t.Context(), claim(now, 10))
	must(t, err)
	attempts := map[string]int{}
	for _, w := range all {
		want := routine.Execution{}
		withCallback(&want)
		equal(t, "callback", w.Callback, *want.Callback)
		equal(t, "target", w.Target, routine.WebhookTarget{OrganizationID: "acme", Host: "receiver.example"})
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
	claimed, err := s.ClaimWebhooks(t.Context(), claim(Time, 1))
	must(t, err)
	must(t, s.SettleWebhook(t.Context(), claimed[0].ID, 1, "status 500", new(Time.Add(time.Hour))))
	equal(t, "before", due(t, s, Time.Add(time.Minute)), map[string]int{})
	equal(t, "then", due(t, s, Time.Add(time.Hour)), map[string]int{id: 2})
	must(t, s.SettleWebhook(t.Context(), claimed[0].ID, 2, "status 200", nil))
	equal(t, "ever", due(t, s, Time.Add(1000*time.Hour)), map[string]int{})
}

func webhookIsSettledLate(t *testing.T, s routine.Store) {
	endedWithCallback(t, s)
	claimOne := func(now time.Time) *routine.Webhook {
		t.Helper()
		claimed, err := s.ClaimWebhooks(t.Context(), claim(now, 1))
		must(t, err)
		if len(claimed) != 1 {
			t.Fatalf("%d webhooks are due, want 1", len(claimed))
		}
		return claimed[0]
	}
	first := claimOne(Time)
	second := claimOne(Time.Add(time.Minute))
	must(t, s.SettleWebhook(t.Context(), first.ID, first.Attempt, "status 200", nil))
	third := claimOne(Time.Add(2 * time.Minute))
	equal(t, "attempt", third.Attempt, 3)
	must(t, s.SettleWebhook(t.Context(), third.ID, third.Attempt, "status 200", nil))
	must(t, s.SettleWebhook(t.Context(), second.ID, second.Attempt, "status 500", new(Time.Add(time.Hour))))
	equal(t, "after it was delivered", due(t, s, Time.Add(1000*time.Hour)), map[string]int{})
}

func webhookLimit(t *testing.T, s routine.Store) {
	for range 3 {
		endedWithCallback(t, s)
	}
	for _, want := range []int{2, 1, 0} {
		claimed, err := s.ClaimWebhooks(t.Context(), claim(Time, 2))
		must(t, err)
		equal(t, "claimed", len(claimed), want)
	}
}

// dueTo makes n webhooks of an organization to a URL that are due some seconds
// after Time.
func dueTo(t *testing.T, s routine.Store, organization, url string, n, seconds int) {
	t.Helper()
	for range n {
		e := create(t, s, func(e *routine.Execution) {
			e.OrganizationID, e.CreatedAt = organization, Time.Add(time.Duration(seconds)*time.Second)
			e.Callback = &routine.Callback{URL: url}
		})
		must(t, s.FinishExecution(t.Context(), Ended(e)))
	}
}

// targets counts what a claim brings an hour after Time, by organization and host.
func targets(t *testing.T, s routine.Store, c routine.WebhookClaim) map[routine.WebhookTarget]int {
	t.Helper()
	c.Now, c.Until = Time.Add(time.Hour), Time.Add(2*time.Hour)
	claimed, err := s.ClaimWebhooks(t.Context(), c)
	must(t, err)
	counts := map[routine.WebhookTarget]int{}
	for _, w := range claimed {
		counts[w.Target]++
	}
	return counts
}

// to is a target by organization and host.
func to(organization, host string) routine.WebhookTarget {
	return routine.WebhookTarget{OrganizationID: organization, Host: host}
}

func webhookTurns(t *testing.T, s routine.Store) {
	dueTo(t, s, "many", "https://a.example/", 9, 0)
	dueTo(t, s, "some", "https://b.example/", 2, 1)
	dueTo(t, s, "one", "https://c.example/", 1, 2)
	equal(t, "first", targets(t, s, claim(Time, 4)), map[routine.WebhookTarget]int{to("many", "a.example"): 2, to("some", "b.example"): 1,
		to("one", "c.example"): 1})
	c := claim(Time, 1)
	c.InFlight = map[routine.WebhookTarget]int{to("many", "a.example"): 2, to("some", "b.example"): 1}
	equal(t, "then", targets(t, s, c), map[routine.WebhookTarget]int{to("some", "b.example"): 1})
	equal(t, "at last", targets(t, s, claim(Time, 10)), map[routine.WebhookTarget]int{to("many", "a.example"): 7})
}

func webhookHostTurns(t *testing.T, s routine.Store) {
	dueTo(t, s, "o", "https://dead.example/", 5, 0)
	dueTo(t, s, "o", "https://live.example/", 2, 1)
	c := claim(Time, 1)
	c.InFlight = map[routine.WebhookTarget]int{to("o", "dead.example"): 3}
	equal(t, "with some in flight", targets(t, s, c), map[routine.WebhookTarget]int{to("o", "live.example"): 1})
	equal(t, "then", targets(t, s, claim(Time, 2)), map[routine.WebhookTarget]int{to("o", "live.example"): 1, to("o", "dead.example"): 1})
}

func webhookBounds(t *testing.T, s routine.Store) {
	dueTo(t, s, "a", "https://shared.example/", 6, 0)
	dueTo(t, s, "b", "https://shared.example/", 6, 1)
	dueTo(t, s, "b", "https://own.example/", 6, 2)
	c := claim(Time, 100)
	c.PerOrganization, c.PerHost = 4, 5
	c.InFlight = map[routine.WebhookTarget]int{to("a", "elsewhere.example"): 3, to("c", "shared.example"): 2}
	equal(t, "claimed", targets(t, s, c), map[routine.WebhookTarget]int{to("a", "shared.example"): 1, to("b", "shared.example"): 2, to("b", "own.example"): 2})
	c.InFlight = map[routine.WebhookTarget]int{to("c", "shared.example"): 5, to("b", "own.example"): 4}
	equal(t, "when all is taken", targets(t, s, c), map[routine.WebhookTarget]int{})
}

func webhookHost(t *testing.T, s routine.Store) {
	want := map[routine.WebhookTarget]int{}
	for url, host := range map[string]string{
		"https://a.example":                "a.example",
		"http://B.Example/x?y=https://z/":  "b.example",
		"https://c.example?x=/":            "c.example",
		"https://d.example:8443/?":         "d.example:8443",
		"https://[2001:DB8::1]:80/hook":    "[2001:db8::1]:80",
		"https://10.0.0.1/a/b?c=d/e?f":     "10.0.0.1",
		"HTTPS://e.example/https://f.com/": "e.example",
	} {
		dueTo(t, s, "o", url, 1, 0)
		want[to("o", host)] = 1
	}
	equal(t, "targets", targets(t, s, claim(Time, 10)), want)
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
