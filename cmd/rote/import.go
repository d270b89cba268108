package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/importer/draft"
	"rote/routine/lesson/parameters"
	"rote/routine/service"
)

type importCommand struct {
	File   string `arg:"" help:"Recording of Chrome's Recorder, Selenium IDE, Playwright or Puppeteer, HAR or cURL; - is standard input." placeholder:"FILE"`
	Kind   string `help:"Kind of the recording (found from its text)." placeholder:"KIND" env:"-"`
	Test   string `help:"Which test, by name (* for all: -o is a directory); of a HAR which request, by number or a part of its URL." placeholder:"NAME" env:"-"`
	Name   string `help:"Name of the routine (the title of the recording)." placeholder:"NAME" env:"-"`
	Save   bool   `help:"Store the routine: a new one, or the next version of the one with its name; with --prove always a new one." env:"-"`
	Output string `short:"o" help:"Write the routine to this file (with --test '*': into this directory) instead of standard output." placeholder:"FILE" env:"-"`
	resolveFlags
}

// errDropped makes the command exit with 3: a step of the recording is not in the routine.
var errDropped = errors.New("not all steps are in the routine")

// allTests is the name for all tests of a recording.
const allTests = "*"

// Run prints the routine that a recording becomes, and on standard error what became of its steps.
func (c *importCommand) Run(ctx context.Context, g *globals, s streams) error {
	if err := c.check(c.Save); err != nil {
		return err
	}
	text, err := readFile(c.File, s.in)
	if err != nil {
		return err
	}
	q := importer.Request{Source: string(text), Kind: c.Kind, Test: c.Test, Name: c.Name, Large: true}
	if c.Test == allTests {
		return c.all(ctx, g, s, q)
	}
	return c.one(ctx, g, s, q)
}

// one imports one routine.
func (c *importCommand) one(ctx context.Context, g *globals, s streams, q importer.Request) error {
	r, err := importer.Import(q)
	if err != nil {
		return c.unreadable(s, err)
	}
	c.report(r, s)
	save := c.Save && c.Prove == ""
	if c.Resolve && r.Valid {
		err = c.resolve(ctx, g, s, r)
		if err != nil && !errors.Is(err, errNotResolved) && !errors.Is(err, errActs) {
			return err
		}
		if save && err != nil {
			fmt.Fprintln(s.err, "Nothing was saved.")
		}
		save = save && err == nil
	}
	printProposals(s, r.Parameters)
	if err := errors.Join(err, c.write(ctx, g, s, r, save)); err != nil {
		return err
	}
	switch {
	case !r.Valid:
		return fmt.Errorf("%s: the routine is not valid as it is", c.File)
	case r.Report.Dropped > 0:
		return errDropped
	}
	return nil
}

// unreadable reports why a recording cannot be imported.
func (c *importCommand) unreadable(s streams, err error) error {
	printProblems(streams{out: s.err}, c.File, "error", routine.AsError(err).Problems)
	return fmt.Errorf("%s: %w", c.File, err)
}

// all imports each test of a recording into a file of its own.
func (c *importCommand) all(ctx context.Context, g *globals, s streams, q importer.Request) error {
	switch {
	case c.Name != "":
		return errors.New("--name is the name of one routine: leave it out with --test '*'")
	case c.Output == "" && !c.Save:
		return errors.New("--test '*' makes several routines: give a directory for their files with -o, or --save")
	}
	tests, err := importer.Tests(q)
	if err != nil {
		return c.unreadable(s, err)
	}
	if c.Output != "" {
		if err := os.MkdirAll(c.Output, 0o755); err != nil {
			return err
		}
	}
	var failed error
	dropped := false
	taken := map[string]bool{}
	for _, test := range tests {
		one := *c
		if c.Output != "" {
			one.Output = filepath.Join(c.Output, testFile(test, taken))
		}
		q.Test = test
		err := one.one(ctx, g, s, q)
		dropped = dropped || errors.Is(err, errDropped)
		if err != nil && !errors.Is(err, errDropped) {
			failed = errors.Join(failed, fmt.Errorf("the test %s: %w", routine.Quote(test), err))
		}
	}
	if failed == nil && dropped {
		return errDropped
	}
	return failed
}

var notInFile = regexp.MustCompile(`[^\p{L}\p{N}]+`)

// testFile is the name of the file of a test, which no other test has.
func testFile(test string, taken map[string]bool) string {
	base := routine.Truncate(strings.Trim(notInFile.ReplaceAllString(strings.ToLower(test), "_"), "_"), 60)
	base = cmp.Or(strings.TrimSuffix(base, "…"), "test")
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	taken[name] = true
	return name + ".json"
}

// report prints a line for each step that is not carried as it was, in a format that editors can
// link to.
func (c *importCommand) report(r *importer.Imported, s streams) {
	for _, item := range r.Report.Items {
		if item.What != draft.Carried {
			fmt.Fprintf(s.err, "%s:%d:%d: %s: %s: %s [%s]\n", c.File, item.Source.Line, max(item.Source.Column, 1), item.What, item.Source.Text, item.Message, item.Code)
		}
	}
	for _, q := range r.Report.Candidates {
		mark := "candidate"
		if q.Taken {
			mark = "taken"
		}
		fmt.Fprintf(s.err, "%s:%d:1: %s: request %d: %s: %d %s, %d bytes (score %d)\n", c.File, q.Line, mark, q.Number, q.Request, q.Status, q.Type, q.Bytes, q.Score)
	}
	for _, p := range r.Errors {
		fmt.Fprintf(s.err, "error: %s [%s]\n", p, p.Code)
	}
	for _, p := range r.Warnings {
		fmt.Fprintf(s.err, "warning: %s [%s]\n", p, p.Code)
	}
	fmt.Fprintf(s.err, "%s: %s, %s\n", c.File, r.Kind, r.Report.Summary())
}

// printProposals prints a line for each literal of a routine that could become a parameter.
func printProposals(s streams, proposals []parameters.Proposal) {
	for _, p := range proposals {
		fmt.Fprintf(s.err, "could be the parameter %s: %s in %s\n", p.Name, routine.Quote(routine.Truncate(p.From, 60)), strings.Join(p.In, ", "))
	}
}

// write writes the routine to a file or prints it, and stores it if save is set.
func (c *importCommand) write(ctx context.Context, g *globals, s streams, r *importer.Imported, save bool) (err error) {
	var text bytes.Buffer
	if err := json.Indent(&text, r.Routine, "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	if c.Output != "" {
		err = os.WriteFile(c.Output, text.Bytes(), 0o644)
	}
	if err != nil || c.Output == "" && !c.Save { // a routine that cannot be written is not lost
		_, unprinted := s.out.Write(text.Bytes())
		err = errors.Join(err, unprinted)
	}
	if err != nil || !save || !r.Valid {
		return err
	}
	a, err := openAppWithoutBrowser(ctx, g, s, mayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	var name struct{ Name string }
	if err := json.Unmarshal(r.Routine, &name); err != nil {
		return err
	}
	stored, _, _, err := a.service.PutRoutine(ctx, g.localPrincipal(), name.Name, r.Routine, service.PutCondition{})
	if err == nil {
		fmt.Fprintf(s.out, "%s (%s, version %d, %s)\n", stored.Name, stored.ID, stored.Version, publication(stored))
	}
	return err
}
