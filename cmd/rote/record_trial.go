package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/lesson"
	"rote/routine/recording"
	"rote/routine/service"
)

// madeRoutine is the routine of a recording.
type madeRoutine struct {
	command *recordCommand
	name    string
	built   *recording.Built
	t       *recordTerminal
	// definition is what was recorded, or what the lesson made of it that has done it again.
	// fetch is the form with a request; nil if there is none.
	definition, fetch json.RawMessage

	app    *app
	caller routine.Principal
	lesson string // the id; empty if there is none
}

// tryAndStore does the operations again in a lesson without a window, which finds the request that
// has the same data, and stores the routine.
func (m *madeRoutine) tryAndStore(ctx context.Context, g *globals, s streams) (err error) {
	values, why := m.values()
	if m.command.Save == "" && why != "" {
		fmt.Fprintf(m.t.out, "Not tried: %s\n", why)
		return nil
	}
	secrets, err := readSecrets(m.command.Secret, g)
	if err != nil {
		return err
	}
	if s.log == nil {
		s.log = warningLog(s.err)
	}
	if m.app, err = openApp(ctx, g, s, mayCreate); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.app.Close()) }()
	m.caller = g.localPrincipal()
	if why != "" {
		fmt.Fprintf(m.t.out, "Not tried: %s\n", why)
		return m.store(ctx, s)
	}
	m.app.openLessons(lesson.Config{Max: 1, MaxPerOwner: 1, Idle: lessonLife, Total: lessonLife, Secrets: secrets})
	if failure := m.try(ctx, values); failure != nil {
		return fmt.Errorf("done again without a window, the routine fails: %w", failure)
	}
	m.findRequest(ctx)
	if m.command.Save == "" {
		return m.describe(ctx)
	}
	if len(m.built.Sent) > 0 { // the lesson has proved it, and once is enough
		if err := m.describe(ctx); err != nil {
			return err
		}
		return m.store(ctx, s)
	}
	return m.prove(ctx, s)
}

// values are those with which the operations are done again. why says why they cannot be.
func (m *madeRoutine) values() (values map[string]json.RawMessage, why string) {
	values = map[string]json.RawMessage{}
	var missing []string
	for _, p := range m.built.Parameters {
		text, recorded := m.built.Values[p.Name]
		given := slices.ContainsFunc(m.command.Secret, func(f secretFlag) bool { return f.name == p.Name })
		switch {
		case recorded:
			values[p.Name] = routine.RawJSON(text)
		case given:
			values[p.Name] = routine.RawJSON(map[string]string{"secret": p.Name})
		case p.Default == nil:
			missing = append(missing, p.Name)
		}
	}
	switch {
	case m.command.Prove == "no":
		why = "--prove no."
	case len(missing) > 0:
		why = fmt.Sprintf("it needs %s, which is not in the recording. --secret NAME@HOST=FILE gives a secret; rote run does the routine.",
			strings.Join(missing, ", "))
	case len(m.built.Sent) > 0 && m.command.Prove != "all":
		why = fmt.Sprintf("it would send %s again. --prove all does that.", strings.Join(m.built.Sent, ", "))
	}
	return values, why
}

// operationsPerCall is how many operations one call of a lesson does.
const operationsPerCall = 10

// try does the operations in a new lesson.
func (m *madeRoutine) try(ctx context.Context, values map[string]json.RawMessage) error {
	var first struct{ URL string }
	if err := json.Unmarshal(m.built.Operations[0], &first); err != nil {
		return err
	}
	fmt.Fprintln(m.t.out, "Doing it again without a window…")
	q := lesson.StartRequest{URL: first.URL, Session: m.command.Session}
	if strings.Contains(first.URL, "{{") {
		q.Values = values
	}
	started, err := m.app.lessons.Start(ctx, m.caller, q)
	if err != nil {
		return err
	}
	m.lesson = started.ID
	for rest := m.built.Operations[1:]; len(rest) > 0; {
		some := rest[:min(operationsPerCall, len(rest))]
		rest = rest[len(some):]
		tried, err := m.app.lessons.Try(ctx, m.caller, m.lesson, lesson.TryRequest{Operations: some, Values: values})
		if err != nil {
			return err
		}
		if !tried.OK {
			fmt.Fprint(m.t.out, tried.Text())
			return errors.New("an operation failed")
		}
	}
	return nil
}

// findRequest makes the form of the routine with the request whose answer has the items of the
// result, if there is one and it works alone.
func (m *madeRoutine) findRequest(ctx context.Context) {
	if m.built.List == "" {
		return
	}
	seen, err := m.app.lessons.Snapshot(ctx, m.caller, m.lesson, lesson.SnapshotRequest{Extract: m.built.List})
	if err != nil || seen.SameData == 0 {
		return
	}
	r, err := m.app.lessons.Request(ctx, m.caller, m.lesson, seen.SameData)
	if err != nil || r.Tried == nil || !r.Tried.Same || len(r.Parameters) > 0 {
		return
	}
	m.fetch = routine.RawJSON(r.Operations)
	listed, err := m.app.lessons.Requests(ctx, m.caller, m.lesson, lesson.RequestsQuery{})
	if err != nil {
		return
	}
	for _, line := range listed.Lines {
		if line.Number == seen.SameData {
			fmt.Fprintf(m.t.out, "Steadier as fetch: %s\n", line)
		}
	}
}

// describe takes the definition that the lesson would save, which knows the types of the values.
func (m *madeRoutine) describe(ctx context.Context) error {
	saved, err := m.app.lessons.Save(ctx, m.caller, m.lesson, lesson.SaveRequest{Name: m.name, Description: m.built.Description,
		DryRun: true, Whole: true, Prove: lesson.ProveNo, Via: routine.ViaCLI})
	if err == nil {
		m.definition = saved.Definition
	}
	return err
}

// prove saves the lesson, with a proof.
func (m *madeRoutine) prove(ctx context.Context, s streams) error {
	if err := m.describe(ctx); err != nil {
		return err
	}
	q := lesson.SaveRequest{Name: m.name, Description: m.built.Description, Prove: lesson.ProveAll, Via: routine.ViaCLI}
	saved, err := m.app.lessons.Save(ctx, m.caller, m.lesson, q)
	if saved != nil {
		saved.Next = "" // the lesson ends here
		fmt.Fprintln(s.err, strings.TrimRight(saved.Text(), "\n"))
	}
	return err
}

// store stores the routine without a proof.
func (m *madeRoutine) store(ctx context.Context, s streams) error {
	stored, _, _, err := m.app.service.PutRoutine(ctx, m.caller, m.name, m.definition, service.PutCondition{})
	if err == nil {
		fmt.Fprintf(s.err, "%s (%s, version %d, %s)\n", stored.Name, stored.ID, stored.Version, publication(stored))
	}
	return err
}

// write writes the routine to its file, or to standard output, and its form with a request.
func (m *madeRoutine) write(s streams) error {
	text, err := indented(m.definition)
	if err != nil {
		return err
	}
	switch {
	case m.command.Output != "":
		err = os.WriteFile(m.command.Output, text, 0o644)
	case m.command.Save == "":
		_, err = s.out.Write(text)
	}
	if err != nil || m.fetch == nil || m.command.fetchFile() == "" {
		return err
	}
	fetch, err := m.withRequest()
	if err != nil {
		return err
	}
	if text, err = indented(fetch); err != nil {
		return err
	}
	fmt.Fprintf(m.t.out, "%s does it with the request.\n", m.command.fetchFile())
	return os.WriteFile(m.command.fetchFile(), text, 0o644)
}

// withRequest is the definition with the operations of the request in place of those of the
// person, and without the parameters that they do not use.
func (m *madeRoutine) withRequest() (json.RawMessage, error) {
	d, _, err := definition.Parse(m.definition)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(m.fetch, &d.Operations); err != nil {
		return nil, err
	}
	d.Parameters = slices.DeleteFunc(d.Parameters, func(p routine.Parameter) bool { return !strings.Contains(string(m.fetch), "{{"+p.Name+"}}") })
	return routine.RawJSON(d), nil
}
