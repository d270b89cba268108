package service

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"rote/routine"
	"rote/routine/audit"
)

const (
	// maxCallbackURL is the limit of a callback URL in bytes.
	maxCallbackURL = 2048
	// sendTimeout limits one attempt to send a webhook.
	sendTimeout = 10 * time.Second
)

// checkCallback returns the callback of an execute call of p, or nil if the call has no
// callback URL. CodeInvalid when webhooks cannot be sent to the URL.
func (s *Service) checkCallback(ctx context.Context, p routine.Principal, to string) (*routine.Callback, error) {
	if to == "" {
		return nil, nil
	}
	reason := ""
	u, err := url.Parse(to)
	switch {
	case s.sender == nil:
		reason = "this service sends no webhooks"
	case len(to) > maxCallbackURL:
		reason = fmt.Sprintf("it has more than %d bytes", maxCallbackURL)
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		reason = "give an absolute http or https URL"
	case u.User != nil, u.Fragment != "":
		reason = "it must have neither credentials nor a fragment"
	default:
		if err := s.sender.Allows(ctx, to, p.AllowedHosts); err != nil {
			reason = routine.AsError(err).Message
		}
	}
	if reason != "" {
		return nil, &routine.Error{Code: routine.CodeInvalid, Message: "callback_url cannot be called: " + reason,
			Problems: []routine.Problem{{Pointer: "/callback_url", Code: "callback_url", Message: reason}}}
	}
	return &routine.Callback{URL: to, AllowedHosts: p.AllowedHosts}, nil
}

// WebhookSecret returns the secret with which receivers verify the webhooks of p's
// organization, in the form of Standard Webhooks: whsec_ and base64. The secret is created
// at the first call. CodeUnauthenticated; CodeForbidden unless p is an admin.
func (s *Service) WebhookSecret(ctx context.Context, p routine.Principal) (string, error) {
	if err := may(p, toReadWebhookSecret, nil); err != nil {
		return "", err
	}
	secret, err := s.webhookSecret(ctx, p.OrganizationID)
	if err != nil {
		return "", storeError(ctx, "read webhook secret", err)
	}
	s.audit.Changed(ctx, p, audit.WebhookSecretRead)
	return "whsec_" + base64.StdEncoding.EncodeToString(secret), nil
}

// webhookSecret returns the bytes of an organization's secret. The error is the store's.
func (s *Service) webhookSecret(ctx context.Context, organizationID string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh) // never fails
	return s.store.WebhookSecret(ctx, organizationID, fresh)
}

// webhookBody returns the body of the webhook for the end of an execution. It does not
// have the result, so that it stays small.
func webhookBody(e *routine.Execution, now time.Time) ([]byte, error) {
	return routine.EncodeJSON(struct {
		Type      string          `json:"type"`
		Timestamp time.Time       `json:"timestamp"`
		Data      routine.Summary `json:"data"`
	}{"execution." + string(e.Status), now.UTC(), e.Summary()})
}

// webhookHeaders returns the headers of a webhook by https://www.standardwebhooks.com. With
// the secret a receiver can verify that this service sent the body, and when.
func webhookHeaders(id string, at time.Time, secret, body []byte) map[string]string {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return map[string]string{"Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": timestamp,
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))}
}
