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

const fromDueWebhooks = `
	FROM webhooks JOIN executions ON executions.id = execution_id
	WHERE due_at <= ? AND status IN ('completed', 'failed')`

// DueWebhooks claims webhooks. Most of the time there are none, which is found
// out without a write.
func (s *Store) DueWebhooks(ctx context.Context, now, until time.Time, limit int) ([]*routine.Webhook, error) {
	var some bool
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 `+fromDueWebhooks+`)`, micros(now)).Scan(&some); err != nil || !some {
		return nil, wrap("find webhooks", err)
	}
	var due []*routine.Webhook
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			UPDATE webhooks SET due_at = ?, attempts = attempts + 1
			WHERE id IN (SELECT webhooks.id `+fromDueWebhooks+` ORDER BY due_at LIMIT ?)
			RETURNING id, execution_id, url, allowed_hosts, attempts`, micros(until), micros(now), limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var w routine.Webhook
			var hosts []byte
			if err := rows.Scan(&w.ID, &w.ExecutionID, &w.URL, &hosts, &w.Attempt); err != nil {
				return err
			}
			if err := json.Unmarshal(hosts, &w.AllowedHosts); err != nil {
				return err
			}
			due = append(due, &w)
		}
		return rows.Err()
	})
	return due, wrap("claim webhooks", err)
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
