package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"rote/routine"
	"rote/routine/rows"
)

// saveCallback saves the webhook of an execution, in the transaction that saves
// the execution.
func saveCallback(ctx context.Context, tx writer, e *routine.Execution) error {
	if e.Callback == nil {
		return nil
	}
	hosts, err := rows.Encode(e.Callback.AllowedHosts)
	if err != nil {
		return err
	}
	target := routine.WebhookTargetOf(e.OrganizationID, e.Callback.URL)
	_, err = tx.ExecContext(ctx, `
		INSERT INTO webhooks (id, execution_id, organization_id, host, url, allowed_hosts, due_at, notify) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		"msg_"+uuid.NewString(), e.ID, target.OrganizationID, target.Host, e.Callback.URL, hosts, rows.Micros(e.CreatedAt), e.Callback.Notify)
	return err
}

// addWebhookTargets adds the organization and the host to all webhooks, which
// are found by them.
var addWebhookTargets = goose.NewGoMigration(12, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `
		ALTER TABLE webhooks ADD COLUMN organization_id TEXT NOT NULL DEFAULT '';
		ALTER TABLE webhooks ADD COLUMN host TEXT NOT NULL DEFAULT '';
		DROP INDEX webhooks_due;
		CREATE INDEX webhooks_due ON webhooks (organization_id, host, due_at) WHERE due_at IS NOT NULL;
		UPDATE webhooks SET organization_id = (SELECT organization_id FROM executions WHERE executions.id = execution_id)`)
	if err != nil {
		return err
	}
	found, err := tx.QueryContext(ctx, `SELECT DISTINCT url FROM webhooks WHERE due_at IS NOT NULL`)
	if err != nil {
		return err
	}
	defer found.Close()
	var urls []string
	for found.Next() {
		var url string
		if err := found.Scan(&url); err != nil {
			return err
		}
		urls = append(urls, url)
	}
	if err := found.Err(); err != nil {
		return err
	}
	for _, url := range urls {
		if _, err := tx.ExecContext(ctx, `UPDATE webhooks SET host = ? WHERE url = ?`, routine.WebhookTargetOf("", url).Host, url); err != nil {
			return err
		}
	}
	return nil
}}, nil)

// dueWebhooks selects webhooks to send, in order of their due times: the first
// few of each target. It reads only these, even if many more are due.
// Arguments: the current time and the number per target.
const dueWebhooks = `
	WITH RECURSIVE targets (organization_id, host) AS (
		SELECT * FROM (SELECT organization_id, host FROM webhooks WHERE due_at IS NOT NULL ORDER BY organization_id, host LIMIT 1)
		UNION ALL
		SELECT w.organization_id, w.host FROM targets t CROSS JOIN webhooks w ON w.rowid = coalesce(
			(SELECT rowid FROM webhooks WHERE due_at IS NOT NULL AND organization_id = t.organization_id AND host > t.host ORDER BY host LIMIT 1),
			(SELECT rowid FROM webhooks WHERE due_at IS NOT NULL AND organization_id > t.organization_id ORDER BY organization_id, host LIMIT 1))
	)
	SELECT w.id, t.organization_id, t.host FROM targets t CROSS JOIN webhooks w ON w.rowid IN (
		SELECT d.rowid FROM webhooks d CROSS JOIN executions e ON e.id = d.execution_id
		WHERE d.organization_id = t.organization_id AND d.host = t.host AND d.due_at <= ?1 AND e.status IN ('completed', 'failed')
		ORDER BY d.due_at LIMIT ?2)
	ORDER BY w.due_at, w.id`

// ClaimWebhooks claims webhooks that are due. They are selected by a read, so
// that a long list does not delay writers. Another process may claim some of
// them first.
func (s *Store) ClaimWebhooks(ctx context.Context, c routine.WebhookClaim) ([]*routine.Webhook, error) {
	due, err := s.dueWebhooks(ctx, c)
	if err != nil || len(due) == 0 {
		return nil, rows.Wrap("find webhooks", err)
	}
	var claimed []*routine.Webhook
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		for _, w := range c.Choose(due) {
			var hosts []byte
			err := tx.QueryRowContext(ctx, `
				UPDATE webhooks SET due_at = ?, attempts = attempts + 1 WHERE id = ? AND due_at <= ?
				RETURNING execution_id, url, allowed_hosts, attempts, notify`, rows.Micros(c.Until), w.ID, rows.Micros(c.Now)).
				Scan(&w.ExecutionID, &w.URL, &hosts, &w.Attempt, &w.Notify)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			if err := json.Unmarshal(hosts, &w.AllowedHosts); err != nil {
				return err
			}
			claimed = append(claimed, w)
		}
		return nil
	})
	if err != nil {
		return nil, rows.Wrap("claim webhooks", err)
	}
	return claimed, nil
}

// dueWebhooks returns the webhooks from which c may choose, with only their ids
// and targets.
func (s *Store) dueWebhooks(ctx context.Context, c routine.WebhookClaim) (due []*routine.Webhook, err error) {
	found, err := s.read.QueryContext(ctx, dueWebhooks, rows.Micros(c.Now), min(c.Limit, c.PerOrganization, c.PerHost))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		w := &routine.Webhook{}
		if err := found.Scan(&w.ID, &w.Target.OrganizationID, &w.Target.Host); err != nil {
			return nil, err
		}
		due = append(due, w)
	}
	return due, found.Err()
}

// CountDueWebhooks counts the webhooks that are due.
func (s *Store) CountDueWebhooks(ctx context.Context, now time.Time) (n int, err error) {
	err = s.read.QueryRowContext(ctx, `
		SELECT count(*) FROM webhooks JOIN executions ON executions.id = execution_id
		WHERE due_at IS NOT NULL AND due_at <= ? AND status IN ('completed', 'failed')`, rows.Micros(now)).Scan(&n)
	return n, rows.Wrap("count due webhooks", err)
}

// SettleWebhook saves the outcome of an attempt, unless a later one has been
// claimed.
func (s *Store) SettleWebhook(ctx context.Context, id string, attempt int, outcome string, next *time.Time) error {
	_, err := s.write.ExecContext(ctx, `UPDATE webhooks SET outcome = ?, due_at = ? WHERE id = ? AND attempts = ?`,
		outcome, rows.NullMicros(next), id, attempt)
	return rows.Wrap("settle webhook", err)
}

// WebhookSecret returns the secret of an organization. If it has none, fresh is
// saved and returned.
func (s *Store) WebhookSecret(ctx context.Context, organizationID string, fresh []byte) (secret []byte, err error) {
	const query = `SELECT secret FROM webhook_secrets WHERE organization_id = ?`
	err = s.read.QueryRowContext(ctx, query, organizationID).Scan(&secret)
	if !errors.Is(err, sql.ErrNoRows) {
		return secret, rows.Wrap("read webhook secret", err)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO webhook_secrets (organization_id, secret) VALUES (?, ?) ON CONFLICT DO NOTHING`, organizationID, fresh)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, query, organizationID).Scan(&secret)
	})
	return secret, rows.Wrap("make webhook secret", err)
}
