package main

import (
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/browser"
	"rote/browser/egress"
	sites "rote/cmd/rote/practice/teach"
	"rote/routine"
	"rote/routine/routinetest/optional"
)

// lookedAt are the pages of the practice sites that need no login, the number of bytes that
// a look at them may have, and the controls that it has to name with a selector.
var lookedAt = []struct {
	host, path string
	bytes      int
	controls   []string
}{
	{sites.Catalog, "/c/lamps", 1200, []string{"House of Things", "Next", "Imprint"}},
	{sites.Search, "/", 320, []string{"Help", "What do you look for?", "Search"}},
	{sites.Purchases, "/login", 400, []string{"Customer number", "Password", "Log in"}},
	{sites.Bank, "/", 870, []string{"Customer number", "PIN", "This is my own device", "Sign in", "Accept all", "Only necessary"}},
	{sites.Quotes, "/", 640, []string{"Date", "Branch", "Get the price"}},
	{sites.News, "/t/sport", 780, []string{"More news"}},
	{sites.Invoices, "/", 430, []string{"Customer", "Password", "Log in"}},
	{sites.Stories, "/", 600, []string{"About", "Archive"}},
	{sites.Letters, "/", 900, []string{"Your e-mail address", "Subscribe", "See a sample", "Allow all", "Only what is needed"}},
	{sites.Insurance, "/", 680, []string{"car", "motorcycle", "camper", "Next: cover"}},
	{sites.Shop, "/", 700, []string{"Cart", "Search"}},
	{sites.Shop, "/items/garden-basket-arden", 420, []string{"Pieces", "Add to cart"}},
}

// A look at the practice pages is short and names their controls, and no trap.
func TestLooksAtThePracticePages(t *testing.T) {
	t.Parallel()
	b, port := browserOfSites(t)
	named, all := 0, 0
	for _, row := range lookedAt {
		if sample := []string{sites.Catalog, sites.Bank, sites.Letters}; !*whole && !slices.Contains(sample, row.host) {
			continue
		}
		page := openQuiet(t, b, "http://"+row.host+".localhost:"+port+row.path)
		seen, err := page.Look(t.Context(), routine.Look{})
		page.Close()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(seen.Text, port, "PORT")
		if len(text) > row.bytes {
			t.Errorf("the look at %s%s has %d bytes, more than %d:\n%s", row.host, row.path, len(text), row.bytes, text)
		}
		t.Logf("%s%s: %d bytes", row.host, row.path, len(text))
		all += len(row.controls)
		for _, name := range row.controls {
			if hasControl(seen, name) {
				named++
			} else {
				t.Errorf("%s%s: %q is not named with a selector:\n%s", row.host, row.path, name, text)
			}
		}
		for _, trap := range []string{`[name="website"]`, `input[name="email"] `, "Leave this empty"} {
			if row.host == sites.Letters && strings.Contains(text, trap) {
				t.Errorf("the look names a trap:\n%s", text)
			}
		}
	}
	t.Logf("%d of %d controls are named", named, all)
}

// hasControl reports whether a control that is not one of a list's items has this name and
// a selector.
func hasControl(seen routine.Seen, name string) bool {
	for _, line := range seen.Lines {
		if line.Name == name && line.Grade != "" {
			return true
		}
	}
	return false
}

// maxLookTime is the median time of a look at a practice page; on a slow machine, so many times
// what it takes to ask the page for one element.
const (
	maxLookTime    = 150 * time.Millisecond
	maxLookInCalls = 60
)

// A look at a practice page is fast.
func TestSpeedOfLooksAtThePracticePages(t *testing.T) {
	optional.Speed(t)
	b, port := browserOfSites(t)
	for _, row := range lookedAt {
		page := openQuiet(t, b, "http://"+row.host+".localhost:"+port+row.path)
		var looks, calls []time.Duration
		for range 11 {
			start := time.Now()
			if _, _, err := page.OuterHTML(t.Context(), "title"); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, time.Since(start))
			start = time.Now()
			if _, err := page.Look(t.Context(), routine.Look{}); err != nil {
				t.Fatal(err)
			}
			looks = append(looks, time.Since(start))
		}
		page.Close()
		slices.Sort(looks)
		slices.Sort(calls)
		look, call := looks[len(looks)/2], calls[len(calls)/2]
		t.Logf("%s%s: a look takes %v, an element %v", row.host, row.path, look, call)
		if look > max(maxLookTime, maxLookInCalls*call) {
			t.Errorf("%s%s: the median of looks is %v, at most %v is allowed", row.host, row.path, look, maxLookTime)
		}
	}
}

// browserOfSites returns a browser that may reach the practice sites, and their port.
func browserOfSites(t *testing.T) (*browser.Browser, string) {
	t.Helper()
	server := httptest.NewServer(sites.New(1))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	policy, err := egress.NewPolicy(egress.Listed, []string{"*.localhost:" + port}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := browser.New(browser.Config{Egress: policy})
	t.Cleanup(b.Close)
	return b, port
}

// quietPage is a page that can be looked at.
type quietPage interface {
	routine.Page
	routine.Teachable
}

// openQuiet opens a page and waits until it is quiet.
func openQuiet(t *testing.T, b *browser.Browser, url string) quietPage {
	t.Helper()
	opened, err := b.Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	page, ok := opened.(quietPage)
	if !ok {
		t.Fatal("the page cannot describe itself")
	}
	t.Cleanup(page.Close)
	if _, err := page.Navigate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if _, err := page.WaitQuiet(t.Context()); err != nil {
		t.Fatal(err)
	}
	return page
}
