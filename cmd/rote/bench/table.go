package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The contenders' names.
const (
	floorReady    = "bare protocol, ready context (the floor)"
	floorFresh    = "bare protocol, fresh context"
	oursREST      = "**rote**, one REST call"
	oursMCP       = "**rote**, one MCP call"
	puppeteer     = "puppeteer script, fresh context"
	playwrightMCP = "playwright-mcp, a call a step"
	devtoolsMCP   = "chrome-devtools-mcp, a call a step"
)

// quantile returns the duration that the fraction f of the times did not exceed.
func quantile(times []time.Duration, f float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[int(f*float64(len(sorted)-1))]
}

func (c *contender) median() time.Duration { return quantile(c.times, 0.5) }

func (b *bench) find(engine, name string) *contender {
	for _, c := range b.contenders {
		if c.engine == engine && c.name == name {
			return c
		}
	}
	return nil
}

// table returns the result in Markdown, one row per contender, with its time
// relative to the floor of its browser.
func (b *bench) table() string {
	var t strings.Builder
	t.WriteString("| who | browser | calls | p50 ms | p95 ms | × the floor |\n|---|---|---|---|---|---|\n")
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, c := range b.contenders {
		floor := b.find(c.engine, floorReady)
		fmt.Fprintf(&t, "| %s | %s | %d | %.0f | %.0f | %.1f |\n", c.name, c.engine, c.calls, ms(c.median()), ms(quantile(c.times, 0.95)),
			float64(c.median())/float64(floor.median()))
	}
	return t.String()
}

// promise is a limit on the ratio of the medians of two contenders.
type promise struct {
	engine, slower, faster string
	least, most            float64 // of slower over faster; 0: none
}

// promises are those of the README.
var promises = []promise{
	{engine: "shell", slower: oursREST, faster: floorReady, most: 1.5},
	{engine: "shell", slower: oursMCP, faster: floorReady, most: 1.5},
	{engine: "full", slower: oursREST, faster: floorReady, most: 1.5},
	{engine: "full", slower: oursMCP, faster: floorReady, most: 1.5},
	{engine: "shell", slower: devtoolsMCP, faster: oursMCP, least: 12},
	{engine: "shell", slower: playwrightMCP, faster: oursMCP, least: 20},
	{engine: "shell", slower: puppeteer, faster: oursMCP, least: 2.4},
}

// broken returns the promises that do not hold, and by how much.
func (b *bench) broken(promises []promise) (broken []promise, how []string) {
	for _, p := range promises {
		slower, faster := b.find(p.engine, p.slower), b.find(p.engine, p.faster)
		if slower == nil || faster == nil {
			continue
		}
		ratio := float64(slower.median()) / float64(faster.median())
		bound := fmt.Sprintf("at most %g", p.most)
		if p.most == 0 {
			bound = fmt.Sprintf("at least %g", p.least)
		}
		if ratio < p.least || p.most > 0 && ratio > p.most {
			broken = append(broken, p)
			how = append(how, fmt.Sprintf("%s: %s takes %.2f × %s, promised is %s", p.engine, p.slower, ratio, p.faster, bound))
		}
	}
	return broken, how
}
