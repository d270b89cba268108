package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rote/routine"
)

// pruneInterval is how often executions that are no longer kept are deleted, by one of the
// processes that share the store.
const pruneInterval = 10 * time.Minute

// jobHandlers returns what this process does for all that share the store.
func (s *Service) jobHandlers() map[routine.JobKind]routine.JobHandler {
	prune := routine.JobPrune
	if s.retention == (routine.Retention{}) {
		prune = routine.JobCleanup
	}
	handlers := map[routine.JobKind]routine.JobHandler{prune: {Do: s.prune, Every: pruneInterval}}
	if s.sender != nil {
		handlers[routine.JobWebhook] = routine.JobHandler{Do: s.attemptWebhook}
	}
	if s.schedules {
		handlers[routine.JobSchedule] = routine.JobHandler{Do: s.startDueSchedules, Every: scheduleInterval, Everywhere: true}
	}
	if s.async > 0 {
		handlers[routine.JobRun] = routine.JobHandler{Do: s.runQueued, Places: s.async, Made: s.runMade}
	}
	for kind, h := range handlers {
		do := h.Do
		h.Do = func(ctx context.Context, j *routine.Job) (routine.JobResult, error) {
			result, err := do(ctx, j)
			s.observer.JobEnded(kind, jobOutcome(result, err))
			return result, err
		}
		handlers[kind] = h
	}
	return handlers
}

// jobOutcome returns the outcome of a job for the Observer.
func jobOutcome(result routine.JobResult, err error) routine.JobOutcome {
	switch {
	case err != nil:
		return routine.JobFailed
	case result.Retry > 0:
		return routine.JobRetried
	case result.Outcome == jobTaken:
		return routine.JobTaken
	}
	return routine.JobDone
}

// prune is the handler of the job that applies the retention.
func (s *Service) prune(ctx context.Context, _ *routine.Job) (routine.JobResult, error) {
	n, _, err := s.Prune(ctx)
	if n > 0 {
		s.log.InfoContext(ctx, "deleted executions that are not kept any longer", "count", n)
	}
	return routine.JobResult{}, err
}

// Prune deletes the executions and the uses of secrets that the retention of the service does
// not keep, and what [routine.JobCleanup] deletes. It returns how many of both.
func (s *Service) Prune(ctx context.Context) (executions, secretUses int, err error) {
	executions, err = s.store.Prune(ctx, s.retention, s.now())
	if err == nil && s.retention.Age > 0 {
		secretUses, err = s.store.PruneSecretUses(ctx, s.now().Add(-max(s.retention.Age, s.retention.SecretUses, MinSecretUseAge)))
	}
	return executions, secretUses, err
}

// MinSecretUseAge is how long uses of secrets are kept at least, also if executions are not.
const MinSecretUseAge = 90 * 24 * time.Hour

// retryDelays is how long to wait after each failed attempt before the next. After the
// last attempt, about a day after the first, the webhook is given up.
var retryDelays = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
	15 * time.Hour}

// errStopped is returned by a job that was not done because the service stops.
var errStopped = errors.New("the service stops")

// attemptWebhook makes one attempt to send the webhook of a job. It returns errors of the
// store only; those of the receiver lead to another attempt.
func (s *Service) attemptWebhook(ctx context.Context, j *routine.Job) (routine.JobResult, error) {
	w := j.Webhook
	e, err := s.store.Execution(ctx, w.ExecutionID)
	if ctx.Err() != nil {
		return routine.JobResult{}, errStopped
	}
	if err != nil { // perhaps every time, so this counts as an attempt
		s.log.ErrorContext(ctx, "the execution of a webhook could not be read", "webhook_id", w.ID, "execution_id", w.ExecutionID, "error", err)
		retry := retryDelay(w)
		s.observer.WebhookSent(webhookOutcome(false, retry))
		return routine.JobResult{Outcome: "the execution could not be read", Retry: retry}, nil
	}
	if reason, err := s.withoutNotice(ctx, w.Notify, e); reason != "" || err != nil {
		return routine.JobResult{Outcome: reason}, err
	}
	secret, err := s.webhookSecret(ctx, e.OrganizationID)
	if err != nil {
		return routine.JobResult{}, err
	}
	now := s.now()
	body, err := webhookBody(e, now)
	if err != nil {
		return routine.JobResult{}, err
	}
	sending, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	status, err := s.sender.Send(sending, w.URL, w.AllowedHosts, webhookHeaders(w.ID, now, secret, body), body)
	delivered := err == nil && status >= 200 && status < 300
	if ctx.Err() != nil && !delivered {
		return routine.JobResult{}, errStopped // the webhook is due again when its time is over
	}
	outcome := fmt.Sprintf("status %d", status)
	if err != nil {
		outcome = routine.Truncate(err.Error(), 500)
	}
	const gone = 410 // the receiver wants no more
	var retry time.Duration
	if !delivered && status != gone {
		retry = retryDelay(w)
	}
	if !delivered {
		s.log.WarnContext(ctx, "webhook was not delivered", "webhook_id", w.ID, "execution_id", e.ID, "attempt", w.Attempt, "outcome", outcome, "given_up",
			retry == 0)
	}
	s.observer.WebhookSent(webhookOutcome(delivered, retry))
	return routine.JobResult{Outcome: outcome, Retry: retry}, nil
}

// retryDelay returns after how long to send a webhook again whose attempt has failed, or 0
// if that was the last attempt.
func retryDelay(w *routine.Webhook) time.Duration {
	if w.Attempt > len(retryDelays) {
		return 0
	}
	return retryDelays[w.Attempt-1]
}

// webhookOutcome returns the outcome of an attempt for the Observer; retry is the delay of
// the next attempt, 0 if there is none.
func webhookOutcome(delivered bool, retry time.Duration) routine.WebhookOutcome {
	switch {
	case delivered:
		return routine.WebhookDelivered
	case retry > 0:
		return routine.WebhookRetried
	}
	return routine.WebhookGivenUp
}
