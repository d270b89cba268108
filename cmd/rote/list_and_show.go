package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"rote/routine"
	"rote/routine/service"
)

type listCommand struct {
	Words  []string `arg:"" optional:"" help:"Words that occur in the name, the description or a tag."`
	Status string   `help:"draft, active, archived or all (all except archived ones)." enum:",draft,active,archived,all" default:"" env:"-"`
	Tag    string   `help:"Only routines with this tag." placeholder:"TAG" env:"-"`
	Limit  count    `help:"How many routines at most (100)." placeholder:"N" env:"-"`
	JSON   bool     `name:"json" help:"Print the routines as a JSON array." env:"-"`
}

// Run lists the stored routines, newest first.
func (c *listCommand) Run(ctx context.Context, g *globals, s streams) error {
	f := routine.RoutineFilter{Words: c.Words, Tag: c.Tag, Limit: cmp.Or(int(c.Limit), 100)}
	switch c.Status {
	case "":
	case "all":
		f.Statuses = []routine.Status{routine.StatusDraft, routine.StatusActive, routine.StatusArchived}
	default:
		f.Statuses = []routine.Status{routine.Status(c.Status)}
	}
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		rs, total, err := service.Routines(ctx, g.localPrincipal(), f)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.out, rs)
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tID\tSTATUS\tVERSION\tTOOL\tUPDATED")
		for _, r := range rs {
			tool := "-"
			if r.Published() {
				tool = r.ToolName
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", tableCell(r.Name), r.ID, r.Status, r.Version, tool, time.Unix(r.UpdatedAt, 0).UTC().Format(time.DateTime))
		}
		printOmitted(s, len(rs), total)
		return w.Flush()
	})
}

type showCommand struct {
	Routine string `arg:"" help:"The name or the id of a stored routine." placeholder:"NAME|ID"`
	Version count  `name:"at-version" help:"Show this version instead of the newest one." placeholder:"N" env:"-"`
	JSON    bool   `name:"json" help:"Print the whole stored routine, not only its definition." env:"-"`
}

// Run prints a routine's definition in the format that rote add accepts.
func (c *showCommand) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		r, err := findRoutine(ctx, service, g.localPrincipal(), c.Routine)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%s, %s, version %d, %s\n", r.ID, r.Status, r.Version, publication(r))
		if c.Version > 0 {
			v, err := service.Version(ctx, g.localPrincipal(), r.ID, int(c.Version))
			if err != nil {
				return err
			}
			if c.JSON {
				return printJSON(s.out, v)
			}
			return printJSON(s.out, v.Definition)
		}
		if c.JSON {
			return printJSON(s.out, r)
		}
		return printJSON(s.out, r.Definition)
	})
}

type executionsCommand struct {
	ID       string `arg:"" optional:"" help:"Show all of this execution." placeholder:"ID"`
	Routine  string `help:"Only executions of this routine." placeholder:"NAME|ID" env:"-"`
	Schedule string `help:"Only executions that this schedule started." placeholder:"ID" env:"-"`
	Status   string `help:"pending, running, completed or failed." enum:",pending,running,completed,failed" default:"" env:"-"`
	Limit    count  `help:"How many executions at most (20)." placeholder:"N" env:"-"`
	JSON     bool   `name:"json" help:"Print the executions as a JSON array." env:"-"`
}

// Run lists the executions of the organization, newest first, or prints one of
// them.
func (c *executionsCommand) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		if c.ID != "" {
			e, err := service.Execution(ctx, g.localPrincipal(), c.ID)
			if err != nil {
				return err
			}
			return printJSON(s.out, e)
		}
		f := routine.ExecutionFilter{ScheduleID: c.Schedule, Status: routine.ExecutionStatus(c.Status), Limit: cmp.Or(int(c.Limit), routine.DefaultPageLimit)}
		if c.Routine != "" {
			r, err := findRoutine(ctx, service, g.localPrincipal(), c.Routine)
			if err != nil {
				return err
			}
			f.RoutineID = r.ID
		}
		es, total, err := service.Executions(ctx, g.localPrincipal(), f)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.out, es)
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tROUTINE\tSTATUS\tSTARTED\tSECONDS\tERROR")
		for _, e := range es {
			seconds := "-"
			if e.DurationSeconds != nil {
				seconds = fmt.Sprintf("%.1f", *e.DurationSeconds)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, tableCell(e.RoutineName), e.Status,
				e.CreatedAt.UTC().Format(time.DateTime), seconds, cmp.Or(string(e.ErrorCode), "-"))
		}
		printOmitted(s, len(es), total)
		return w.Flush()
	})
}

// withDatabase calls use with the service of an existing database.
func withDatabase(ctx context.Context, g *globals, s streams, use func(*service.Service) error) error {
	return openService(ctx, g, s, mustExist, use)
}

// openService calls use with the service of a database.
func openService(ctx context.Context, g *globals, s streams, database databaseUse, use func(*service.Service) error) (err error) {
	a, err := openAppWithoutBrowser(ctx, g, s, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return use(a.service)
}

// findRoutine reads a stored routine by its id or name.
func findRoutine(ctx context.Context, service *service.Service, p routine.Principal, key string) (*routine.Routine, error) {
	find := service.RoutineNamed
	if strings.HasPrefix(key, "Routine_") {
		find = service.Routine
	}
	r, err := find(ctx, p, key)
	if routine.CodeOf(err) == routine.CodeNotFound {
		return nil, fmt.Errorf("%w: rote list --status all shows the stored routines", err)
	}
	return r, err
}

// tableCell truncates a text to one cell of a table, without line breaks.
func tableCell(text string) string {
	const most = 48
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' }), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// printOmitted prints to standard error how many items of a list were not
// printed.
func printOmitted(s streams, shown, total int) {
	if total > shown {
		counted, more := routine.NewTotal(total), ""
		if counted.TotalExact != nil {
			more = "more than "
		}
		fmt.Fprintf(s.err, "%d of %s%d are shown: raise --limit to see more\n", shown, more, counted.Total)
	}
}
