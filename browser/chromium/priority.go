package chromium

import (
	"context"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// busyTime is how much processor time, in seconds, the process of a page may
	// use before its priority is lowered. Most runs use less.
	busyTime = 1.0
	// busyNiceness is added to the niceness of such a process. When processors are
	// short, it gets about a tenth of the time that each other process gets.
	busyNiceness = 10
)

// LowerPriorities lowers the priority of the processes of pages that have used much
// processor time, but for those in already. It returns the ids of all processes with a
// lower priority that are still alive; if the browser does not answer, already.
func (p *Process) LowerPriorities(ctx context.Context, already map[int]bool) map[int]bool {
	info, err := proto.SystemInfoGetProcessInfo{}.Call(p.client.Browser(ctx))
	if err != nil { // the browser does not answer, or has ended
		return already
	}
	lowered := map[int]bool{}
	for _, one := range info.ProcessInfo {
		if one.Type == "renderer" && one.CPUTime >= busyTime {
			lowered[one.ID] = already[one.ID] || lowerPriority(one.ID, p.PID())
		}
	}
	return lowered
}
