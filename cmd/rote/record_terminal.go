package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rote/browser/recorder"
	"rote/routine"
	"rote/routine/lesson/parameters"
	"rote/routine/recording"
)

// recordHelp says what the person can type.
const recordHelp = `Here, each followed by Enter: u undoes the last operation, r makes what is under the pointer the result,
p [NAME] makes the last value a parameter, s saves, q ends without saving. Closing the window saves too.
`

// recordTerminal prints the operations that are recorded, and reads the commands of the user.
type recordTerminal struct {
	out io.Writer
	// lines are what the person types; nil when there are no more.
	lines     <-chan string
	recording recording.Recording
	// printed are the operations as they were printed last.
	printed []string
	// full reports whether it was said that the recording is full.
	full bool
	// denials returns what the pages could not reach since the last call.
	denials func() []routine.Denial
}

// printAfter is how long nothing happens before the last operation is printed: a text is typed for
// a while, and a second click makes a double one.
const printAfter = 700 * time.Millisecond

// run records until the person saves or closes the window.
func (t *recordTerminal) run(ctx context.Context, w *recorder.Window) error {
	end := time.NewTimer(maxRecording)
	defer end.Stop()
	calm := time.NewTimer(printAfter)
	defer calm.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", errDiscarded)
		case <-end.C:
			fmt.Fprintf(t.out, "A recording ends after %.0f minutes.\n", maxRecording.Minutes())
			return nil
		case <-w.Closed():
			t.print()
			return nil
		case e := <-w.Events():
			t.add(e)
			calm.Reset(printAfter)
		case <-calm.C:
			t.print()
		case line, typed := <-t.lines:
			if !typed {
				t.lines = nil
				continue
			}
			t.print()
			if done, err := t.command(ctx, w, strings.TrimSpace(line)); done {
				return err
			}
		}
	}
}

// add adds an event. That the recording is full is said once.
func (t *recordTerminal) add(e recording.Event) {
	_, err := t.recording.Add(e)
	if err != nil && !t.full {
		fmt.Fprintf(t.out, "rote: %v. s saves what there is, u makes room\n", err)
	}
	t.full = t.full || err != nil
}

// command does what the person has typed. It reports whether the recording ends.
func (t *recordTerminal) command(ctx context.Context, w *recorder.Window, line string) (bool, error) {
	name, argument, _ := strings.Cut(line, " ")
	var err error
	switch strings.ToLower(name) {
	case "":
	case "s":
		return true, nil
	case "q":
		return true, errDiscarded
	case "u":
		if err = t.recording.Undo(); err == nil {
			t.full = false
			fmt.Fprintln(t.out, "The last operation is left out. The page still has what it did.")
			t.print()
		}
	case "r":
		err = w.Mark(ctx)
	case "p":
		var text string
		if text, err = t.recording.Parameter(strings.TrimSpace(argument)); err == nil {
			fmt.Fprintf(t.out, "%s is a parameter.\n", routine.Quote(routine.Truncate(text, 60)))
			t.print()
		}
	default:
		fmt.Fprint(t.out, recordHelp)
	}
	if err != nil {
		fmt.Fprintf(t.out, "rote: %v\n", err)
	}
	return false, nil
}

// print prints the operations that are new or have changed.
func (t *recordTerminal) print() {
	lines := t.recording.Build("recorded").Lines
	for i, line := range lines {
		if i >= len(t.printed) || t.printed[i] != line {
			fmt.Fprintf(t.out, "%d %s\n", i+1, line)
		}
	}
	t.printed = slices.Clone(lines)
	for _, d := range t.denials() {
		fmt.Fprintf(t.out, "not reached: %s (%s): --allow-host %s would allow it\n", d.Host, d.Reason, d.Host)
	}
}

// propose asks which texts become parameters.
func (t *recordTerminal) propose(ctx context.Context, all []parameters.Proposal) {
	for _, p := range all {
		fmt.Fprintf(t.out, "Make %s a parameter? Enter for yes with the name %s, another name, or n for no: ", routine.Quote(routine.Truncate(p.From, 60)), p.Name)
		answer, ok := "", false
		if t.lines != nil {
			answer, ok = next(ctx, t.lines)
		}
		switch answer = strings.TrimSpace(answer); {
		case !ok:
			fmt.Fprintln(t.out, "no answer, so no")
		case strings.EqualFold(answer, "n") || strings.EqualFold(answer, "no"):
		case strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"):
			t.recording.Give(p.From, p.Name)
		default:
			t.recording.Give(p.From, cmp.Or(answer, p.Name))
		}
	}
}
