package routine

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"
)

// WebhookTarget is whose webhook it is and where it goes.
type WebhookTarget struct {
	OrganizationID string
	// Host is that of the URL with its port, if it names one, in lower case.
	Host string
}

// TargetOf is the target of an organization's webhook to a URL.
func TargetOf(organizationID, to string) WebhookTarget {
	t := WebhookTarget{OrganizationID: organizationID}
	if u, err := url.Parse(to); err == nil {
		t.Host = strings.ToLower(u.Host)
	}
	return t
}

// WebhookClaim chooses webhooks to send.
type WebhookClaim struct {
	// Now is when they are due, Until how long they are claimed.
	Now, Until time.Time
	// Limit is how many are claimed at most.
	Limit int
	// PerOrganization and PerHost bound the webhooks of one organization and to
	// one host, those of InFlight included.
	PerOrganization, PerHost int
	// InFlight counts those that the caller is sending.
	InFlight map[WebhookTarget]int
}

// claimLine is what is due of one target.
type claimLine struct {
	target   WebhookTarget
	due      []*Webhook
	inFlight int
	// position is that of the line's first webhook in the order of all.
	position int
}

// Choose gives those of the due webhooks, the one that is due longest first, that
// c claims, in the order of [WebhookStore]. Of each the target is used.
func (c WebhookClaim) Choose(due []*Webhook) (chosen []*Webhook) {
	ofOrganization, toHost := map[string]int{}, map[string]int{}
	for target, n := range c.InFlight {
		ofOrganization[target.OrganizationID] += n
		toHost[target.Host] += n
	}
	lines := map[WebhookTarget]*claimLine{}
	for i, w := range due {
		line := lines[w.Target]
		if line == nil {
			line = &claimLine{target: w.Target, inFlight: c.InFlight[w.Target], position: i}
			lines[w.Target] = line
		}
		if len(line.due) < c.Limit {
			line.due = append(line.due, w)
		}
	}
	for len(chosen) < c.Limit {
		var first *claimLine
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

// Sender makes the calls of webhooks, under the operator's rules about what may
// be reached.
type Sender interface {
	// Allows tells whether a URL may be called by somebody who is limited to
	// hosts (none: not limited). The error is an Error that says why not.
	Allows(ctx context.Context, url string, hosts []string) error
	// Send posts body to a URL, of which Allows has to hold anew for the address
	// that is connected to. Redirects are not followed. The status is that of
	// the answer.
	Send(ctx context.Context, url string, hosts []string, headers map[string]string, body []byte) (status int, err error)
}

// Callback is whom to tell of the end of an execution.
type Callback struct {
	URL string
	// AllowedHosts are those of the caller.
	AllowedHosts []string
}

// Webhook is a callback whose execution has ended, due for an attempt.
type Webhook struct {
	ID, ExecutionID string
	Callback
	Target WebhookTarget
	// Attempt counts from 1, this one included.
	Attempt int
}

// WebhookStore is the part of a [Store] that keeps webhooks. A new execution is
// saved with its callback.
type WebhookStore interface {
	// ClaimWebhooks claims webhooks that are due at c.Now and whose executions
	// have ended: they are due again at c.Until, for any process, unless they are
	// settled. Organizations take turns: the one with the fewest in flight is
	// first, and for each the host with the fewest; among equals the one that is
	// due longest.
	ClaimWebhooks(ctx context.Context, c WebhookClaim) ([]*Webhook, error)
	// SettleWebhook saves what came of an attempt, and when to try again; nil:
	// not at all.
	SettleWebhook(ctx context.Context, id, outcome string, next *time.Time) error
	// WebhookSecret is the secret of an organization; fresh becomes it when
	// there is none.
	WebhookSecret(ctx context.Context, organizationID string, fresh []byte) ([]byte, error)
}
