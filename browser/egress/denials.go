package egress

import (
	"sync"

	"rote/routine"
)

// maxDenials limits how many denied hosts are listed for one operation, so that
// a page cannot fill a run's record. The others are only counted.
const maxDenials = 20

// denials are the denied requests of a run.
type denials struct {
	mu       sync.Mutex
	listed   []routine.Denial
	unlisted int
	total    int
	// hosts has the latest denial of each host of the whole run, for at most as
	// many hosts as 100 operations could list.
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
	d.addToList(n)
}

// list adds a request that was refused for another reason than its host.
func (d *denials) list(n routine.Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addToList(n)
}

// addToList adds a denial to those that takeAll returns. d.mu is held.
func (d *denials) addToList(n routine.Denial) {
	for i := range d.listed {
		if l := &d.listed[i]; l.Host == n.Host && l.Address == n.Address && l.Reason == n.Reason {
			l.Count++
			return
		}
	}
	if len(d.listed) == maxDenials {
		d.unlisted++
		return
	}
	d.listed = append(d.listed, n)
}

// takeAll returns the denials since the last call. Those that are not listed
// are combined in one entry with their number.
func (d *denials) takeAll() []routine.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.listed
	if d.unlisted > 0 {
		taken = append(taken, routine.Denial{Reason: "more hosts, not listed", Count: d.unlisted})
	}
	d.listed, d.unlisted = nil, 0
	return taken
}

// latest returns the latest denial of a host.
func (d *denials) latest(host string) (routine.Denial, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.hosts[host]
	return n, ok
}
