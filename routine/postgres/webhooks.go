package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// dueWebhooks selects webhooks to send, in order of their due times: the first few of each
// target. It reads only these, even if many more are due. Arguments: the current time and
// the number per target.
const dueWebhooks = `
	WITH RECURSIVE targets (organization_id, host) AS (
		(SELECT organization_id, host FROM webhooks WHERE due_at IS NOT NULL ORDER BY organization_id, host LIMIT 1)
		UNION ALL
		SELECT n.organization_id, n.host FROM targets t CROSS JOIN LATERAL (
			SELECT organization_id, host FROM webhooks
			WHERE due_at IS NOT NULL AND (organization_id, host) > (t.organization_id, t.host)
			ORDER BY organization_id, host LIMIT 1) n
	)
	SELECT w.id, t.organization_id, t.host FROM targets t CROSS JOIN LATERAL (
		SELECT d.id, d.due_at FROM webhooks d JOIN executions e ON e.id = d.execution_id
		WHERE d.organization_id = t.organization_id AND d.host = t.host AND d.due_at <= $1 AND e.status IN ('completed', 'failed')
		ORDER BY d.due_at LIMIT $2) w
	ORDER BY w.due_at, w.id`

// ClaimWebhooks claims webhooks that are due. They are selected by a read; another process
// may claim some of them first.
func (s *Store) ClaimWebhooks(ctx context.Context, c routine.WebhookClaim) (claimed []*routine.Webhook, err error) {
	var due []*routine.Webhook
	err = s.read(ctx, func(ctx context.Context) (err error) {
		due, err = collect(ctx, s.pool, func(scan rows.Scan) (*routine.Webhook, error) {
			w := &routine.Webhook{}
			return w, scan(&w.ID, &w.Target.OrganizationID, &w.Target.Host)
		}, dueWebhooks, rows.Micros(c.Now), min(c.Limit, c.PerOrganization, c.PerHost))
		return err
	})
	if err != nil || len(due) == 0 {
		return nil, rows.Wrap("find webhooks", err)
	}
	chosen := c.Choose(due)
	byID := map[string]*routine.Webhook{}
	var ids []string
	for _, w := range chosen {
		byID[w.ID] = w
		ids = append(ids, w.ID)
	}
	err = s.write(ctx, func(ctx context.Context) error {
		_, err := collect(ctx, s.pool, func(scan rows.Scan) (id string, err error) {
			var w routine.Webhook
			var hosts []byte
			if err = scan(&id, &w.ExecutionID, &w.URL, &hosts, &w.Attempt, &w.Notify); err != nil {
				return id, err
			}
			of := byID[id]
			of.ExecutionID, of.URL, of.Attempt, of.Notify = w.ExecutionID, w.URL, w.Attempt, w.Notify
			return id, json.Unmarshal(hosts, &of.AllowedHosts)
		}, `
			UPDATE webhooks SET due_at = $1, attempts = attempts + 1 WHERE id = ANY($2) AND due_at <= $3
			RETURNING id, execution_id, url, allowed_hosts, attempts, notify`, rows.Micros(c.Until), ids, rows.Micros(c.Now))
		return err
	})
	if err != nil {
		return nil, rows.Wrap("claim webhooks", err)
	}
	for _, w := range chosen {
		if w.Attempt > 0 { // not claimed by another process
			claimed = append(claimed, w)
		}
	}
	return claimed, nil
}

// CountDueWebhooks counts the webhooks that are due.
func (s *Store) CountDueWebhooks(ctx context.Context, now time.Time) (n int, err error) {
	err = s.queryRow(ctx, `
		SELECT count(*) FROM webhooks JOIN executions ON executions.id = execution_id
		WHERE due_at IS NOT NULL AND due_at <= $1 AND status IN ('completed', 'failed')`, rows.Micros(now)).Scan(&n)
	return n, rows.Wrap("count due webhooks", err)
}

// SettleWebhook saves the outcome of an attempt, unless a later one has been claimed.
func (s *Store) SettleWebhook(ctx context.Context, id string, attempt int, outcome string, next *time.Time) error {
	_, err := s.exec(ctx, `UPDATE webhooks SET outcome = $1, due_at = $2 WHERE id = $3 AND attempts = $4`,
		[]byte(outcome), rows.NullMicros(next), value(id), attempt)
	return rows.Wrap("settle webhook", err)
}

// WebhookSecret returns the secret of an organization. If it has none, fresh is saved and
// returned.
func (s *Store) WebhookSecret(ctx context.Context, organizationID string, fresh []byte) (secret []byte, err error) {
	const query = `SELECT secret FROM webhook_secrets WHERE organization_id = $1`
	err = s.queryRow(ctx, query, organizationID).Scan(&secret)
	if !errors.Is(err, pgx.ErrNoRows) {
		return secret, rows.Wrap("read webhook secret", err)
	}
	if _, err = s.exec(ctx, `INSERT INTO webhook_secrets (organization_id, secret) VALUES ($1, $2) ON CONFLICT (organization_id) DO NOTHING`,
		organizationID, fresh); err == nil {
		err = s.queryRow(ctx, query, organizationID).Scan(&secret)
	}
	return secret, rows.Wrap("make webhook secret", err)
}
