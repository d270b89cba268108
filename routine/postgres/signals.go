package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// defaultLookInterval is how often Signals looks for itself. It hears of everything at once
// from the database, but a connection that is dead says nothing.
const defaultLookInterval = 5 * time.Second

// The channels of notifications. A request to cancel has the owner of the execution and
// its id, separated by a space. The triggers of migrations name the other one.
const (
	cancelChannel = "rote_cancel"
	changeChannel = "rote_changes"
)

// Signals calls heard for requests to cancel and for changes until ctx ends. It has a
// connection of its own, not through a pooler, which would not pass notifications on.
func (s *Store) Signals(ctx context.Context, heard func(routine.Signal)) error {
	err := s.listen(ctx, heard)
	if ctx.Err() != nil {
		return nil
	}
	return rows.Wrap("signals", err)
}

func (s *Store) listen(ctx context.Context, heard func(routine.Signal)) error {
	config, err := s.directConfig()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+cancelChannel+"; LISTEN "+changeChannel); err != nil {
		return err
	}
	for {
		// All that was missed while nobody listened.
		heard(routine.Signal{Changed: true})
		if err := s.hearCancelRequests(ctx, conn, heard); err != nil {
			return err
		}
		if err := s.hearNotifications(ctx, conn, heard); err != nil {
			return err
		}
	}
}

// hearCancelRequests calls heard for all requests to cancel this Store's executions.
func (s *Store) hearCancelRequests(ctx context.Context, conn *pgx.Conn, heard func(routine.Signal)) error {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	owner, _, _ := s.owner.state()
	ids, err := collect(ctx, conn, scanString, `
		SELECT id FROM executions
		WHERE owner = $1 AND status IN ('pending', 'running') AND cancel_requested_at IS NOT NULL`, owner)
	if err != nil {
		return fmt.Errorf("read cancel requests: %w", err)
	}
	for _, id := range ids {
		heard(routine.Signal{Cancel: id})
	}
	return nil
}

// hearNotifications calls heard for the notifications until it is time to look again.
func (s *Store) hearNotifications(ctx context.Context, conn *pgx.Conn, heard func(routine.Signal)) error {
	waiting, cancel := context.WithTimeout(ctx, s.config.lookInterval)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(waiting)
		if errors.Is(waiting.Err(), context.DeadlineExceeded) && !conn.IsClosed() {
			return nil
		}
		if err != nil {
			return err
		}
		if n.Channel == changeChannel {
			heard(routine.Signal{Changed: true})
			continue
		}
		owner, _, _ := s.owner.state()
		if of, id, _ := strings.Cut(n.Payload, " "); of == owner {
			heard(routine.Signal{Cancel: id})
		}
	}
}
