package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"rote/routine/rows"
)

// An open execution belongs to the process that runs it. If that process dies, another
// one must end the row, but never while the owner lives. A lock on a connection would not
// do: it is gone with the connection, so that a failover of the database would end all
// runs. Clocks would not do either: those of two machines differ.
//
// So each Store has an owner row, to whose beat it adds 1 every beatInterval, from its
// first execution until Close. Another process takes the owner for dead if it has itself
// looked for deadAfter, at least every maxLookGap, and has seen the same beat each time. A
// time in which the database did not answer, or took no beats, counts against nobody: a
// look counts only if the database has taken a beat of the process itself a moment ago.
//
// Beats have a connection of their own. If they waited for one with the queries, a busy
// process would look dead.
//
// A process that was frozen may find that its row is gone. Its executions have been ended
// then, and their late ends are refused. It continues under a new id, because the old one
// may still be in the sight of others.
type timing struct {
	beatInterval, deadAfter, maxLookGap time.Duration
	// maxSilence is the age of the last beat at which a Store takes no new executions.
	maxSilence time.Duration
}

var defaultTiming = timing{beatInterval: 2 * time.Second, deadAfter: 10 * time.Second, maxLookGap: 5 * time.Second, maxSilence: 8 * time.Second}

// owner is the owner of the executions of a Store.
type owner struct {
	maxSilence time.Duration
	// beating is full while somebody writes to the owner row. Unlike a mutex, it is
	// waited for no longer than a context allows.
	beating chan struct{}
	stop    func() // ends the beats and waits for them; nil: there are none yet

	mu      sync.Mutex
	id      string
	claimed bool // whether the row exists, as far as is known
	closed  bool
	beatAt  time.Time // when the last beat that was saved began
	// doubtful are the executions of which is not known whether they were created or
	// claimed, by id.
	doubtful map[string]doubtful
	// endingDoubtful is set while a statement ends the doubtful executions.
	endingDoubtful bool
}

func newOwner(t timing) owner {
	return owner{maxSilence: t.maxSilence, beating: make(chan struct{}, 1), id: uuid.NewString(), doubtful: map[string]doubtful{}}
}

var errClosed = errors.New("store is closed")

// state returns the id of the owner, and whether it may take executions: its row exists
// and has beaten a moment ago.
func (o *owner) state() (id string, claimed, fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.id, o.claimed, o.claimed && time.Since(o.beatAt) <= o.maxSilence
}

// lastBeat returns the id of the owner, whether it has a row, and how long ago the last
// beat that was saved began.
func (o *owner) lastBeat() (id string, claimed bool, age time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.id, o.claimed, time.Since(o.beatAt)
}

// lock waits until nobody writes to the owner row.
func (o *owner) lock(ctx context.Context) error {
	select {
	case o.beating <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *owner) unlock() { <-o.beating }

// claimOwner returns the id for a new execution. It makes sure that the owner row exists
// and has beaten a moment ago.
func (s *Store) claimOwner(ctx context.Context) (string, error) {
	if id, _, fresh := s.owner.state(); fresh {
		return id, nil
	}
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	if err := s.owner.lock(ctx); err != nil {
		return "", fmt.Errorf("tell other processes that this one lives: %w", err)
	}
	defer s.owner.unlock()
	if id, _, fresh := s.owner.state(); fresh { // by a call that came first
		return id, nil
	}
	if s.owner.isClosed() {
		return "", errClosed
	}
	if err := s.beat(ctx); err != nil {
		return "", fmt.Errorf("tell other processes that this one lives: %w", err)
	}
	if s.owner.stop == nil {
		s.owner.stop = s.startBeating()
	}
	id, _, _ := s.owner.state()
	return id, nil
}

func (o *owner) isClosed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

// startBeating beats in a goroutine until stop is called, which waits for its end.
func (s *Store) startBeating() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var beating sync.WaitGroup
	beating.Go(func() { s.keepBeating(ctx) })
	return func() {
		cancel()
		beating.Wait()
	}
}

// keepBeating beats until ctx ends.
func (s *Store) keepBeating(ctx context.Context) {
	tick := time.NewTicker(s.config.timing.beatInterval)
	defer tick.Stop()
	healthy := true
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := s.owner.lock(ctx)
		if err == nil {
			err = s.beat(ctx)
			s.owner.unlock()
		}
		if err != nil && healthy && ctx.Err() == nil { // once, not every two seconds
			s.config.Log.Warn("the database did not take the sign of life of this process", "error", err)
		}
		healthy = err == nil
	}
}

// beat adds 1 to the beat of this Store's owner row. If there is none, it inserts one
// under a new id. The caller has locked s.owner.
func (s *Store) beat(ctx context.Context) error {
	began := time.Now()
	id, claimed, _ := s.owner.state()
	if claimed {
		n, err := s.execRelaxed(ctx, s.beats, `UPDATE owners SET beat = beat + 1 WHERE id = $1`, id)
		if err != nil {
			return err
		}
		if n == 1 {
			s.owner.hasBeaten(id, began)
			return nil
		}
		s.config.Log.Warn("other processes have taken this one for dead, and have ended its executions: it continues as a new one", "owner", id)
	}
	// A new id also after an insert that failed: its row may exist.
	id = uuid.NewString()
	if _, err := s.execRelaxed(ctx, s.beats, `INSERT INTO owners (id, host, started_at) VALUES ($1, $2, $3)`, id, hostName(), rows.Micros(began)); err != nil {
		return err
	}
	s.owner.hasBeaten(id, began)
	return nil
}

func (o *owner) hasBeaten(id string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.id, o.claimed, o.beatAt = id, true, at
}

// checkBeat returns an error if the Store has an owner row that has not beaten for
// maxSilence.
func (o *owner) checkBeat() error {
	if _, claimed, fresh := o.state(); claimed && !fresh {
		return fmt.Errorf("this process could not tell others for %s that it lives", o.maxSilence)
	}
	return nil
}

// disown makes the Store take a new owner row for its next execution, because the row of
// id is gone.
func (o *owner) disown(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id == id {
		o.claimed = false
	}
}

// releaseOwner ends the beats and deletes the row. Executions that are still open can be
// recovered at once.
func (s *Store) releaseOwner() error {
	o := &s.owner
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	if err := o.lock(ctx); err != nil {
		return rows.Wrap("release owner", err)
	}
	stop := o.stop
	o.stop = nil
	o.unlock() // the beats may wait for it
	if stop != nil {
		stop()
	}
	id, claimed, _ := o.state()
	if !claimed {
		return nil
	}
	o.disown(id)
	_, err := s.exec(ctx, `DELETE FROM owners WHERE id = $1`, id)
	return rows.Wrap("release owner", err)
}
