package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson"
)

// resolveFlags say how the operations of an imported routine are tried.
type resolveFlags struct {
	Resolve bool         `help:"Try the operations on the live site, up to the first that fails or may buy, send or delete; texts become selectors." env:"-"`
	Param   []string     `short:"p" help:"With --resolve: parameter, as in rote run. Repeatable." placeholder:"NAME=VALUE" sep:"none" env:"-"`
	Secret  []secretFlag `help:"With --resolve: secret parameter, as NAME@HOST[,HOST]=FILE. Repeatable." placeholder:"SECRET" sep:"none"`
	Session string       `help:"With --resolve: start from this saved session, which the routine gets." placeholder:"NAME" env:"-"`
	Prove   string       `help:"With --resolve and --save: all or check_last of it again first." enum:",all,check_last,no" placeholder:"HOW" default:"" env:"-"`
}

// check returns an error for flags that need another one.
func (f *resolveFlags) check(save bool) error {
	switch {
	case !f.Resolve && (len(f.Param) > 0 || f.Session != "" || f.Prove != ""):
		return errors.New("--param, --session and --prove are for --resolve, which tries the routine on the live site")
	case f.Prove != "" && !save:
		return errors.New("--prove is for --save: give both, or neither")
	}
	return nil
}

// errNotResolved makes the command exit with 3: an operation fails on the live site.
var errNotResolved = errors.New("not all operations work on the live site")

// errActs makes the command exit with 3: a person decides whether the proof may act on the site.
var errActs = errors.New("the proof would do what was not done by itself")

// mayProve reports whether the proof does no operation that was not done by itself. check_last
// leaves out the last one.
func (f *resolveFlags) mayProve(r *lesson.Resolved) bool {
	switch len(r.Remaining) {
	case 0:
		return true
	case 1:
		return f.Prove != string(lesson.ProveAll)
	}
	return f.Prove == string(lesson.ProveNo)
}

// resolve tries the operations of an imported routine in a lesson and prints what came of it. The
// routine gets the selectors that were found.
func (c *importCommand) resolve(ctx context.Context, g *globals, s streams, r *importer.Imported) (err error) {
	values, err := lessonValues(c.Param, s, g)
	if err != nil {
		return err
	}
	for _, f := range c.Secret {
		values[f.name] = routine.RawJSON(map[string]string{"secret": f.name})
	}
	secrets, err := readSecrets(c.Secret, g)
	if err != nil {
		return err
	}
	if s.log == nil {
		s.log = warningLog(s.err)
	}
	a, err := openApp(ctx, g, s, mayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	a.openLessons(lesson.Config{Max: 1, MaxPerOwner: 1, Idle: lessonLife, Total: lessonLife, Secrets: secrets})
	p := g.localPrincipal()
	resolved, err := a.lessons.Resolve(ctx, p, lesson.ResolveRequest{Definition: r.Routine, Values: values, Session: c.Session, Progress: printProgress(s)})
	if err != nil {
		return err
	}
	printResolved(s, resolved)
	saved, err := a.lessons.Save(ctx, p, resolved.ID, lesson.SaveRequest{DryRun: true, Whole: true, Prove: lesson.ProveNo, Via: routine.ViaCLI})
	if err != nil {
		return err
	}
	r.Routine, r.Parameters = saved.Definition, saved.Proposals
	if err := printValues(s, r.Routine, values); err != nil {
		return err
	}
	switch {
	case !resolved.OK:
		return errNotResolved
	case c.Prove == "":
		return nil
	case !c.mayProve(resolved):
		fmt.Fprintln(s.err, "Nothing was saved: --prove would do the operations that were not done. "+
			"Leave --prove out to save the routine as it is; rote run does all of it.")
		return errActs
	}
	return c.prove(ctx, s, a.lessons, p, resolved.ID, r.Routine)
}

// printResolved prints the selectors that were found, and why not all operations were done.
func printResolved(s streams, r *lesson.Resolved) {
	if r.SessionWarning != "" {
		fmt.Fprintln(s.err, "Warning: "+r.SessionWarning+".")
	}
	for _, t := range r.Replaced {
		fmt.Fprintf(s.err, "operation %d: %s (grade %s) in place of %s\n", t.Operation, t.Selector, t.Grade, routine.RawJSON(t.Target))
	}
	for _, step := range r.Steps {
		for _, warning := range step.Warnings {
			fmt.Fprintf(s.err, "operation %d: warning: %s\n", step.Number, warning)
		}
	}
	switch {
	case r.Failure != nil:
		fmt.Fprint(s.err, r.Failure.Text(r.CreatedAt), lesson.CandidatesText(r.Candidates))
	case r.Stopped != "":
		fmt.Fprintln(s.err, r.Stopped)
	default:
		fmt.Fprintf(s.err, "All %d operations work.\n", len(r.Operations))
	}
}

// printValues prints a line for each parameter that needs a value and has none, and for each value
// that is of no parameter.
func printValues(s streams, definition json.RawMessage, values map[string]json.RawMessage) error {
	var made routine.Definition
	if err := json.Unmarshal(definition, &made); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range made.Parameters {
		known[p.Name] = true
		switch _, given := values[p.Name]; {
		case given || !p.Needed():
		case p.Secret:
			fmt.Fprintf(s.err, "The parameter %s has no value: give it one with --secret %[1]s@HOST=FILE.\n", p.Name)
		default:
			fmt.Fprintf(s.err, "The parameter %s has no value: give it one with -p %[1]s=VALUE.\n", p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			fmt.Fprintf(s.err, "Warning: the routine has no parameter %s: its value is not used.\n", name)
		}
	}
	return nil
}

// prove saves the routine of the lesson, with a proof.
func (c *importCommand) prove(ctx context.Context, s streams, lessons lessons, p routine.Principal, id string, definition json.RawMessage) error {
	var named struct{ Name string }
	if err := json.Unmarshal(definition, &named); err != nil {
		return err
	}
	saved, err := lessons.Save(ctx, p, id, lesson.SaveRequest{Name: named.Name, Prove: lesson.Prove(c.Prove), Via: routine.ViaCLI})
	if saved != nil {
		saved.Next = "" // the lesson ends here
		fmt.Fprintln(s.err, strings.TrimRight(saved.Text(), "\n"))
	}
	return err
}
