package main

import (
	"context"
	"fmt"

	"rote/routine"
	"rote/routine/definition"
)

type validateCommand struct {
	Files []string `arg:"" help:"Routine files (JSON); - is standard input." placeholder:"FILE"`
}

// Run checks all files and prints one line per problem, in a format that
// editors can link to.
func (c *validateCommand) Run(_ context.Context, _ *globals, s streams) error {
	bad := false
	for _, file := range c.Files {
		text, err := readFile(file, s.in)
		if err != nil {
			fmt.Fprintf(s.out, "%s:1:1: error: %v\n", file, err)
			bad = true
			continue
		}
		_, warnings, err := definition.Parse(text)
		if err != nil {
			bad = true
			printProblems(s, file, "error", routine.AsError(err).Problems)
			if len(routine.AsError(err).Problems) == 0 {
				fmt.Fprintf(s.out, "%s:1:1: error: %v\n", file, err)
			}
		}
		printProblems(s, file, "warning", warnings)
		if err == nil {
			fmt.Fprintf(s.err, "%s: valid\n", file)
		}
	}
	if bad {
		return errReported
	}
	return nil
}

func printProblems(s streams, file, severity string, problems []routine.Problem) {
	for _, p := range problems {
		fmt.Fprintf(s.out, "%s:%d:%d: %s: %s [%s]\n", file, p.Line, p.Column, severity, p, p.Code)
	}
}
