package main

import (
	"context"
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/service"
)

type addCommand struct {
	Files []string `arg:"" help:"Routine files (JSON); - is standard input." placeholder:"FILE"`
	ID    string   `name:"id" help:"Change the routine with this id instead of the one with the definition's name." placeholder:"ID" xor:"which" env:"-"`
	New   bool     `help:"Create a routine, also when another one has its name." xor:"which" env:"-"`
	JSON  bool     `name:"json" help:"Print the stored routines as a JSON array." env:"-"`
}

// definitionFile is a file with a valid definition.
type definitionFile struct {
	path string
	text []byte
	name string // of the routine
}

// Run stores the files. Each becomes a new routine or the next version of the
// routine with the same name. Nothing is stored unless all files are valid.
func (c *addCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	if c.ID != "" && len(c.Files) > 1 {
		return errors.New("--id names one routine: give one file")
	}
	files, err := readDefinitions(c.Files, s)
	if err != nil {
		return err
	}
	a, err := openAppWithoutBrowser(ctx, g, s, mayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	stored := []*routine.Routine{}
	for _, f := range files {
		r, did, warnings, err := c.store(ctx, a.service, g.localPrincipal(), f)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", f.path, err), c.print(stored, s))
		}
		printProblems(streams{out: s.err}, f.path, "warning", warnings)
		stored = append(stored, r)
		if !c.JSON {
			fmt.Fprintf(s.out, "%s: %s %s (%s, version %d, %s)\n", f.path, did, r.Name, r.ID, r.Version, publication(r))
		}
	}
	return c.print(stored, s)
}

// readDefinitions reads and checks all files and prints their problems to
// standard error.
func readDefinitions(paths []string, s streams) ([]definitionFile, error) {
	var files []definitionFile
	of := map[string]string{} // file by routine name
	invalid := false
	for _, path := range paths {
		text, err := readFile(path, s.in)
		if err != nil {
			return nil, err
		}
		d, warnings, err := definition.Parse(text)
		if err != nil {
			printProblems(streams{out: s.err}, path, "error", routine.AsError(err).Problems)
			printProblems(streams{out: s.err}, path, "warning", warnings)
			if len(routine.AsError(err).Problems) == 0 {
				fmt.Fprintf(s.err, "%s:1:1: error: %v\n", path, err)
			}
			invalid = true
			continue
		}
		if other, twice := of[d.Name]; twice {
			return nil, fmt.Errorf("%s and %s both define the routine %q: give one of them another name", other, path, d.Name)
		}
		of[d.Name] = path
		files = append(files, definitionFile{path, text, d.Name})
	}
	if invalid {
		return nil, errors.New("nothing is stored: not every file is a valid routine")
	}
	return files, nil
}

// store saves one definition. did says whether it was created, updated or
// unchanged.
func (c *addCommand) store(ctx context.Context, s *service.Service, p routine.Principal, f definitionFile) (
	r *routine.Routine, did string, warnings []routine.Problem, err error) {

	if c.New {
		r, warnings, err = s.CreateRoutine(ctx, p, f.text, service.Idempotency{})
		return r, "created", warnings, err
	}
	find, key := s.RoutineNamed, f.name
	if c.ID != "" {
		find, key = s.Routine, c.ID
	}
	was, err := find(ctx, p, key)
	if err != nil && (c.ID != "" || routine.CodeOf(err) != routine.CodeNotFound) {
		return nil, "", nil, err
	}
	if c.ID != "" {
		r, warnings, err = s.ReplaceRoutine(ctx, p, c.ID, f.text, nil)
	} else {
		r, _, warnings, err = s.PutRoutine(ctx, p, f.name, f.text, service.PutCondition{})
	}
	switch {
	case err != nil:
		return nil, "", nil, err
	case was == nil:
		did = "created"
	case was.Version == r.Version:
		did = "unchanged"
	default:
		did = "updated"
	}
	return r, did, warnings, nil
}

// print prints the routines with --json.
func (c *addCommand) print(stored []*routine.Routine, s streams) error {
	if !c.JSON {
		return nil
	}
	return printJSON(s.out, stored)
}

// publication returns the name under which agents see a routine.
func publication(r *routine.Routine) string {
	if !r.Published() {
		return "not a tool"
	}
	return "tool " + r.ToolName
}
