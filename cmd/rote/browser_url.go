package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"rote/browser"
	"rote/routine"
)

// browserTokenVariable is the environment variable with what {token} in a --browser-url
// stands for.
const browserTokenVariable = "ROTE_BROWSER_TOKEN"

// anyBrowser is the browser of this machine, or a pool.
type anyBrowser interface {
	routine.Browser
	Close()
}

// endpoints returns the browsers of --browser-url; none if it was not given.
func (g *globals) endpoints() ([]browser.Endpoint, error) {
	var all []browser.Endpoint
	for i, text := range g.BrowserURL {
		e, err := browser.ParseEndpoint(text, os.Getenv(browserTokenVariable))
		if err != nil {
			return nil, fmt.Errorf("--browser-url, number %d: %w", i+1, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// usesLocalBrowser reports whether runs may get a browser that rote starts on this machine.
func usesLocalBrowser(endpoints []browser.Endpoint) bool {
	for _, e := range endpoints {
		if e.Name == browser.LocalEndpoint {
			return true
		}
	}
	return len(endpoints) == 0
}

// totalSlots is how many runs the endpoints get at once.
func totalSlots(endpoints []browser.Endpoint) int {
	slots := 0
	for _, e := range endpoints {
		slots += e.Slots
	}
	return slots
}

// checkEndpoints connects to each of the endpoints that is not on this machine, and prints what
// it is. The error names the faults of each one that cannot be used.
func (g *globals) checkEndpoints(ctx context.Context, s streams, endpoints []browser.Endpoint) error {
	policy, err := g.egressPolicy()
	if err != nil {
		return err
	}
	gateway, err := g.openGateway(endpoints)
	if err != nil {
		return err
	}
	if gateway != nil {
		defer gateway.Close()
	}
	var failures []error
	for _, e := range endpoints {
		if e.Name == browser.LocalEndpoint {
			continue
		}
		product, verified, err := browser.CheckEndpoint(ctx, browser.Config{Egress: policy, Gateway: gateway, Unverified: g.BrowserUnverified, Log: s.logger()}, e)
		if err == nil {
			but := ""
			if !verified {
				but = ", but it is not verified: the results of its runs say \"unverified\""
			}
			_, err = fmt.Fprintf(s.out, "%s at %s works%s\n", product, e.Name, but)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", e.Name, err))
		}
	}
	return errors.Join(failures...)
}

// openBrowser returns the browser of runs. A local one is started on first use.
func openBrowser(c browser.Config, endpoints []browser.Endpoint) anyBrowser {
	if len(endpoints) == 0 {
		return browser.New(c)
	}
	return browser.NewPool(c, endpoints)
}
