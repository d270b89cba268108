package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"rote/routine"
)

// saveCallback saves whom to tell of an execution, in the transaction that
// saves it.
func saveCallback(ctx context.Context, tx *sql.Tx, e *routine.Execution) error {
	if e.Callback == nil {
		return nil
	}
	hosts, err := encode(e.Callback.AllowedHosts)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO webhooks (id, execution_id, url, allowed_hosts, due_at) VALUES (?, ?, ?, ?, ?)`,
		"msg_"+uuid.NewString(), e.ID, e.Callback.URL, hosts, micros(e.CreatedAt))
	return err
}

// dueWebhooks finds webhooks to send, the one that is due longest first.
const dueWebhooks = `
	SELECT webhooks.id, organization_id, url
	FROM webhooks JOIN executions ON executions.id = execution_id
	WHERE due_at <= ? AND status IN ('completed', 'failed') ORDER BY due_at`

// ClaimWebhooks claims webhooks. They are chosen by a read, so that a long list of
// them keeps no writer waiting. Another process may claim some of them first.
func (s *Store) ClaimWebhooks(ctx context.Context, c routine.WebhookClaim) ([]*routine.Webhook, error) {
	due, err := s.dueWebhooks(ctx, c.Now)
	if err != nil || len(due) == 0 {
		return nil, wrap("find webhooks", err)
	}
	var claimed []*routine.Webhook
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		for _, w := range c.Choose(due) {
			var hosts []byte
			err := tx.QueryRowContext(ctx, `
				UPDATE webhooks SET due_at = ?, attempts = attempts + 1 WHERE id = ? AND due_at <= ?
				RETURNING execution_id, url, allowed_hosts, attempts`, micros(c.Until), w.ID, micros(c.Now)).
				Scan(&w.ExecutionID, &w.URL, &hosts, &w.Attempt)
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
		return nil, wrap("claim webhooks", err)
	}
	return claimed, nil
}

// dueWebhooks are the webhooks that are due, with nothing but their id and target.
func (s *Store) dueWebhooks(ctx context.Context, now time.Time) (due []*routine.Webhook, err error) {
	rows, err := s.read.QueryContext(ctx, dueWebhooks, micros(now))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, organizationID, url string
		if err := rows.Scan(&id, &organizationID, &url); err != nil {
			return nil, err
		}
		due = append(due, &routine.Webhook{ID: id, Target: routine.TargetOf(organizationID, url)})
	}
	return due, rows.Err()
}

// SettleWebhook saves what came of an attempt.
func (s *Store) SettleWebhook(ctx context.Context, id, outcome string, next *time.Time) error {
	_, err := s.write.ExecContext(ctx, `UPDATE webhooks SET outcome = ?, due_at = ? WHERE id = ?`, outcome, nullMicros(next), id)
	return wrap("settle webhook", err)
}

// WebhookSecret is the secret of an organization, made of fresh when it has
// none.
func (s *Store) WebhookSecret(ctx context.Context, organizationID string, fresh []byte) (secret []byte, err error) {
	const query = `SELECT secret FROM webhook_secrets WHERE organization_id = ?`
	err = s.read.QueryRowContext(ctx, query, organizationID).Scan(&secret)
	if !errors.Is(err, sql.ErrNoRows) {
		return secret, wrap("read webhook secret", err)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO webhook_secrets (organization_id, secret) VALUES (?, ?) ON CONFLICT DO NOTHING`, organizationID, fresh); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, query, organizationID).Scan(&secret)
	})
	return secret, wrap("make webhook secret", err)
}

// wrap says what was being done, if there is an error.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
