package sqlite

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rote/routine/rows"
)

const (
	// maxClockDrift is how far the clock of the machine may get ahead of the time that has
	// passed in this process.
	maxClockDrift = 10 * time.Minute
	// maxIdleTime is the age of the newest execution from which the clock is in doubt.
	maxIdleTime = 30 * 24 * time.Hour
	// clockDoubtTime is for how long a process does not believe a clock that is in doubt.
	clockDoubtTime = 24 * time.Hour
)

// retentionClock bounds the time by which executions are too old. A clock that is wrong
// could otherwise delete all of them at once.
//
// A clock that is set forward while the process runs counts only after it has held for a day.
// Until then time passes as the monotonic clock says. So a process that was started with a clock
// that was years behind deletes old executions a day after the clock was corrected.
//
// If even the newest execution in the file is older than a month and too old when the process
// starts, either nobody has used it for long or the clock is wrong: for a day, ages are those at
// the time of that execution. The clock may be corrected meanwhile.
type retentionClock struct {
	log *slog.Logger

	mu     sync.Mutex
	opened time.Time // with a reading of the monotonic clock
	// newest is the creation of the newest execution at that time; 0 if there is none.
	newest int64
	// trusted is the clock that counts. forward is one that was set forward since and is not
	// trusted yet; its zero value means that there is none.
	trusted, forward clockReading
}

// clockReading is what the clock of the machine said at a moment.
type clockReading struct {
	said time.Time
	at   time.Time // with a reading of the monotonic clock
}

// now returns what the clock says now if it was not set since.
func (r clockReading) now() time.Time { return r.said.Add(time.Since(r.at)) }

// start starts the clock of a store whose newest execution was created at a time in microseconds.
func (c *retentionClock) start(ctx context.Context, newest int64) {
	now := time.Now()
	c.opened, c.newest, c.trusted = now, newest, clockReading{said: now.Round(0), at: now}
	if behind := time.UnixMicro(newest).Sub(now); behind > maxClockDrift {
		c.log.WarnContext(ctx, "the clock of this machine is behind the newest execution: the oldest executions are kept for longer",
			"behind", behind.Round(time.Second).String())
	}
}

// startClock starts the clock of a Store that was opened.
func (s *Store) startClock(ctx context.Context) error {
	var newest int64
	err := s.read.QueryRowContext(ctx, `SELECT coalesce(max(created_at), 0) FROM executions`).Scan(&newest)
	s.clock.start(ctx, newest)
	return rows.Wrap("read newest execution", err)
}

// bound returns the time by which executions are too old when the clock says now.
func (c *retentionClock) bound(ctx context.Context, now time.Time, age time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.believed(ctx, now)
	newest := time.UnixMicro(c.newest)
	if c.newest > 0 && age > 0 && time.Since(c.opened) < clockDoubtTime && now.Sub(newest) > max(age, maxIdleTime) {
		return newest
	}
	return now
}

// believed returns the time that counts when the clock says now.
func (c *retentionClock) believed(ctx context.Context, now time.Time) time.Time {
	latest := c.trusted.now().Add(maxClockDrift)
	if !now.After(latest) {
		c.forward = clockReading{}
		return now
	}
	if c.forward.at.IsZero() || now.Sub(c.forward.now()).Abs() > maxClockDrift {
		c.forward = clockReading{said: now.Round(0), at: time.Now()}
		c.log.WarnContext(ctx, "the clock of this machine was set forward, or the machine has slept: until the clock has held for a day, "+
			"executions are deleted by the time that has passed in this process", "ahead", now.Sub(c.trusted.now()).Round(time.Second).String())
	}
	if time.Since(c.forward.at) < clockDoubtTime {
		return latest
	}
	c.log.WarnContext(ctx, "the clock of this machine has held for a day since it was set forward: executions are deleted by it",
		"ahead", now.Sub(c.trusted.now()).Round(time.Second).String())
	c.trusted, c.forward = c.forward, clockReading{}
	return now
}
