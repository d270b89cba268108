package egress

import (
	"sync"

	"rote/routine"
)

// maxDenials are listed of one operation, so that a page cannot fill a run's
// record; the rest is counted.
const maxDenials = 20

// denials are the refused requests of a run.
type denials struct {
	mu     sync.Mutex
	listed []routine.Denial
	more   int
	total  int
	// hosts keeps, for the whole run, the first refusal of each host; bounded
	// like the list of a hundred operations.
	hosts map[string]routine.Denial
}

func (d *denials) add(n routine.Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total++
	if len(d.hosts) < 100*maxDenials {
		if d.hosts == nil {
			d.hosts = map[string]routine.Denial{}
		}
		d.hosts[n.Host] = n
	}
	for i := range d.listed {
		if l := &d.listed[i]; l.Host == n.Host && l.Address == n.Address && l.Reason == n.Reason {
			l.Count++
			return
		}
	}
	if len(d.listed) == maxDenials {
		d.more++
		return
	}
	d.listed = append(d.listed, n)
}

// take gives those since the last take. What is not listed is one entry that
// counts.
func (d *denials) take() []routine.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.listed
	if d.more > 0 {
		taken = append(taken, routine.Denial{Reason: "more hosts, not listed", Count: d.more})
	}
	d.listed, d.more = nil, 0
	return taken
}

// of is the latest refusal of a host.
func (d *denials) of(host string) (routine.Denial, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.hosts[host]
	return n, ok
}
