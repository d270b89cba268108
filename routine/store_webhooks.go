package routine

import (
	"cmp"
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
