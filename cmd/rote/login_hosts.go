package main

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"rote/routine/browserstate"
)

// hostsOf returns the hosts of a state as a session has them, sorted.
func hostsOf(s *browserstate.State) []string {
	var hosts []string
	for _, o := range s.Storage {
		hosts = append(hosts, hostOf(o.Origin))
	}
	for _, c := range s.Cookies {
		if host := c.Host(); !slices.Contains(hosts, plainHTTP+host) {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// siteOf returns the registrable domain of a host of a session, or the host if it has none.
func siteOf(host string) string {
	host = strings.TrimPrefix(strings.TrimPrefix(host, plainHTTP), "*.")
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil && net.ParseIP(host) == nil {
		return site
	}
	return host
}

// describeState describes how much a state has.
func describeState(s *browserstate.State) string {
	return describeCount(len(s.Cookies), len(s.Storage) > 0)
}

// describeCount describes a number of cookies, and whether there is local storage.
func describeCount(cookies int, storage bool) string {
	var parts []string
	switch {
	case cookies == 1:
		parts = append(parts, "1 cookie")
	case cookies > 1 || !storage:
		parts = append(parts, fmt.Sprintf("%d cookies", cookies))
	}
	if storage {
		parts = append(parts, "local storage")
	}
	return strings.Join(parts, " and ")
}
