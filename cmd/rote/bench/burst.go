package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// burst is how soon calls that arrive together after a quiet time are answered. There is one
// entry for each round.
type burst struct {
	first, last []time.Duration // from the arrival of the calls until the first, and the last, has ended
}

// bursts measures bursts of calls. In each round nothing runs for the quiet time; then every
// load has one burst of n calls, in random order.
func (b *bench) bursts(ctx context.Context, loads []*load, n, rounds int, quiet time.Duration) error {
	for round := range rounds {
		fmt.Fprintf(b.progress, "\rround %d of %d, bursts of %d calls          ", round+1, rounds, n)
		if err := pause(ctx, quiet); err != nil {
			return err
		}
		for _, i := range rand.Perm(len(loads)) {
			if err := b.pause(ctx); err != nil {
				return err
			}
			if err := loads[i].measureBurst(ctx, n); err != nil {
				return fmt.Errorf("%s on %s, a burst of %d calls: %w", loads[i].name, loads[i].engine, n, err)
			}
		}
	}
	fmt.Fprint(b.progress, "\r\x1b[K")
	return nil
}

// measureBurst makes n calls at once and records when the first and the last has ended.
func (l *load) measureBurst(ctx context.Context, n int) error {
	times, failed := make([]time.Duration, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { times[i], failed[i] = l.once(ctx) })
	}
	all.Wait()
	l.burst.first = append(l.burst.first, slices.Min(times))
	l.burst.last = append(l.burst.last, slices.Max(times))
	return errors.Join(failed...)
}

// burstTable returns the medians of the bursts in Markdown, one row per load. The ratio is
// that of the time until the last call has ended to that of the bare floor.
func burstTable(loads []*load, n int) string {
	var t strings.Builder
	fmt.Fprintf(&t, "| %d calls after a quiet time | browser | first ends ms | last ends ms | last × the floor |\n|---|---|---|---|---|\n", n)
	for _, l := range loads {
		last, ratio := quantile(l.burst.last, 0.5), "–"
		if f := floorOf(loads, l.engine); f != nil {
			ratio = fmt.Sprintf("%.2f", float64(last)/float64(quantile(f.burst.last, 0.5)))
		}
		fmt.Fprintf(&t, "| %s | %s | %d | %d | %s |\n", l.name, l.engine, quantile(l.burst.first, 0.5).Milliseconds(), last.Milliseconds(), ratio)
	}
	return t.String()
}

// floorOf returns the bare floor of an engine, nil if it is not among the loads.
func floorOf(loads []*load, engine string) *load {
	for _, l := range loads {
		if l.engine == engine && l.name == floorFresh {
			return l
		}
	}
	return nil
}
