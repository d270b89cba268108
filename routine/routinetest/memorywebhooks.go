package routinetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"rote/routine"
)

// webhook is a row of webhooks; due is nil when it is settled for good.
type webhook struct {
	routine.Webhook
	due *time.Time
}

func (s *Store) ClaimWebhooks(_ context.Context, c routine.WebhookClaim) ([]*routine.Webhook, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.DeleteFunc(slices.Collect(maps.Values(s.webhooks)), func(w *webhook) bool {
		return w.due == nil || w.due.After(c.Now) || s.executions[w.ExecutionID].Open()
	})
	slices.SortFunc(all, func(a, b *webhook) int { return cmp.Or(a.due.Compare(*b.due), cmp.Compare(a.ID, b.ID)) })
	var due []*routine.Webhook
	for _, w := range all {
		claimed := w.Webhook
		claimed.Target, claimed.AllowedHosts = routine.WebhookTargetOf(s.executions[w.ExecutionID].OrganizationID, w.URL), slices.Clone(w.AllowedHosts)
		claimed.Attempt++
		due = append(due, &claimed)
	}
	chosen := c.Choose(due)
	for _, claimed := range chosen {
		w := s.webhooks[claimed.ID]
		w.due, w.Attempt = copyTime(&c.Until), claimed.Attempt
	}
	return chosen, nil
}

func (s *Store) CountDueWebhooks(_ context.Context, now time.Time) (n int, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hook := range s.webhooks {
		if hook.due != nil && !hook.due.After(now) && !s.executions[hook.ExecutionID].Open() {
			n++
		}
	}
	return n, nil
}

func (s *Store) SettleWebhook(_ context.Context, id string, attempt int, _ string, next *time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.webhooks[id]; w != nil && w.Attempt == attempt {
		w.due = copyTime(next)
	}
	return nil
}

func (s *Store) WebhookSecret(_ context.Context, organizationID string, fresh []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhookSecrets[organizationID] == nil {
		s.webhookSecrets[organizationID] = slices.Clone(fresh)
	}
	return slices.Clone(s.webhookSecrets[organizationID]), nil
}

func (s *Store) ClaimRepeated(_ context.Context, kind routine.JobKind, now, next time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, last := s.repeated[kind], now.Add(2*next.Sub(now))
	if until.After(now) && !until.After(last) {
		return false, nil
	}
	s.repeated[kind] = next
	return true, nil
}
