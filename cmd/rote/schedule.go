package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"rote/routine"
	"rote/routine/service"
)

type scheduleCommand struct {
	Add    scheduleAdd    `cmd:"" help:"Run a stored routine at the times of a cron expression. Runs need rote serve."`
	List   scheduleList   `cmd:"" help:"List the schedules."`
	Show   scheduleShow   `cmd:"" help:"Print a schedule."`
	Pause  schedulePause  `cmd:"" help:"Start no more runs until the schedule is resumed."`
	Resume scheduleResume `cmd:"" help:"Start runs again, from the next time on."`
	Remove scheduleRemove `cmd:"" help:"Delete a schedule. Its executions stay."`
}

type scheduleAdd struct {
	Routine  string        `arg:"" help:"The name or the id of a stored routine." placeholder:"NAME|ID"`
	Cron     string        `arg:"" help:"Minute, hour, day of month, month, day of week, as in '0 7 * * mon-fri'; or @daily, for example." placeholder:"CRON"`
	Zone     string        `help:"IANA time zone of the times, as in Europe/Berlin." default:"UTC" env:"-"`
	Param    []string      `short:"p" help:"Parameter; =@FILE reads a file, =- stdin; =@@TEXT is @TEXT. Repeatable." placeholder:"NAME=VALUE" sep:"none" env:"-"`
	Version  count         `name:"at-version" help:"Run this version instead of the newest one." placeholder:"N" env:"-"`
	Timeout  time.Duration `help:"Timeout of each run, 1s to 300s." default:"60s" env:"-"`
	Missed   string        `help:"What happens to a run that could not be started in time: run_once or skip." default:"run_once" enum:"run_once,skip" env:"-"`
	Callback string        `name:"callback-url" help:"Receives a webhook when a run ends." placeholder:"URL" env:"-"`
	Notify   string        `help:"Ends that --callback-url receives: always, on_failure, on_change." default:"always" enum:"always,on_failure,on_change" env:"-"`
	JSON     bool          `name:"json" help:"Print the schedule as JSON." env:"-"`
}

// Run creates a schedule. Its runs have the rights of the local user.
func (c *scheduleAdd) Run(ctx context.Context, g *globals, s streams) error {
	values, err := parameterTexts(c.Param, valueReader{in: s.in, limit: int64(g.MaxBody)})
	if err != nil {
		return err
	}
	settings := map[string]any{"cron": c.Cron, "zone": c.Zone, "parameters": values,
		"timeout_seconds": c.Timeout.Seconds(), "missed": c.Missed, "notify": c.Notify}
	if c.Version > 0 {
		settings["routine_version"] = int(c.Version)
	}
	if c.Callback != "" {
		settings["callback_url"] = c.Callback
	}
	return withSchedules(ctx, g, s, func(core *service.Service) error {
		r, err := findRoutine(ctx, core, g.localPrincipal(), c.Routine)
		if err != nil {
			return err
		}
		settings["routine_id"] = r.ID
		text, err := json.Marshal(settings)
		if err != nil {
			return err
		}
		sc, err := core.CreateSchedule(ctx, g.localPrincipal(), text, service.Idempotency{})
		if err != nil {
			return printAllProblems(s, err)
		}
		if c.JSON {
			return printJSON(s.out, sc)
		}
		return printSchedule(s, "created", sc)
	})
}

// printAllProblems prints each of several problems to standard error.
func printAllProblems(s streams, err error) error {
	var ours *routine.Error
	if !errors.As(err, &ours) || len(ours.Problems) < 2 {
		return err
	}
	for _, p := range ours.Problems {
		fmt.Fprintf(s.err, "rote: %s\n", p)
	}
	return errReported
}

// printSchedule prints which change was made to a schedule and when it is due next.
func printSchedule(s streams, did string, sc *routine.Schedule) error {
	_, err := fmt.Fprintf(s.out, "%s %s, next run %s\n", did, sc.ID, nextRun(sc))
	return err
}

// nextRun returns when a schedule is due next, on the clock of its zone.
func nextRun(sc *routine.Schedule) string {
	if sc.NextAt == nil {
		return "paused"
	}
	at := sc.NextAt.UTC()
	if zone, err := time.LoadLocation(sc.Zone); err == nil {
		at = at.In(zone)
	}
	return at.Format("2006-01-02 15:04 MST")
}

type scheduleList struct {
	Routine string `help:"Only schedules of this routine." placeholder:"NAME|ID" env:"-"`
	Limit   count  `help:"How many schedules at most (100)." placeholder:"N" env:"-"`
	JSON    bool   `name:"json" help:"Print the schedules as a JSON array." env:"-"`
}

// Run lists the schedules of the organization, newest first.
func (c *scheduleList) Run(ctx context.Context, g *globals, s streams) error {
	return withSchedules(ctx, g, s, func(service *service.Service) error {
		f := routine.ScheduleFilter{Limit: cmp.Or(int(c.Limit), 100)}
		if c.Routine != "" {
			r, err := findRoutine(ctx, service, g.localPrincipal(), c.Routine)
			if err != nil {
				return err
			}
			f.RoutineID = r.ID
		}
		list, total, err := service.Schedules(ctx, g.localPrincipal(), f)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.out, list)
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tROUTINE\tCRON\tZONE\tNEXT RUN\tLAST STATUS\tLAST SKIP")
		for _, sc := range list {
			skip := "-"
			if sc.LastSkip != nil {
				skip = sc.LastSkip.At.UTC().Format(time.DateTime) + " " + sc.LastSkip.Reason
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sc.ID, sc.RoutineID, tableCell(sc.Cron), sc.Zone, nextRun(sc), cmp.Or(string(sc.LastStatus), "-"), skip)
		}
		printOmitted(s, len(list), total)
		return w.Flush()
	})
}

type scheduleShow struct {
	ID string `arg:"" help:"The id of a schedule." placeholder:"ID"`
}

// Run prints a schedule as JSON, with secret parameters masked.
func (c *scheduleShow) Run(ctx context.Context, g *globals, s streams) error {
	return withSchedules(ctx, g, s, func(service *service.Service) error {
		sc, err := service.Schedule(ctx, g.localPrincipal(), c.ID)
		if err != nil {
			return withScheduleList(err)
		}
		return printJSON(s.out, sc)
	})
}

type schedulePause struct {
	ID string `arg:"" help:"The id of a schedule." placeholder:"ID"`
}

// Run pauses a schedule.
func (c *schedulePause) Run(ctx context.Context, g *globals, s streams) error {
	return enableSchedule(ctx, g, s, c.ID, "paused", false)
}

type scheduleResume struct {
	ID string `arg:"" help:"The id of a schedule." placeholder:"ID"`
}

// Run resumes a schedule. Its runs have the rights of the local user from then on.
func (c *scheduleResume) Run(ctx context.Context, g *globals, s streams) error {
	return enableSchedule(ctx, g, s, c.ID, "resumed", true)
}

func enableSchedule(ctx context.Context, g *globals, s streams, id, did string, enabled bool) error {
	return withSchedules(ctx, g, s, func(service *service.Service) error {
		sc, err := service.PatchSchedule(ctx, g.localPrincipal(), id, fmt.Appendf(nil, `{"enabled": %t}`, enabled))
		if err != nil {
			return printAllProblems(s, withScheduleList(err))
		}
		return printSchedule(s, did, sc)
	})
}

type scheduleRemove struct {
	ID string `arg:"" help:"The id of a schedule." placeholder:"ID"`
}

// Run deletes a schedule.
func (c *scheduleRemove) Run(ctx context.Context, g *globals, s streams) error {
	return withSchedules(ctx, g, s, func(service *service.Service) error {
		if err := service.DeleteSchedule(ctx, g.localPrincipal(), c.ID); err != nil {
			return withScheduleList(err)
		}
		_, err := fmt.Fprintf(s.out, "removed %s\n", c.ID)
		return err
	})
}

// withScheduleList adds to the error of an unknown schedule where the ids are.
func withScheduleList(err error) error {
	if routine.CodeOf(err) == routine.CodeNotFound {
		return fmt.Errorf("%w: rote schedule list shows the schedules", err)
	}
	return err
}

// withSchedules calls use with the service of an existing database, which can check callback
// URLs but sends no webhooks itself.
func withSchedules(ctx context.Context, g *globals, s streams, use func(*service.Service) error) (err error) {
	policy, err := g.egressPolicy()
	if err != nil {
		return err
	}
	a, err := newApp(ctx, g, s, service.Config{Sender: webhookSender{policy}, Jobs: noJobs{}, Browser: noBrowser{}}, mustExist,
		&runFlags{DrainTime: duration(defaultDrainTime)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return use(a.service)
}
