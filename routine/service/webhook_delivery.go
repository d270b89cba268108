package service

import (
	"context"
	"errors"
	"fmt"
	"rote/routine"
	"time"
)

const (
	// claimInterval is how often the store is asked for due webhooks.
	claimInterval = time.Second
	// maxSending is how many webhooks are sent at once. The bounds for one
	// organization and for one host are such that neither takes all places, and
	// that one organization cannot keep a host from the others.
	maxSending                = 32
	maxSendingPerOrganization = 8
	maxSendingPerHost         = 16
)

// delivery sends due webhooks. One goroutine uses it.
type delivery struct {
	service  *Service
	sending  int
	inFlight map[routine.WebhookTarget]int
	sent     chan sentWebhook
	// more reports that there may be due webhooks that wait for a place.
	more bool
	// failing reports that the store did not answer last time.
	failing bool
}

// sentWebhook is an attempt that has ended. The error is of the store.
type sentWebhook struct {
	target routine.WebhookTarget
	err    error
}

// deliverWebhooks sends due webhooks until ctx ends, and returns when no attempt
// is left. A receiver that does not answer takes one of the places of its
// organization and of its host, and keeps no other webhook waiting.
func (s *Service) deliverWebhooks(ctx context.Context) {
	if s.sender == nil {
		return
	}
	d := &delivery{service: s, inFlight: map[routine.WebhookTarget]int{}, sent: make(chan sentWebhook)}
	tick := time.NewTicker(claimInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// None may be claimed because of those in flight.
			d.more = d.claim(ctx) > 0 || d.more
		case sent := <-d.sent:
			d.end(ctx, sent)
			d.endOthers(ctx)
			d.more = d.more && d.claim(ctx) > 0
		case <-ctx.Done():
			for d.sending > 0 {
				d.end(ctx, <-d.sent)
			}
			return
		}
	}
}

// claim begins to send due webhooks for which there are places, and gives their
// number.
func (d *delivery) claim(ctx context.Context) int {
	if d.sending == maxSending {
		return 0
	}
	now := d.service.now()
	due, err := d.service.store.ClaimWebhooks(ctx, routine.WebhookClaim{Now: now, Until: now.Add(leaseTime), Limit: maxSending - d.sending,
		PerOrganization: maxSendingPerOrganization, PerHost: maxSendingPerHost, InFlight: d.inFlight})
	d.note(ctx, err)
	for _, w := range due {
		d.sending++
		d.inFlight[w.Target]++
		go func() { d.sent <- sentWebhook{w.Target, d.service.deliver(ctx, w)} }()
	}
	return len(due)
}

// end gives the place of an attempt back.
func (d *delivery) end(ctx context.Context, sent sentWebhook) {
	d.sending--
	if d.inFlight[sent.target]--; d.inFlight[sent.target] == 0 {
		delete(d.inFlight, sent.target)
	}
	if sent.err != nil {
		d.more = false // the store is asked again at the next tick
		d.note(ctx, sent.err)
	}
}

// endOthers does the same for all attempts that have ended by now, so that one
// claim serves them all.
func (d *delivery) endOthers(ctx context.Context) {
	for {
		select {
		case sent := <-d.sent:
			d.end(ctx, sent)
		default:
			return
		}
	}
}

// note logs that the store does not answer, once until it does again.
func (d *delivery) note(ctx context.Context, err error) {
	if err != nil && !d.failing && ctx.Err() == nil {
		d.service.log.ErrorContext(ctx, "webhooks cannot be sent", "error", err)
	}
	d.failing = err != nil
}

// retryAfter is how long to wait after each attempt that failed; after the last
// it is given up, about a day after the first.
var retryAfter = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
	15 * time.Hour}

// deliver makes one attempt and settles it. The error is of the store.
func (s *Service) deliver(ctx context.Context, w *routine.Webhook) error {
	e, err := s.store.Execution(ctx, w.ExecutionID)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil { // perhaps for ever: it must not be tried for ever
		next := s.later(w)
		s.observer.WebhookSent(came(false, next))
		return errors.Join(err, s.store.SettleWebhook(ctx, w.ID, "the execution could not be read", next))
	}
	secret, err := s.webhookSecret(ctx, e.OrganizationID)
	if err != nil {
		return err
	}
	now := s.now()
	body, err := webhookBody(e, now)
	if err != nil {
		return err
	}
	sending, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	status, err := s.sender.Send(sending, w.URL, w.AllowedHosts, signed(w.ID, now, secret, body), body)
	if ctx.Err() != nil {
		return nil // we stop; it is due again when its lease is over
	}
	outcome := fmt.Sprintf("status %d", status)
	if err != nil {
		outcome = routine.Truncate(err.Error(), 500)
	}
	const gone = 410 // the receiver wants no more
	delivered := err == nil && status >= 200 && status < 300
	var next *time.Time
	if !delivered && status != gone {
		next = s.later(w)
	}
	if !delivered {
		s.log.WarnContext(ctx, "webhook was not delivered", "webhook_id", w.ID, "execution_id", e.ID, "attempt", w.Attempt, "outcome", outcome, "given_up",
			next == nil)
	}
	s.observer.WebhookSent(came(delivered, next))
	return s.store.SettleWebhook(ctx, w.ID, outcome, next)
}

// later is when an attempt that has failed is made again; nil: it was the last.
func (s *Service) later(w *routine.Webhook) *time.Time {
	if w.Attempt > len(retryAfter) {
		return nil
	}
	return new(s.now().Add(retryAfter[w.Attempt-1]))
}

func came(delivered bool, next *time.Time) routine.WebhookOutcome {
	switch {
	case delivered:
		return routine.WebhookDelivered
	case next != nil:
		return routine.WebhookRetried
	}
	return routine.WebhookGivenUp
}
