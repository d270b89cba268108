package routine

import "sync"

// published are the routines that each organization's last list of tools had.
// With them the next list is decoded only where it differs: a version never
// changes.
type published struct {
	mu   sync.Mutex
	last map[string]map[string]*Routine // by organization, then id
}

// known gives what to ask for the definition of a routine's version.
func (p *published) known(organization string) func(id string, version int) *Definition {
	p.mu.Lock()
	last := p.last[organization] // never changed once it is there
	p.mu.Unlock()
	return func(id string, version int) *Definition {
		if r := last[id]; r != nil && r.Version == version {
			return &r.Definition
		}
		return nil
	}
}

// keep takes the place of the list before.
func (p *published) keep(organization string, routines []*Routine) {
	list := make(map[string]*Routine, len(routines))
	for _, r := range routines {
		list[r.ID] = new(*r) // the caller's own may be changed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[string]map[string]*Routine{}
	}
	p.last[organization] = list
}
