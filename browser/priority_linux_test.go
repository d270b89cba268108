package browser

import (
	"os"
	"syscall"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// A page that keeps a core busy gives way to other pages and to the browser.
func TestBusyPageGivesWay(t *testing.T) {
	t.Parallel()
	b := own(t)
	url := site(t, map[string]any{"/idle": "x", "/busy": `<script>setInterval(() => { for (const end = Date.now() + 200; Date.now() < end;); })</script>`})
	idle, busy := mustOpen(t, b), mustOpen(t, b)
	for p, path := range map[*page]string{idle: "/idle", busy: "/busy"} {
		if _, err := p.Navigate(testContext(t), url+path); err != nil {
			t.Fatal(err)
		}
	}
	own, err := nicenessOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	// lowered gives how many processes of a type have the lower priority, and how
	// many have the usual one.
	lowered := func(kind string) (low, usual int) {
		info, err := proto.SystemInfoGetProcessInfo{}.Call(idle.i.client.Browser(testContext(t)))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range info.ProcessInfo {
			if p.Type != kind {
				continue
			}
			switch nice, err := nicenessOf(p.ID); {
			case err != nil: // it has ended
			case nice > own:
				low++
			default:
				usual++
			}
		}
		return low, usual
	}
	soon(t, "the busy page gives way", func() bool { low, _ := lowered("renderer"); return low > 0 })
	if low, usual := lowered("renderer"); low != 1 || usual == 0 {
		t.Errorf("%d pages give way and %d do not", low, usual)
	}
	if low, usual := lowered("browser"); low != 0 || usual != 1 {
		t.Error("the browser gives way")
	}
}

// nicenessOf is the niceness of a process, from -20 to 19.
func nicenessOf(pid int) (int, error) {
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	return 20 - priority, err // the system call returns 40 to 1
}
