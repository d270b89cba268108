package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/service"
)

type sessionCommand struct {
	Set    sessionSet    `cmd:"" help:"Create a session, or change the settings of one."`
	Login  sessionLogin  `cmd:"" help:"Run the login routine of a session, also when logins have failed before."`
	Import sessionImport `cmd:"" help:"Import a login: what Playwright's storageState gives, or a cookies.txt."`
	List   sessionList   `cmd:"" help:"List the sessions, without cookies."`
	Show   sessionShow   `cmd:"" help:"Print everything about a session but its cookies."`
	Uses   sessionUses   `cmd:"" help:"List who changed a session, newest first."`
	Clear  sessionClear  `cmd:"" help:"Delete the login of a session, which stays with its settings."`
	Remove sessionRemove `cmd:"" help:"Delete a session with its login."`
}

// sessionName is the argument of commands about one session.
type sessionName struct {
	Name string `arg:"" help:"The name of a session." placeholder:"NAME"`
}

type sessionImport struct {
	sessionName
	File string   `arg:"" help:"The file, or - for standard input." placeholder:"FILE"`
	Host []string `help:"Host whose login it is, instead of those of the session. Repeatable." placeholder:"HOST" env:"-"`
}

// Run replaces the login of a session.
func (c *sessionImport) Run(ctx context.Context, g *globals, s streams) error {
	text, err := readState(c.File, s)
	if err != nil {
		return err
	}
	return openService(ctx, g, s, mayCreate, func(service *service.Service) error {
		got, err := service.ImportSession(ctx, g.localPrincipal(), routine.ViaCLI, c.Name, text, c.Host, onAnyVersion)
		if routine.CodeOf(err) == routine.CodeNotFound {
			return fmt.Errorf("%w: rote session import %s %s --host HOST", err, c.Name, c.File)
		}
		if err != nil {
			return printAllProblems(s, err)
		}
		for _, w := range got.Warnings {
			fmt.Fprintf(s.err, "rote: warning: %s\n", w)
		}
		fmt.Fprintf(s.out, "imported session %s for %s, version %d\n", got.Name, strings.Join(got.Hosts, ", "), got.Version)
		if err := printCounts(s.out, "KEPT", got.State); err != nil || len(got.LeftOut) == 0 {
			return err
		}
		return printCounts(s.out, "LEFT OUT", got.LeftOut)
	})
}

// readState reads an exported state from a file, or from standard input for -.
func readState(file string, s streams) ([]byte, error) {
	in := s.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, browserstate.MaxBytes+1)) // one more is refused
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	return text, nil
}

// printCounts prints how much of a state belongs to each host.
func printCounts(out io.Writer, title string, counts []browserstate.Count) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tCOOKIES\tLOCAL STORAGE\n", title)
	for _, c := range counts {
		storage := "-"
		if c.Storage {
			storage = "yes"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\n", c.Host, c.Cookies, storage)
	}
	return w.Flush()
}

type sessionList struct {
	JSON bool `name:"json" help:"Print the sessions as a JSON array." env:"-"`
}

// Run lists the sessions of the project, by name.
func (c *sessionList) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		list, total, err := service.Sessions(ctx, g.localPrincipal(), maxListedSecrets, 0)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.out, list)
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tHOSTS\tCONDITION\tMODE\tLOGGED IN\tEXPIRES\tVERSION")
		for _, info := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", info.Name, strings.Join(info.Hosts, " "), info.Condition, info.Mode,
				timeCell(info.LoggedInAt), timeCell(info.ExpiresAt), info.Version)
		}
		printOmitted(s, len(list), total)
		return w.Flush()
	})
}

// timeCell returns a time in a table; - for none.
func timeCell(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
}

type sessionShow struct{ sessionName }

// Run prints a session as JSON, without its cookies.
func (c *sessionShow) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		info, err := service.Session(ctx, g.localPrincipal(), c.Name)
		if err != nil {
			return withSessionList(err)
		}
		return printJSON(s.out, info)
	})
}

type sessionUses struct {
	sessionName
	Limit uint `help:"How many, 100 by default." placeholder:"N" env:"-"`
	JSON  bool `name:"json" help:"Print the uses as a JSON array." env:"-"`
}

// Run lists the changes of a session.
func (c *sessionUses) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		uses, total, err := service.SessionUses(ctx, g.localPrincipal(), c.Name, cmp.Or(int(c.Limit), 100), 0)
		if err != nil {
			return withSessionList(err)
		}
		return printUses(s, uses, total, c.JSON)
	})
}

type sessionClear struct{ sessionName }

// Run deletes the login of a session.
func (c *sessionClear) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		if err := service.ClearSession(ctx, g.localPrincipal(), routine.ViaCLI, c.Name, onAnyVersion); err != nil {
			return withSessionList(err)
		}
		_, err := fmt.Fprintf(s.out, "session %s has no login now\n", c.Name)
		return err
	})
}

type sessionRemove struct{ sessionName }

// Run deletes a session. The record of its uses stays.
func (c *sessionRemove) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		if err := service.DeleteSession(ctx, g.localPrincipal(), routine.ViaCLI, c.Name); err != nil {
			return withSessionList(err)
		}
		_, err := fmt.Fprintf(s.out, "removed session %s\n", c.Name)
		return err
	})
}

// withSessionList adds to the error of an unknown session where the names are.
func withSessionList(err error) error {
	if routine.CodeOf(err) == routine.CodeNotFound {
		return fmt.Errorf("%w: rote session list shows the sessions", err)
	}
	return err
}
