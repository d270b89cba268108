package jobs

import (
	"context"
	"time"

	"rote/routine"
)

const (
	// leaseTime is how long a process has to send a webhook. After that another process
	// may send it. The handler takes less time.
	leaseTime = 30 * time.Second
	// settleTimeout limits the save of an attempt's end.
	settleTimeout = 10 * time.Second
	// maxWebhooks is how many webhooks are sent at once. The limits for one organization
	// and for one host prevent either from taking all places, and one organization from
	// blocking a host for the others.
	maxWebhooks                = 32
	maxWebhooksPerOrganization = 8
	maxWebhooksPerHost         = 16
)

// webhooks claims due webhooks for one handler, and counts those in flight. One goroutine
// uses it. A webhook that takes long takes only one of the places of its organization and
// of its host.
type webhooks struct {
	*Poller
	handler  routine.JobHandler
	inFlight map[routine.WebhookTarget]int
	count    int
}

func newWebhooks(p *Poller, h routine.JobHandler) *webhooks {
	return &webhooks{Poller: p, handler: h, inFlight: map[routine.WebhookTarget]int{}}
}

// find claims the due webhooks for which there are places.
func (w *webhooks) find(ctx context.Context) ([]attempt, error) {
	if w.count == maxWebhooks {
		return nil, nil
	}
	now := w.Now()
	due, err := w.Store.ClaimWebhooks(ctx, routine.WebhookClaim{Now: now, Until: now.Add(leaseTime), Limit: maxWebhooks - w.count,
		PerOrganization: maxWebhooksPerOrganization, PerHost: maxWebhooksPerHost, InFlight: w.inFlight})
	var attempts []attempt
	for _, hook := range due {
		w.count++
		w.inFlight[hook.Target]++
		attempts = append(attempts, attempt{
			do:  func(ctx context.Context) (bool, error) { return false, w.send(ctx, hook) },
			end: func() { w.remove(hook.Target) },
		})
	}
	return attempts, err
}

// send makes an attempt and saves how that ended. If it could not be made, nothing is
// saved: the webhook is due again when its lease has ended.
func (w *webhooks) send(ctx context.Context, hook *routine.Webhook) error {
	result, err := w.handler.Do(ctx, &routine.Job{Kind: routine.JobWebhook, Webhook: hook})
	if err != nil {
		return err
	}
	var next *time.Time
	if result.Retry > 0 {
		next = new(w.Now().Add(result.Retry))
	}
	// It is saved also if ctx has ended meanwhile, so that the webhook is not sent twice.
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return w.Store.SettleWebhook(saving, hook.ID, hook.Attempt, result.Outcome, next)
}

func (w *webhooks) remove(target routine.WebhookTarget) {
	w.count--
	if w.inFlight[target]--; w.inFlight[target] == 0 {
		delete(w.inFlight, target)
	}
}
