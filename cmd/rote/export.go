package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"rote/routine"
	"rote/routine/exporter"
	"rote/routine/importer/draft"
	"rote/routine/service"
)

type exportCommand struct {
	Routine string `arg:"" help:"A routine file, - for standard input, or the name or id of a stored routine." placeholder:"FILE|NAME|ID"`
	To      string `required:"" help:"Format: recorder (Chrome's Recorder), playwright (a test in TypeScript) or curl." enum:"recorder,playwright,curl" env:"-"`
	Output  string `short:"o" help:"Write to this file instead of standard output." placeholder:"FILE" env:"-"`
}

// Run prints a routine in the format of another tool, and on standard error what that format does
// not express.
func (c *exportCommand) Run(ctx context.Context, g *globals, s streams) error {
	x, err := c.export(ctx, g, s)
	if err != nil {
		return err
	}
	for _, item := range x.Report.Items {
		if item.What != draft.Carried {
			fmt.Fprintf(s.err, "%s:%d:%d: %s: %s: %s [%s]\n", c.Routine, item.Source.Line, item.Source.Column, item.What, item.Source.Text, item.Message, item.Code)
		}
	}
	fmt.Fprintf(s.err, "%s: %s, %s\n", c.Routine, c.To, x.Report.Summary())
	if c.Output != "" {
		err = os.WriteFile(c.Output, []byte(x.Text), 0o644)
	} else {
		_, err = io.WriteString(s.out, x.Text)
	}
	if err == nil && x.Report.Dropped > 0 {
		return errNotExpressed
	}
	return err
}

// errNotExpressed makes the command exit with 3: an operation is not in the output.
var errNotExpressed = errors.New("not all operations are in the output")

func (c *exportCommand) export(ctx context.Context, g *globals, s streams) (*exporter.Exported, error) {
	if (&runCommand{Routine: c.Routine}).stored() {
		var x *exporter.Exported
		err := withDatabase(ctx, g, s, func(service *service.Service) error {
			r, err := findRoutine(ctx, service, g.localPrincipal(), c.Routine)
			if err == nil {
				x, err = service.Export(ctx, g.localPrincipal(), r.ID, c.To)
			}
			return err
		})
		return x, err
	}
	text, err := readFile(c.Routine, s.in)
	if err != nil {
		return nil, fmt.Errorf("%w (give a routine file, or the name or id of a stored routine)", err)
	}
	x, err := exporter.Export(text, c.To)
	if err != nil {
		printProblems(streams{out: s.err}, c.Routine, "error", routine.AsError(err).Problems)
		return nil, fmt.Errorf("%s is no valid routine", c.Routine)
	}
	return x, nil
}
