package browser

import (
	"context"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// priorityInterval is how often the pages' processes are checked while there are
	// runs.
	priorityInterval = 500 * time.Millisecond
	// busyTime is how much processor time, in seconds, the process of a page may
	// use before its priority is lowered. Most runs use less.
	busyTime = 1.0
	// busyNiceness is added to the niceness of such a process. When processors are
	// short, it gets about a tenth of the time that each other process gets.
	busyNiceness = 10
)

// lowerPriorities lowers the priority of pages that use much processor time, in favour of
// the pages of other runs, the browser and the service. It returns when the browser has
// ended. The priority is never raised again, because no other run uses that process.
func (b *Browser) lowerPriorities(i *instance) {
	lowered := map[int]bool{} // process ids
	tick := time.NewTicker(priorityInterval)
	defer tick.Stop()
	for {
		select {
		case <-i.client.Done():
			return
		case <-tick.C:
		}
		b.mu.Lock()
		used := i.users > 0
		b.mu.Unlock()
		if used {
			lowered = i.lowerBusy(lowered)
		}
	}
}

// lowerBusy lowers the priority of busy pages whose processes are not in lowered yet. It
// returns all processes with a lower priority that are still alive.
func (i *instance) lowerBusy(already map[int]bool) map[int]bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerBound)
	defer cancel()
	info, err := proto.SystemInfoGetProcessInfo{}.Call(i.client.Browser(ctx))
	if err != nil { // the browser does not answer, or has ended
		return already
	}
	lowered := map[int]bool{}
	for _, p := range info.ProcessInfo {
		if p.Type == "renderer" && p.CPUTime >= busyTime {
			lowered[p.ID] = already[p.ID] || lowerPriority(p.ID, i.cmd.Process.Pid)
		}
	}
	return lowered
}
