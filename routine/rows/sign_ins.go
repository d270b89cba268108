package rows

import (
	"time"

	"rote/routine"
)

// ScanSignIn reads a row with hash, token_hash, created_at, last_used_at.
func ScanSignIn(scan Scan) (*routine.SignIn, error) {
	var (
		hash, token   []byte
		created, used int64
	)
	if err := scan(&hash, &token, &created, &used); err != nil {
		return nil, err
	}
	in := &routine.SignIn{CreatedAt: fromMicros(created), LastUsedAt: fromMicros(used)}
	copy(in.Hash[:], hash)
	copy(in.TokenHash[:], token)
	return in, nil
}

// SignInLimits returns, for a time, the created_at and the last_used_at that a sign-in must
// exceed to be valid.
func SignInLimits(now time.Time) (created, used int64) {
	return Micros(now.Add(-routine.SignInTime)), Micros(now.Add(-routine.SignInIdleTime))
}
