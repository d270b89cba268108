package engine

import (
	"rote/routine"
	"rote/routine/operation"
)

// RequestsOnly reports whether a run of d only makes requests to one origin, so that it needs
// no page of the site; see [routine.PageOptions]. It returns that origin; empty if there are no
// requests.
func RequestsOnly(d *routine.Definition) (origin string, only bool) {
	need, origin := operation.NeedsSite(d.Operations)
	return origin, need == operation.NoSite
}
