package routine

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"
)

// WebhookTarget is the organization of a webhook and the host to which it is sent.
type WebhookTarget struct {
	OrganizationID string
	// Host is the host of the URL, with its port if the URL has one, in lower case.
	Host string
}

// WebhookTargetOf returns the target of an organization's webhook to a URL.
func WebhookTargetOf(organizationID, to string) WebhookTarget {
	t := WebhookTarget{OrganizationID: organizationID}
	if u, err := url.Parse(to); err == nil {
		t.Host = strings.ToLower(u.Host)
	}
	return t
}

// WebhookClaim selects the webhooks that a process sends next.
type WebhookClaim struct {
	// Now is the time at which they must be due, Until the time until which they are
	// claimed.
	Now, Until time.Time
	// Limit is the maximum number to claim.
	Limit int
	// PerOrganization and PerHost bound the webhooks of one organization and to one
	// host, including those InFlight.
	PerOrganization, PerHost int
	// InFlight counts the webhooks that the caller is sending already.
	InFlight map[WebhookTarget]int
}

// claimQueue are the due webhooks of one target.
type claimQueue struct {
	target   WebhookTarget
	due      []*Webhook
	inFlight int
	// position is the index of the queue's first webhook among all that are due.
	position int
}

// Choose returns the webhooks that c claims among those that are due, which are sorted
// by the time since which they are due, oldest first. The order of the result is that
// of [WebhookStore]. Of each webhook only the target is used.
func (c WebhookClaim) Choose(due []*Webhook) (chosen []*Webhook) {
	ofOrganization, toHost := map[string]int{}, map[string]int{}
	for target, n := range c.InFlight {
		ofOrganization[target.OrganizationID] += n
		toHost[target.Host] += n
	}
	lines := map[WebhookTarget]*claimQueue{}
	for i, w := range due {
		line := lines[w.Target]
		if line == nil {
			line = &claimQueue{target: w.Target, inFlight: c.InFlight[w.Target], position: i}
			lines[w.Target] = line
		}
		if len(line.due) < c.Limit {
			line.due = append(line.due, w)
		}
	}
	for len(chosen) < c.Limit {
		var first *claimQueue
		for _, line := range lines {
			o, h := line.target.OrganizationID, line.target.Host
			if len(line.due) == 0 || ofOrganization[o] >= c.PerOrganization || toHost[h] >= c.PerHost {
				continue
			}
			if first == nil || cmp.Or(cmp.Compare(ofOrganization[o], ofOrganization[first.target.OrganizationID]),
				cmp.Compare(line.inFlight, first.inFlight), cmp.Compare(line.position, first.position)) < 0 {
				first = line
			}
		}
		if first == nil {
			break
		}
		chosen = append(chosen, first.due[0])
		first.due = first.due[1:]
		first.inFlight++
		ofOrganization[first.target.OrganizationID]++
		toHost[first.target.Host]++
	}
	return chosen
}

// Sender sends webhooks within the operator's egress rules.
type Sender interface {
	// Allows returns nil if a URL may be called for a caller who is limited to hosts
	// (none: not limited), and otherwise an Error that says why not.
	Allows(ctx context.Context, url string, hosts []string) error
	// Send posts body to a URL. It applies the rules of Allows again, to the address
	// that it connects to. It does not follow redirects. It returns the status of the
	// response.
	Send(ctx context.Context, url string, hosts []string, headers map[string]string, body []byte) (status int, err error)
}

// Callback says where to report the end of an execution.
type Callback struct {
	URL string
	// AllowedHosts are the caller's.
	AllowedHosts []string
	// Notify selects the ends that are reported; empty: every end.
	Notify Notify
}

// Webhook is a callback of an execution that has ended, due for an attempt to deliver
// it.
type Webhook struct {
	ID, ExecutionID string
	Callback
	Target WebhookTarget
	// Attempt counts the attempts from 1, including this one.
	Attempt int
}

// WebhookStore is the part of a [Store] that keeps webhooks. A new execution is saved
// with its callback.
type WebhookStore interface {
	// ClaimWebhooks claims webhooks that are due at c.Now and whose executions have
	// ended. Unless they are settled, they are due again at c.Until, for any process.
	// Organizations take turns: the one with the fewest webhooks in flight comes
	// first, within it the host with the fewest, and among equals the webhook that is
	// due longest.
	ClaimWebhooks(ctx context.Context, c WebhookClaim) ([]*Webhook, error)
	// SettleWebhook saves the outcome of an attempt and the time of the next one; nil:
	// there is none. It changes nothing if a later attempt has been claimed meanwhile.
	SettleWebhook(ctx context.Context, id string, attempt int, outcome string, next *time.Time) error
	// CountDueWebhooks returns the number of webhooks that are due and are not being sent.
	CountDueWebhooks(ctx context.Context, now time.Time) (int, error)
	// WebhookSecret returns the secret of an organization. If it has none, fresh is
	// saved and returned.
	WebhookSecret(ctx context.Context, organizationID string, fresh []byte) ([]byte, error)
}
