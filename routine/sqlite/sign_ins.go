package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/rows"
)

// CreateSignIn saves a sign-in of the web console.
func (s *Store) CreateSignIn(ctx context.Context, in *routine.SignIn) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO sign_ins (hash, token_hash, created_at, last_used_at) VALUES (?, ?, ?, ?)`,
		in.Hash[:], in.TokenHash[:], rows.Micros(in.CreatedAt), rows.Micros(in.LastUsedAt))
	return rows.Wrap("create sign-in", err)
}

// SignInByHash finds a sign-in, valid or not. It returns [routine.ErrNotFound].
func (s *Store) SignInByHash(ctx context.Context, hash [32]byte) (*routine.SignIn, error) {
	in, err := rows.ScanSignIn(s.read.QueryRowContext(ctx, `SELECT hash, token_hash, created_at, last_used_at FROM sign_ins WHERE hash = ?`, hash[:]).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("sign-in: %w", routine.ErrNotFound)
	}
	return in, rows.Wrap("read sign-in", err)
}

// UseSignIn sets the time of a sign-in's last use, unless a later one is stored. It returns
// [routine.ErrNotFound].
func (s *Store) UseSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	done, err := s.write.ExecContext(ctx, `UPDATE sign_ins SET last_used_at = max(last_used_at, ?) WHERE hash = ?`, rows.Micros(at), hash[:])
	return rows.Wrap("use sign-in", changedOne(done, err, routine.ErrNotFound))
}

// EndSignIn deletes a sign-in, if there is one.
func (s *Store) EndSignIn(ctx context.Context, hash [32]byte) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM sign_ins WHERE hash = ?`, hash[:])
	return rows.Wrap("end sign-in", err)
}

// pruneSignIns deletes the sign-ins that are not valid at a time.
func (s *Store) pruneSignIns(ctx context.Context, now time.Time) error {
	created, used := rows.SignInLimits(now)
	_, err := s.write.ExecContext(ctx, `DELETE FROM sign_ins WHERE created_at <= ? OR last_used_at <= ?`, created, used)
	return rows.Wrap("prune sign-ins", err)
}
