package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/rows"
)

// CreateSignIn saves a sign-in of the web console.
func (s *Store) CreateSignIn(ctx context.Context, in *routine.SignIn) error {
	_, err := s.exec(ctx, `INSERT INTO sign_ins (hash, token_hash, created_at, last_used_at) VALUES ($1, $2, $3, $4)`,
		in.Hash[:], in.TokenHash[:], rows.Micros(in.CreatedAt), rows.Micros(in.LastUsedAt))
	return rows.Wrap("create sign-in", err)
}

// SignInByHash finds a sign-in, valid or not. It returns [routine.ErrNotFound].
func (s *Store) SignInByHash(ctx context.Context, hash [32]byte) (*routine.SignIn, error) {
	in, err := rows.ScanSignIn(s.queryRow(ctx, `SELECT hash, token_hash, created_at, last_used_at FROM sign_ins WHERE hash = $1`, hash[:]).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = routine.ErrNotFound
	}
	return in, rows.Wrap("read sign-in", err)
}

// UseSignIn sets the time of a sign-in's last use, unless a later one is stored. It returns
// [routine.ErrNotFound].
func (s *Store) UseSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	n, err := s.execRelaxed(ctx, s.pool, `UPDATE sign_ins SET last_used_at = greatest(last_used_at, $1) WHERE hash = $2`, rows.Micros(at), hash[:])
	if err == nil && n == 0 {
		err = routine.ErrNotFound
	}
	return rows.Wrap("use sign-in", err)
}

// EndSignIn deletes a sign-in, if there is one.
func (s *Store) EndSignIn(ctx context.Context, hash [32]byte) error {
	_, err := s.exec(ctx, `DELETE FROM sign_ins WHERE hash = $1`, hash[:])
	return rows.Wrap("end sign-in", err)
}

// pruneSignIns deletes the sign-ins that are not valid at a time.
func (s *Store) pruneSignIns(ctx context.Context, now time.Time) error {
	created, used := rows.SignInLimits(now)
	_, err := s.exec(ctx, `DELETE FROM sign_ins WHERE created_at <= $1 OR last_used_at <= $2`, created, used)
	return rows.Wrap("prune sign-ins", err)
}
