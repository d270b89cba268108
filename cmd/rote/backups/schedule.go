package backups

import (
	"context"
	"log/slog"
	"time"
)

// retryTime is how long after a failure another copy is tried, if that is not later than the
// next one.
const retryTime = 10 * time.Minute

// Schedule makes copies of a database again and again.
type Schedule struct {
	Place    Place
	Database Backupper
	Every    time.Duration
	// Keep is how many archives are kept.
	Keep int
	Log  *slog.Logger
	Now  func() time.Time
}

// Run makes a copy when the newest archive is older than Every, until ctx ends. So a restart
// neither misses a copy nor makes one too many. Failures are logged.
func (s *Schedule) Run(ctx context.Context) {
	for {
		next := time.NewTimer(s.step(ctx))
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
	}
}

// step makes a copy if it is due, and returns the time until it has to be called again.
func (s *Schedule) step(ctx context.Context) time.Duration {
	left, err := s.copyIfDue(ctx)
	if err == nil {
		return left
	}
	retry := min(s.Every, retryTime)
	if ctx.Err() == nil {
		s.Log.ErrorContext(ctx, "the database was not backed up", "to", s.Place.String(), "error", err, "retry_seconds", retry.Seconds())
	}
	return retry
}

// copyIfDue is step with the error.
func (s *Schedule) copyIfDue(ctx context.Context) (time.Duration, error) {
	name, last, err := s.Place.Newest(ctx)
	if err != nil {
		return 0, err
	}
	if left := last.Add(s.Every).Sub(s.Now()); name != "" && left > 0 {
		return min(left, s.Every), nil // the clock may have been set back
	}
	if name, err = s.Place.Save(ctx, s.Database, s.Now()); err != nil {
		return 0, err
	}
	s.Log.InfoContext(ctx, "the database was backed up", "to", s.Place.String(), "archive", name)
	if _, err := s.Place.Prune(ctx, s.Keep); err != nil {
		s.Log.WarnContext(ctx, "old backups were not deleted", "to", s.Place.String(), "error", err)
	}
	return s.Every, nil
}
