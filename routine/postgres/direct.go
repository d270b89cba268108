package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// defaultArrivalTimeout limits the wait for a notification that was just sent.
const defaultArrivalTimeout = 3 * time.Second

// checkDirect returns an error unless DirectURL leads to the same schema of the same
// database as URL. It sends a notification to one and waits for it at the other, because
// that is what the Store needs both for. Names would not do: one server has many, and a
// copy of a database has the same.
func (s *Store) checkDirect(ctx context.Context) error {
	if s.config.DirectURL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	config, err := s.directConfig()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("--db-direct: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	channel := "rote_check_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	var schema, pooled *string
	if _, err = conn.Exec(ctx, "LISTEN "+channel); err == nil {
		err = conn.QueryRow(ctx, `SELECT current_schema()::text`).Scan(&schema)
	}
	if err != nil {
		return fmt.Errorf("--db-direct: %w", err)
	}
	if err := s.queryRow(ctx, `SELECT current_schema()::text FROM pg_notify($1, '')`, channel).Scan(&pooled); err != nil {
		return err
	}
	waiting, stop := context.WithTimeout(ctx, s.config.arrivalTimeout)
	defer stop()
	if _, err := conn.WaitForNotification(waiting); err != nil {
		return fmt.Errorf("%s (--db-direct) is another database than that of --db, or is a connection pooler: name the same database, without a pooler: %w",
			nameOf(config), err)
	}
	if schema == nil || pooled == nil || *schema != *pooled {
		return fmt.Errorf("%s (--db-direct) is in the schema %s, but --db is in %s: give both the same search_path, a pooler with ALTER ROLE … SET search_path",
			nameOf(config), orNone(schema), orNone(pooled))
	}
	return nil
}

func orNone(schema *string) string {
	if schema == nil {
		return "no schema"
	}
	return *schema
}
