package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/service"
)

type runCommand struct {
	Routine string        `arg:"" help:"A routine file, - for standard input, or the name or id of a stored routine." placeholder:"FILE|NAME|ID"`
	Param   []string      `short:"p" help:"Parameter; =@FILE reads a file, =- stdin; =@@TEXT is @TEXT. Repeatable." placeholder:"NAME=VALUE" sep:"none" env:"-"`
	Secret  []runSecret   `help:"Secret for this run only: NAME[.FIELD][@HOST,…]=FILE, or =- for stdin. Repeatable." placeholder:"SECRET" sep:"none" env:"-"`
	Timeout time.Duration `help:"Timeout of the run, 1s to 300s." default:"60s"`
	Outline bool          `help:"Also say on standard error what is on the last page." env:"-"`
	JSON    bool          `name:"json" help:"Print the whole execution as JSON." xor:"output" env:"-"`
	Output  string        `short:"o" help:"New file for the data or download; - is standard output." placeholder:"FILE" xor:"output" env:"-"`
}

func (c *runCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	parameters, err := c.parameters(s.in, int64(g.MaxBody))
	if err != nil {
		return err
	}
	given, err := givenSecrets(c.Secret, s.in)
	if err != nil {
		return err
	}
	if !routine.ValidRunTimeout(c.Timeout.Seconds()) {
		return fmt.Errorf("--timeout must be from %v to %v, not %v", routine.MinRunTimeout, routine.MaxRunTimeout, c.Timeout)
	}
	if _, err := os.Lstat(c.Output); c.Output != "" && c.Output != "-" && err == nil {
		return fmt.Errorf("--output %s is there already: name a new file", c.Output)
	}
	use := mayCreate
	if c.stored() {
		use = mustExist
	}
	a, err := openApp(ctx, g, s, use)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	call := service.Call{Via: routine.ViaCLI, Parameters: parameters, Timeout: c.Timeout, Outline: c.Outline, Secrets: given, Progress: printProgress(s)}
	e, err := c.execute(ctx, a, g, s, call)
	if e != nil {
		if printing := c.print(e, s); printing != nil {
			return printing
		}
	}
	var ours *routine.Error
	if e == nil && errors.As(err, &ours) && len(ours.Problems) > 1 {
		for _, p := range ours.Problems {
			fmt.Fprintf(s.err, "rote: %s\n", p)
		}
		return errReported
	}
	return err
}

// stored reports whether the argument is a stored routine: an id, or a name
// that does not look like a file name and for which there is no file.
func (c *runCommand) stored() bool {
	if strings.HasPrefix(c.Routine, "Routine_") {
		return true
	}
	if c.Routine == "-" || strings.ContainsAny(c.Routine, `/\`) || strings.HasSuffix(c.Routine, ".json") {
		return false
	}
	_, err := os.Stat(c.Routine)
	return errors.Is(err, fs.ErrNotExist)
}

// execute runs a file directly, or a stored routine as a recorded execution.
func (c *runCommand) execute(ctx context.Context, a *app, g *globals, s streams, call service.Call) (*routine.Execution, error) {
	if c.stored() {
		r, err := findRoutine(ctx, a.service, g.localPrincipal(), c.Routine)
		if err != nil {
			return nil, err
		}
		return a.service.Execute(ctx, g.localPrincipal(), r.ID, call)
	}
	text, err := readFile(c.Routine, s.in)
	if err != nil {
		return nil, fmt.Errorf("%w (give a routine file, or the name or id of a stored routine)", err)
	}
	d, warnings, err := definition.Parse(text)
	for _, w := range warnings {
		fmt.Fprintf(s.err, "%s:%d:%d: warning: %s\n", c.Routine, w.Line, w.Column, w)
	}
	if err != nil {
		printProblems(streams{out: s.err}, c.Routine, "error", routine.AsError(err).Problems)
		return nil, fmt.Errorf("%s is no valid routine", c.Routine)
	}
	return a.service.RunOnce(ctx, g.localPrincipal(), d, call)
}

// readFile reads a file, or standard input for "-".
func readFile(name string, in io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}
