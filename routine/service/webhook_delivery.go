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
	// maxSending is how many webhooks are sent at once. The limits for one organization
	// and for one host prevent either from taking all places, and one organization from
	// blocking a host for the others.
	maxSending                = 32
	maxSendingPerOrganization = 8
	maxSendingPerHost         = 16
)

// delivery sends due webhooks. One goroutine uses it.
type delivery struct {
	service  *Service
	sending  int
	inFlight map[routine.WebhookTarget]int
	ended    chan endedAttempt
	// more reports whether there may be due webhooks that wait for a place.
	more bool
	// failing reports whether the last call of the store failed.
	failing bool
}

// endedAttempt is an attempt to send a webhook that has ended. err is an error of the
// store, not of the receiver.
type endedAttempt struct {
	target routine.WebhookTarget
	err    error
}

// deliverWebhooks sends due webhooks until ctx ends, and returns when all attempts have
// ended. A receiver that does not answer takes only one of the places of its organization
// and of its host, so that other webhooks are still sent.
func (s *Service) deliverWebhooks(ctx context.Context) {
	if s.sender == nil {
		return
	}
	d := &delivery{service: s, inFlight: map[routine.WebhookTarget]int{}, ended: make(chan endedAttempt)}
	tick := time.NewTicker(claimInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// That none was started may be because of those in flight.
			d.more = d.startAttempts(ctx) > 0 || d.more
		case a := <-d.ended:
			d.endAttempt(ctx, a)
			d.endOtherAttempts(ctx)
			d.more = d.more && d.startAttempts(ctx) > 0
		case <-ctx.Done():
			for d.sending > 0 {
				d.endAttempt(ctx, <-d.ended)
			}
			return
		}
	}
}

// startAttempts starts to send due webhooks for which there are places, and returns how
// many.
func (d *delivery) startAttempts(ctx context.Context) int {
	if d.sending == maxSending {
		return 0
	}
	now := d.service.now()
	due, err := d.service.store.ClaimWebhooks(ctx, routine.WebhookClaim{Now: now, Until: now.Add(leaseTime), Limit: maxSending - d.sending,
		PerOrganization: maxSendingPerOrganization, PerHost: maxSendingPerHost, InFlight: d.inFlight})
	d.logFailure(ctx, err)
	for _, w := range due {
		d.sending++
		d.inFlight[w.Target]++
		go func() { d.ended <- endedAttempt{w.Target, d.service.attemptWebhook(ctx, w)} }()
	}
	return len(due)
}

// endAttempt frees the place of an attempt.
func (d *delivery) endAttempt(ctx context.Context, a endedAttempt) {
	d.sending--
	if d.inFlight[a.target]--; d.inFlight[a.target] == 0 {
		delete(d.inFlight, a.target)
	}
	if a.err != nil {
		d.more = false // the store is asked again at the next tick
		d.logFailure(ctx, a.err)
	}
}

// endOtherAttempts frees the places of all attempts that have ended by now, so that one
// call of the store fills them all.
func (d *delivery) endOtherAttempts(ctx context.Context) {
	for {
		select {
		case a := <-d.ended:
			d.endAttempt(ctx, a)
		default:
			return
		}
	}
}

// logFailure logs an error of the store, unless the last call failed too.
func (d *delivery) logFailure(ctx context.Context, err error) {
	if err != nil && !d.failing && ctx.Err() == nil {
		d.service.log.ErrorContext(ctx, "webhooks cannot be sent", "error", err)
	}
	d.failing = err != nil
}

// retryDelays is how long to wait after each failed attempt before the next. After the
// last attempt, about a day after the first, the webhook is given up.
var retryDelays = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
	15 * time.Hour}

// attemptWebhook makes one attempt to send a webhook and stores how it ended. It returns
// errors of the store only; those of the receiver lead to another attempt.
func (s *Service) attemptWebhook(ctx context.Context, w *routine.Webhook) error {
	e, err := s.store.Execution(ctx, w.ExecutionID)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil { // perhaps every time, so this counts as an attempt
		next := s.nextAttempt(w)
		s.observer.WebhookSent(webhookOutcome(false, next))
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
	status, err := s.sender.Send(sending, w.URL, w.AllowedHosts, webhookHeaders(w.ID, now, secret, body), body)
	if ctx.Err() != nil {
		return nil // the service stops: the webhook is due again when its lease has ended
	}
	outcome := fmt.Sprintf("status %d", status)
	if err != nil {
		outcome = routine.Truncate(err.Error(), 500)
	}
	const gone = 410 // the receiver wants no more
	delivered := err == nil && status >= 200 && status < 300
	var next *time.Time
	if !delivered && status != gone {
		next = s.nextAttempt(w)
	}
	if !delivered {
		s.log.WarnContext(ctx, "webhook was not delivered", "webhook_id", w.ID, "execution_id", e.ID, "attempt", w.Attempt, "outcome", outcome, "given_up",
			next == nil)
	}
	s.observer.WebhookSent(webhookOutcome(delivered, next))
	return s.store.SettleWebhook(ctx, w.ID, outcome, next)
}

// nextAttempt returns when to send a webhook again whose attempt has failed, or nil if
// that was the last attempt.
func (s *Service) nextAttempt(w *routine.Webhook) *time.Time {
	if w.Attempt > len(retryDelays) {
		return nil
	}
	return new(s.now().Add(retryDelays[w.Attempt-1]))
}

// webhookOutcome returns the outcome of an attempt for the Observer; next is the time of
// the next attempt, nil if there is none.
func webhookOutcome(delivered bool, next *time.Time) routine.WebhookOutcome {
	switch {
	case delivered:
		return routine.WebhookDelivered
	case next != nil:
		return routine.WebhookRetried
	}
	return routine.WebhookGivenUp
}
