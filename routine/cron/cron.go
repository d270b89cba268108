// Package cron says when a schedule is due: it reads cron expressions, and finds the times
// that they select on the clocks of a time zone.
//
// On the days on which the clocks of a zone change, an expression with chosen hours selects
// each of its times once. A time that the clocks skip is taken as much later as they skip:
// where they go from 02:00 to 03:00, 02:30 becomes 03:30. Of a time that the clocks show
// twice, the first counts. An expression with every hour selects the times of every real
// hour, so that its interval stays the same.
package cron

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines and containers without time zones

	robfig "github.com/robfig/cron/v3"

	"rote/routine"
)

// maxText is the limit of an expression or a zone in bytes.
const maxText = 200

// field is one of the five fields of an expression.
type field struct {
	name   string
	parser robfig.Parser
	// values and example are for messages.
	values, example string
}

var fields = []field{
	{"minute", robfig.NewParser(robfig.Minute), "0 to 59", `"30 7 * * *" for 7:30 every day`},
	{"hour", robfig.NewParser(robfig.Hour), "0 to 23", `"0 7 * * *" for 7:00 every day`},
	{"day of the month", robfig.NewParser(robfig.Dom), "1 to 31", `"0 7 1 * *" for 7:00 on the first of the month`},
	{"month", robfig.NewParser(robfig.Month), "1 to 12 or jan to dec", `"0 7 1 jan *" for 7:00 on the first of January`},
	{"day of the week", robfig.NewParser(robfig.Dow), "0 to 6 or sun to sat, and 0 is Sunday", `"0 7 * * mon-fri" for 7:00 on working days`},
}

var parser = robfig.NewParser(robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow | robfig.Descriptor)

// names are the expressions that have a name. All others that begin with @ are refused: one
// with an interval would have no fixed times.
const names = "@yearly, @monthly, @weekly, @daily, @hourly"

// Times are the times that an expression selects in a zone.
type Times struct {
	spec *robfig.SpecSchedule
	zone *time.Location
}

// Parse reads an expression of five fields, or one of the names of Vixie's cron such as
// @daily, and the IANA name of a time zone; an empty zone is UTC. It returns the problems
// of both, with the pointers /cron and /zone. An expression that selects no time, such as
// the 30th of February, is a problem.
func Parse(expression, zone string) (*Times, []routine.Problem) {
	var problems []routine.Problem
	location, err := parseZone(zone)
	if err != nil {
		problems = append(problems, routine.Problem{Pointer: "/zone", Code: "zone", Message: err.Error()})
	}
	spec, err := parseExpression(expression)
	if err != nil {
		problems = append(problems, routine.Problem{Pointer: "/cron", Code: "cron", Message: err.Error()})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	t := &Times{spec, location}
	if t.Next(time.Now()).IsZero() {
		return nil, []routine.Problem{{Pointer: "/cron", Code: "never",
			Message: fmt.Sprintf("cron %s selects no time in the next five years: check the day of the month and the month", routine.Quote(expression))}}
	}
	return t, nil
}

// parseZone returns the zone with an IANA name.
func parseZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	location, err := time.LoadLocation(name)
	// Local is the zone of this machine, which may be another tomorrow.
	if err != nil || name == "Local" || len(name) > maxText {
		return nil, fmt.Errorf("zone %s is not known: give the IANA name of a time zone, as in Europe/Berlin or UTC", routine.Quote(routine.Truncate(name, 80)))
	}
	return location, nil
}

// parseExpression reads an expression. Its errors name the field that is wrong.
func parseExpression(text string) (*robfig.SpecSchedule, error) {
	shown := routine.Quote(routine.Truncate(text, 80))
	parts := strings.Fields(text)
	switch {
	case len(text) > maxText:
		return nil, fmt.Errorf("cron has more than %d bytes", maxText)
	case strings.Contains(text, "TZ="):
		return nil, fmt.Errorf("cron %s has a time zone in it: put the zone into the field zone", shown)
	case len(parts) == 1 && strings.HasPrefix(text, "@"):
		parsed, err := parser.Parse(text)
		if spec, ok := parsed.(*robfig.SpecSchedule); err == nil && ok {
			return spec, nil
		}
		return nil, fmt.Errorf("cron %s is not known: there are %s, and expressions of five fields", shown, names)
	case strings.HasPrefix(text, "@every"):
		return nil, fmt.Errorf(`cron %s is not supported: write the times, as in "*/15 * * * *" for every 15 minutes`, shown)
	case len(parts) != len(fields):
		return nil, fmt.Errorf("cron %s has %d fields, and it needs 5: minute, hour, day of the month, month, day of the week, as in %s; "+
			"or one of %s", shown, len(parts), fields[1].example, names)
	}
	for i, f := range fields {
		if _, err := f.parser.Parse(parts[i]); err != nil {
			return nil, fmt.Errorf("the %s %s in cron is wrong: it is %s, as in %s", f.name, routine.Quote(routine.Truncate(parts[i], 80)), f.values, f.example)
		}
	}
	parsed, err := parser.Parse(strings.Join(parts, " "))
	spec, ok := parsed.(*robfig.SpecSchedule)
	if err != nil || !ok {
		return nil, fmt.Errorf("cron %s cannot be read: write it as in %s", shown, fields[1].example)
	}
	return spec, nil
}

// everyHour is the set of all hours in a SpecSchedule.
const everyHour = 1<<24 - 1

// maxSkip is more than the clocks of any zone have skipped at once: Samoa skipped a day.
const maxSkip = 25 * time.Hour

// Next returns the first selected time after a time, in UTC; the zero time if there is none
// in five years.
func (t *Times) Next(after time.Time) time.Time {
	if t.spec.Hour&everyHour == everyHour {
		return utc(t.onClock(t.zone).Next(after.In(t.zone)))
	}
	// The clock of the zone is read as if it were one of UTC, which never changes.
	clock, limit := wall(after.In(t.zone)), after.AddDate(6, 0, 0)
	// Just after a change, times that it skips may still come, as much later as it skips.
	if change, _ := after.In(t.zone).ZoneBounds(); !change.IsZero() && after.Sub(change) < maxSkip {
		if before := wall(change.Add(-time.Nanosecond).In(t.zone)); before.Before(clock) {
			clock = before
		}
	}
	for {
		clock = t.onClock(time.UTC).Next(clock)
		if clock.IsZero() || clock.After(limit) {
			return time.Time{}
		}
		if at := instant(clock, t.zone); at.After(after) {
			return at
		}
	}
}

// onClock returns the expression for the clock of a location.
func (t *Times) onClock(location *time.Location) *robfig.SpecSchedule {
	spec := *t.spec
	spec.Location = location
	return &spec
}

// utc converts a time to UTC and keeps the zero time.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// wall returns the time in UTC at which a clock of UTC shows what the clock of t shows.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instant returns the time in UTC at which the clocks of a zone first show what a clock of
// UTC shows at clock. If they never do, because they skip it, it is taken as much later as
// they skip.
func instant(clock time.Time, zone *time.Location) time.Time {
	at := time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, zone)
	// That is one of two times around a change of the clocks. With the offset from before
	// the change it is the first of a time that is shown twice, and the later one of a time
	// that is skipped.
	start, end := at.ZoneBounds()
	for _, change := range []time.Time{start, end} {
		if change.IsZero() {
			continue
		}
		_, before := change.Add(-time.Second).Zone()
		first := clock.Add(-time.Duration(before) * time.Second)
		shown := wall(first.In(zone))
		if shown.Equal(clock) && first.Before(change) && first.Before(at) {
			return first.UTC() // shown twice
		}
		if skipped := !wall(at).Equal(clock); skipped && !first.Before(change) && shown.After(clock) {
			return first.UTC()
		}
	}
	return at.UTC()
}
