package cron

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rote/routine/routinetest/seeded"
)

func mustParse(t interface{ Fatal(...any) }, expression, zone string) *Times {
	times, problems := Parse(expression, zone)
	if problems != nil {
		t.Fatal(problems)
	}
	return times
}

// Each row has the times after one, on the clocks of the zone with its offset.
func TestNext(t *testing.T) {
	for _, row := range []struct {
		name, expression, zone, after string
		want                          []string
	}{
		{"each day", "0 7 * * *", "Europe/Berlin", "2026-05-01T07:00:00+02:00", []string{"2026-05-02T07:00:00+02:00", "2026-05-03T07:00:00+02:00"}},
		{"the time itself does not count", "0 7 * * *", "", "2026-05-01T06:59:59.999999Z", []string{"2026-05-01T07:00:00Z", "2026-05-02T07:00:00Z"}},
		{"a name", "@monthly", "Asia/Tokyo", "2026-05-01T00:00:00+09:00", []string{"2026-06-01T00:00:00+09:00"}},
		{"days of the week", "0 9 * * mon-fri", "America/New_York", "2026-05-01T10:00:00-04:00", []string{"2026-05-04T09:00:00-04:00"}},
		{"a leap day", "0 0 29 2 *", "", "2026-01-01T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},

		{"a skipped time is later by what is skipped", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+01:00",
			[]string{"2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"after the change and before what a skipped time becomes", "30 2 * * *", "Europe/Berlin", "2026-03-29T03:10:00+02:00",
			[]string{"2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"the first skipped time", "0 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"}},
		{"a skipped time and the one that it becomes are one", "30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00+01:00",
			[]string{"2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"midnight is skipped", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00-04:00",
			[]string{"2026-09-06T01:00:00-03:00", "2026-09-07T00:00:00-03:00"}},
		{"a whole day is skipped", "0 12 * * *", "Pacific/Apia", "2011-12-29T13:00:00-10:00",
			[]string{"2011-12-31T12:00:00+14:00", "2012-01-01T12:00:00+14:00"}},
		{"a time that comes twice counts once", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"from the second of both", "30 2 * * *", "Europe/Berlin", "2026-10-25T02:10:00+01:00", []string{"2026-10-26T02:30:00+01:00"}},
		{"from between both", "45 2 * * *", "Europe/Berlin", "2026-10-25T02:50:00+02:00", []string{"2026-10-26T02:45:00+01:00"}},
		{"several that come twice", "0,30 1 * * *", "America/New_York", "2026-10-31T12:00:00-04:00",
			[]string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-02T01:00:00-05:00"}},
		{"half an hour comes twice", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00",
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"half an hour is skipped", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30",
			[]string{"2026-10-04T02:45:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"every hour goes through a skipped one", "0 * * * *", "Europe/Berlin", "2026-03-29T00:30:00+01:00",
			[]string{"2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"}},
		{"every hour goes through one that comes twice", "30 * * * *", "Europe/Berlin", "2026-10-25T01:30:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			times := mustParse(t, row.expression, row.zone)
			at, err := time.Parse(time.RFC3339Nano, row.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range row.want {
				at = times.Next(at)
				wanted, err := time.Parse(time.RFC3339, want)
				if err != nil {
					t.Fatal(err)
				}
				if !at.Equal(wanted) || at.Location() != time.UTC {
					t.Fatalf("%v, want %v", at, wanted.UTC())
				}
			}
		})
	}
}

func TestProblems(t *testing.T) {
	for _, row := range []struct{ expression, zone, pointer, want string }{
		{"60 7 * * *", "", "/cron", `the minute "60" in cron is wrong: it is 0 to 59, as in "30 7 * * *"`},
		{"0 25 * * *", "", "/cron", `the hour "25" in cron is wrong: it is 0 to 23, as in "0 7 * * *" for 7:00 every day`},
		{"0 7 0 * *", "", "/cron", `the day of the month "0" in cron is wrong: it is 1 to 31`},
		{"0 7 1 13 *", "", "/cron", `the month "13" in cron is wrong: it is 1 to 12 or jan to dec`},
		{"0 7 * * 7", "", "/cron", `the day of the week "7" in cron is wrong: it is 0 to 6 or sun to sat, and 0 is Sunday`},
		{"0 7 * * funday", "", "/cron", `the day of the week "funday" in cron is wrong`},
		{"*/0 * * * *", "", "/cron", `the minute "*/0" in cron is wrong`},
		{"0 7 * *", "", "/cron", `has 4 fields, and it needs 5`},
		{"0 0 7 * * *", "", "/cron", `has 6 fields, and it needs 5`},
		{"", "", "/cron", `cron "" has 0 fields`},
		{"@reboot", "", "/cron", `cron "@reboot" is not known: there are @yearly`},
		{"@every 1s", "", "/cron", `cron "@every 1s" is not supported: write the times`},
		{"TZ=Asia/Tokyo 0 7 * * *", "", "/cron", "put the zone into the field zone"},
		{"CRON_TZ=", "", "/cron", "put the zone into the field zone"},
		{"0 7 30 2 *", "", "/cron", `cron "0 7 30 2 *" selects no time in the next five years`},
		{"0 7 31 4,6,9,11 *", "Europe/Berlin", "/cron", "selects no time"},
		{strings.Repeat("0,", 101) + " 1 * * *", "", "/cron", "more than 200 bytes"},
		{"0 7 * * *", "Europe/Atlantis", "/zone", `zone "Europe/Atlantis" is not known: give the IANA name of a time zone`},
		{"0 7 * * *", "Local", "/zone", "is not known"},
		{"0 7 * * *", "../etc/passwd", "/zone", "is not known"},
	} {
		_, problems := Parse(row.expression, row.zone)
		if len(problems) != 1 || problems[0].Pointer != row.pointer || !strings.Contains(problems[0].Message, row.want) {
			t.Errorf("%q in %q: %v, want %s %s", row.expression, row.zone, problems, row.pointer, row.want)
		}
	}
	if _, problems := Parse("x", "y"); len(problems) != 2 {
		t.Errorf("both wrong: %v", problems)
	}
}

// Whatever the zone, times rise, and each is one that the clocks show or one that they skip.
func TestNextRises(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "Asia/Tehran"}
	expressions := []string{"30 2 * * *", "0 0 * * *", "15,45 1-3 * * *", "*/20 * * * *", "59 23 * * 6", "0 */2 * * *", "1 0 1 * *"}
	seeded.Check(t, func(t *rapid.T) {
		times := mustParse(t, rapid.SampledFrom(expressions).Draw(t, "expression"), rapid.SampledFrom(zones).Draw(t, "zone"))
		at := time.Unix(rapid.Int64Range(1_500_000_000, 2_000_000_000).Draw(t, "after"), 0)
		for range 20 {
			next := times.Next(at)
			if !next.After(at) {
				t.Fatalf("%v after %v", next, at)
			}
			shown := next.In(times.zone)
			if !times.Next(next.Add(-time.Nanosecond)).Equal(next) {
				t.Fatalf("%v is not the next after the moment before it", shown)
			}
			// A time is selected on its own clock, or the clocks have changed shortly before.
			start, _ := shown.ZoneBounds()
			selected := times.onClock(time.UTC).Next(wall(shown).Add(-time.Second)).Equal(wall(shown))
			if !selected && (start.IsZero() || next.Sub(start) > 2*time.Hour) {
				t.Fatalf("%v is not selected", shown)
			}
			at = next
		}
	})
}
