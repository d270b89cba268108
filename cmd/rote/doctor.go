package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"
)

// doctorCommand examines what a server needs. It changes nothing: the database is not
// migrated, and no file is made.
type doctorCommand struct {
	Addr string `help:"Address that rote serve is to listen on." default:"127.0.0.1:8080" placeholder:"ADDR"`
	JSON bool   `name:"json" help:"Print the findings as JSON." env:"-"`
}

// findingStatus says whether runs work in spite of a finding.
type findingStatus string

const (
	findingOK      findingStatus = "ok"
	findingWarning findingStatus = "warning" // they work, but not as well as they could
	findingFault   findingStatus = "fault"   // they do not
)

// finding is the result of one check.
type finding struct {
	Check  string        `json:"check"`
	Status findingStatus `json:"status"`
	Detail string        `json:"detail"`
	// Remedy says what to do; empty if all is well.
	Remedy string `json:"remedy,omitempty"`
}

func ok(detail string) finding { return finding{Status: findingOK, Detail: detail} }

func warning(detail, remedy string) finding {
	return finding{Status: findingWarning, Detail: detail, Remedy: remedy}
}

func fault(detail, remedy string) finding {
	return finding{Status: findingFault, Detail: detail, Remedy: remedy}
}

// doctorCheck examines one thing. A check may have several findings, such as one for each
// browser.
type doctorCheck struct {
	name string
	find func(ctx context.Context, g *globals, s streams) []finding
}

// checks returns the checks in the order in which they are printed.
func (c *doctorCommand) checks() []doctorCheck {
	return []doctorCheck{
		{"version", checkVersion},
		{"browser", checkBrowsers},
		{"fonts", checkFonts},
		{"memory", checkMemory},
		{"disk", checkDisk},
		{"database", checkDatabase},
		{"key", checkKey},
		{"clock", checkClock},
		{"egress", checkEgress},
		{"port", c.checkPort},
	}
}

// Run prints what it finds. The error, with which the command exits with 1, says how many
// faults there are.
func (c *doctorCommand) Run(ctx context.Context, g *globals, s streams) error {
	var all []finding
	faults := 0
	for _, check := range c.checks() {
		for _, f := range check.find(ctx, g, s) {
			f.Check = check.name
			if f.Status == findingFault {
				faults++
			}
			all = append(all, f)
		}
	}
	if err := c.print(s, all); err != nil {
		return err
	}
	if faults > 0 {
		return fmt.Errorf("%s found: do what is said above, then run rote doctor again", english.Plural(faults, "fault", ""))
	}
	return nil
}

func (c *doctorCommand) print(s streams, all []finding) error {
	if c.JSON {
		return printJSON(s.out, all)
	}
	out := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, f := range all {
		fmt.Fprintf(out, "%s\t%s\t%s\n", f.Status, f.Check, strings.ReplaceAll(f.Detail, "\n", " "))
		if f.Remedy != "" {
			fmt.Fprintf(out, "\t\tDo: %s\n", f.Remedy)
		}
	}
	return out.Flush()
}
