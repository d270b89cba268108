package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/service"
)

type mendCommand struct {
	Routine   string   `arg:"" help:"The name or the id of a stored routine." placeholder:"NAME|ID"`
	Execution string   `help:"Failed execution with the values to use (the newest failed one)." placeholder:"ID" env:"-"`
	Param     []string `short:"p" help:"Parameter, as in rote run; secret ones are needed again. Repeatable." placeholder:"NAME=VALUE" sep:"none" env:"-"`
	Until     count    `help:"Do this many operations, also those that may change something on the site." placeholder:"N" env:"-"`
	Apply     bool     `help:"Take the candidate if exactly one is certain, and save the next version; else exit with 3." env:"-"`
	JSON      bool     `name:"json" help:"Print the failure and the candidates as JSON." env:"-"`
}

// errNotCertain makes the command exit with 3: nothing was saved, because a person has to
// decide.
var errNotCertain = errors.New("nothing was saved")

// Run does the operations of a routine up to the one that fails and prints what could take
// its place. With --apply it saves the routine with the only certain candidate.
func (c *mendCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	values, err := lessonValues(c.Param, s, g)
	if err != nil {
		return err
	}
	a, err := openApp(ctx, g, s, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	lessons := lesson.New(lesson.Config{Service: a.service})
	defer lessons.Close()
	p := g.localPrincipal()
	request, err := c.request(ctx, a.service, p, values)
	if err != nil {
		return err
	}
	request.Progress = printProgress(s)
	started, err := lessons.Start(ctx, p, request)
	if err != nil {
		return err
	}
	if err := c.print(started, s); err != nil || !c.Apply {
		return err
	}
	return c.apply(ctx, lessons, p, started, s)
}

// printProgress prints each operation before it is done.
func printProgress(s streams) func(routine.Progress) {
	return func(p routine.Progress) { fmt.Fprintf(s.err, "%d/%d %s\n", p.Index+1, p.Total, p.Operation) }
}

// lessonValues are the values of -p for a lesson.
func lessonValues(params []string, s streams, g *globals) (map[string]json.RawMessage, error) {
	texts, err := parameterTexts(params, valueReader{in: s.in, limit: int64(g.MaxBody)})
	if err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for name, text := range texts {
		values[name] = routine.RawJSON(text)
	}
	return values, nil
}

// request is the start of the lesson. Unless the command line says what to do, it is from
// the newest failed execution.
func (c *mendCommand) request(ctx context.Context, service *service.Service, p routine.Principal, values map[string]json.RawMessage) (
	lesson.StartRequest, error) {

	r, err := findRoutine(ctx, service, p, c.Routine)
	if err != nil {
		return lesson.StartRequest{}, err
	}
	request := lesson.StartRequest{Routine: r.ID, Execution: c.Execution, Values: values}
	if c.Until > 0 {
		request.Until = new(int(c.Until))
	}
	if c.Execution != "" {
		return request, nil
	}
	failed, _, err := service.Executions(ctx, p, routine.ExecutionFilter{RoutineID: r.ID, Status: routine.ExecutionFailed, Limit: 1})
	if err != nil {
		return lesson.StartRequest{}, err
	}
	if len(failed) > 0 {
		request.Execution = failed[0].ID
	}
	return request, nil
}

// print prints the failure and the candidates.
func (c *mendCommand) print(started *lesson.Started, s streams) error {
	if c.JSON {
		return printJSON(s.out, started)
	}
	if started.SessionWarning != "" {
		fmt.Fprintln(s.err, "Warning: "+started.SessionWarning+".")
	}
	if started.Failure == nil {
		fmt.Fprintf(s.out, "All %d operations work.\n", len(started.Done))
		return nil
	}
	fmt.Fprint(s.out, started.Failure.Text(started.CreatedAt), lesson.CandidatesText(started.Candidates))
	if len(started.Candidates) == 0 {
		fmt.Fprintln(s.out, "No candidate was found: an agent can look at the page with start_lesson.")
	}
	return nil
}

// apply puts the only certain candidate in the place of the operation that fails, does the
// operations after it, and saves the next version.
func (c *mendCommand) apply(ctx context.Context, lessons *lesson.Lessons, p routine.Principal, started *lesson.Started, s streams) error {
	if started.Failure == nil {
		return nil
	}
	chosen := started.Clear()
	if chosen == nil {
		return fmt.Errorf("%w: no candidate, or more than one, is certain", errNotCertain)
	}
	tried, err := lessons.Try(ctx, p, started.ID, lesson.TryRequest{At: started.Failure.Operation, Operations: []json.RawMessage{chosen.Operation},
		Progress: printProgress(s)})
	if err != nil {
		return err
	}
	for _, step := range tried.Steps {
		if step.Error != nil {
			return fmt.Errorf("%w: operation %d fails then: %s", errNotCertain, step.Record.Index+1, step.Error.Message)
		}
	}
	if len(tried.Remaining) > 0 {
		return fmt.Errorf("%w: %s", errNotCertain, tried.Stopped)
	}
	newest := cmp.Or(started.Newest, started.Version)
	saved, err := lessons.Save(ctx, p, started.ID, lesson.SaveRequest{ExpectedVersion: &newest, SameResult: true, Via: routine.ViaCLI})
	if code := routine.CodeOf(err); code == routine.CodeConflict || code == routine.CodeNotProved {
		return fmt.Errorf("%w: %w", errNotCertain, err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "Operation %d is now %s.\nSaved as version %d of %s. The old version stays: rote show %s --at-version %d.\n", started.Failure.Operation,
		chosen.Operation, saved.Routine.Version, saved.Routine.Name, saved.Routine.ID, started.Version)
	return nil
}
