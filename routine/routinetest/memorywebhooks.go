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

func (s *Store) DueWebhooks(_ context.Context, now, until time.Time, limit int) ([]*routine.Webhook, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.webhooks), func(a, b *webhook) int { return cmp.Compare(a.ID, b.ID) })
	var due []*routine.Webhook
	for _, w := range all {
		if w.due == nil || w.due.After(now) || s.executions[w.ExecutionID].Open() || len(due) == limit {
			continue
		}
		w.due = copyTime(&until)
		w.Attempt++
		c := w.Webhook
		c.AllowedHosts = slices.Clone(w.AllowedHosts)
		due = append(due, &c)
	}
	return due, nil
}

func (s *Store) SettleWebhook(_ context.Context, id, _ string, next *time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.webhooks[id]; w != nil {
		w.due = copyTime(next)
	}
	return nil
}

func (s *Store) WebhookSecret(_ context.Context, organizationID string, fresh []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets[organizationID] == nil {
		s.secrets[organizationID] = slices.Clone(fresh)
	}
	return slices.Clone(s.secrets[organizationID]), nil
}
