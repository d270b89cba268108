package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"rote/browser/chromium"
	"rote/httpapi/console"
)

// about returns the function of what the console tells administrators about this server.
func (c *serveCommand) about(g *globals, l net.Listener) func() []console.Fact {
	facts := []console.Fact{
		{Name: "Version", Value: fmt.Sprintf("%s (%s %s/%s)", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{Name: "Address", Value: "http://" + l.Addr().String() + c.BasePath},
		{Name: "Console", Value: consoleURL(l.Addr().String(), c.BasePath) + "/"},
		{Name: "Names of the service (--allowed-host)", Value: listText(c.AllowedHost, "only those of this machine")},
		{Name: "Metrics without a token (--metrics-addr)", Value: cmp.Or(c.MetricsAddr, "none")},
		{Name: "Egress (--egress)", Value: g.Egress},
		{Name: "Allowed hosts (--allow-host)", Value: listText(g.AllowHost, "none")},
		{Name: "Denied hosts (--deny-host)", Value: listText(g.DenyHost, "none")},
		{Name: "Live view of runs (--live-view)", Value: map[bool]string{true: "on", false: "off"}[c.LiveView]},
		{Name: "Executions are kept for (--keep-age)", Value: ageText(c.KeepAge)},
		{Name: "Results and files are kept up to (--keep-size)", Value: humanize.IBytes(uint64(c.KeepSize))},
		{Name: "Uses of secrets are kept for (--audit-age)", Value: ageText(c.AuditAge)},
	}
	endpoints, err := g.endpoints()
	if err != nil { // the browsers of the server have been opened from the same flags
		endpoints = nil
	}
	for _, e := range endpoints {
		facts = append(facts, console.Fact{Name: "Browser (--browser-url)", Value: e.Name})
	}
	if !usesLocalBrowser(endpoints) {
		return func() []console.Fact { return facts }
	}
	versions := &browserVersions{}
	return func() []console.Fact { return append(slices.Clone(facts), versions.facts(g.BrowserPath)...) }
}

// listText returns a list of a flag as one text, or another text for an empty list.
func listText(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }

// ageText returns a time limit in days, or as a duration if it has a part of one.
func ageText(d days) string {
	if time.Duration(d)%day == 0 {
		return fmt.Sprintf("%d days", time.Duration(d)/day)
	}
	return time.Duration(d).String()
}

// versionTime is how long an executable may take to print its version.
const versionTime = 5 * time.Second

// browserVersions remembers the version of the browser's executable, so that it is started
// for it once only. A browser that is installed later is found by the next call.
type browserVersions struct {
	mu            sync.Mutex
	path, version string
}

// facts returns the executable that runs use and its version.
func (v *browserVersions) facts(explicit string) []console.Fact {
	path, err := chromium.Find(explicit)
	if err != nil {
		return []console.Fact{{Name: "Browser", Value: err.Error()}}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.path != path {
		ctx, cancel := context.WithTimeout(context.Background(), versionTime)
		defer cancel()
		text, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			return []console.Fact{{Name: "Browser executable", Value: path},
				{Name: "Browser version", Value: "not known: " + path + " --version: " + err.Error()}}
		}
		v.path, v.version = path, strings.TrimSpace(string(text))
	}
	return []console.Fact{{Name: "Browser executable", Value: path}, {Name: "Browser version", Value: v.version}}
}
