package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// once is Go code of tests: failsOnce reports whether it is called for the first
// time in this module with a name.
const once = `import ("os"; "testing")

var _ testing.T

func failsOnce(name string) bool {
	_, err := os.Stat("../once-" + name)
	_ = os.WriteFile("../once-" + name, nil, 0o600)
	return err != nil
}

`

// judged is what a rerunner says of the tests of a module.
func judged(t *testing.T, limit int, record string, tests map[string]string, args ...string) (string, bool) {
	t.Helper()
	dir := module(t, tests)
	flags, err := flagsOf(args)
	if err != nil {
		t.Fatal(err)
	}
	var events, out bytes.Buffer
	run := goTest(dir)
	if err := run(append([]string{"-vet=off", "./..."}, args...), func(r io.Reader) { _, _ = events.ReadFrom(r) }); err != nil {
		t.Fatal(err)
	}
	r := rerunner{out: &out, limit: limit, flags: flags, record: record, goTest: run}
	passed, err := r.report(&events)
	if err != nil {
		t.Fatal(err)
	}
	return withoutTimes(out.String()), passed
}

// Which failures are run again is decided by what the real go test prints.
func TestRerun(t *testing.T) {
	const notAgain = "No test is run once more: not only tests failed.\n"
	for _, row := range []reportRow{
		{name: "a test that passes the second time is flaky, and flags hold for the second run", passed: true,
			args: []string{"-short", "-timeout=5m", "-run=TestF|TestB"},
			tests: map[string]string{"b": once + `func TestB(*testing.T) {}`, "a": once + `func TestF(t *testing.T) {
	t.Run("a b/[c]|d", func(t *testing.T) { if failsOnce("f") || !testing.Short() { t.Error("it was slow") } })
	t.Run("other", func(t *testing.T) { if !failsOnce("other") { t.Error("the other ran again") } })
}`}, want: []string{"FAIL  m/a TestF/a_b/[c]|d in 0s\n", "\nOnce more, alone: m/a TestF/a_b/[c]|d\nok    m/a ",
				"\nFLAKY m/a TestF/a_b/[c]|d\n    m_test.go:14: it was slow\n"}},
		{name: "a panic after a failed test", want: []string{notAgain}, tests: map[string]string{"a": once + `func TestA(t *testing.T) { t.Error("wrong") }

func TestB(*testing.T) { panic("bad") }`}},
		{name: "a timeout after a failed test", args: []string{"-timeout=1s"}, want: []string{notAgain}, tests: map[string]string{
			"a": once + `func TestA(t *testing.T) { t.Error("wrong") }

func TestB(*testing.T) { select {} }`}},
		{name: "code that does not compile beside a failed test", want: []string{notAgain}, tests: map[string]string{
			"a": once + `func TestA(t *testing.T) { t.Error("wrong") }`, "b": "var x int = true"}},
		{name: "what TestMain finds after a failed test", want: []string{notAgain}, tests: map[string]string{"a": once + `func TestMain(m *testing.M) {
	m.Run()
	os.Stderr.WriteString("something is left\n")
	os.Exit(1)
}

func TestA(t *testing.T) { t.Error("wrong") }`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, passed := judged(t, 3, "", row.tests, row.args...)
			row.check(t, got, passed)
		})
	}
}

// eventsOf are what go test -json prints for one package, with the tests that
// have this outcome: pass, fail, skip, or race for a failure by a data race.
func eventsOf(pkg string, tests map[string]string) string {
	var s strings.Builder
	add := func(action, test, output string) {
		text, _ := json.Marshal(event{Action: action, Package: pkg, Test: test, Output: output})
		s.Write(append(text, '\n'))
	}
	end := "pass"
	for _, test := range slices.Sorted(maps.Keys(tests)) {
		add("run", test, "")
		action := tests[test]
		if action == "race" {
			add("output", test, "    testing.go:1712: race detected during execution of test\n")
			action = "fail"
		}
		add(action, test, "")
		if action == "fail" {
			end = action
		}
	}
	if end == "fail" {
		add("output", "", "FAIL\n")
		add("output", "", "FAIL\t"+pkg+"\t0.01s\n")
	}
	add(end, "", "")
	return s.String()
}

func TestRerunDecides(t *testing.T) {
	fail := func(names ...string) map[string]string {
		tests := map[string]string{"TestGood": "pass"}
		for _, name := range names {
			tests[name] = "fail"
		}
		return tests
	}
	for _, row := range []struct {
		name   string
		limit  int
		first  string
		second []map[string]string // outcomes of the second runs
		passed bool
		want   string
	}{
		{"all pass", 3, eventsOf("m/a", fail()), nil, true, ""},
		{"without a limit", 0, eventsOf("m/a", fail("TestA")), nil, false, ""},
		{"passes", 3, eventsOf("m/a", fail("TestA")), []map[string]string{{"TestA": "pass"}}, true, "FLAKY m/a TestA\n"},
		{"as many as the limit", 2, eventsOf("m/a", fail("TestA")) + eventsOf("m/b", fail("TestB")),
			[]map[string]string{{"TestA": "pass"}, {"TestB": "pass"}}, true, "FLAKY m/a TestA\nFLAKY m/b TestB\n\n2 of 2 failed tests passed the second time.\n"},
		{"more than the limit", 1, eventsOf("m/a", fail("TestA", "TestB")), nil, false, "No test is run once more: at most 1 may fail, and 0 did before.\n"},
		{"fails again", 3, eventsOf("m/a", fail("TestA")), []map[string]string{{"TestA": "fail"}}, false, ""},
		{"one of two fails again", 3, eventsOf("m/a", fail("TestA", "TestB")),
			[]map[string]string{{"TestA": "fail"}, {"TestB": "pass"}}, false, "FLAKY m/a TestB\n\n1 of 2 failed tests passed the second time.\n"},
		{"is skipped", 3, eventsOf("m/a", fail("TestA")), []map[string]string{{"TestA": "skip"}}, false, ""},
		{"is not there", 3, eventsOf("m/a", fail("TestA/x")), []map[string]string{{"TestA": "pass"}}, false, ""},
		{"does not compile", 3, eventsOf("m/a", fail("TestA")), []map[string]string{nil}, false, ""},
		{"a race in the second run", 3, eventsOf("m/a", fail("TestA")), []map[string]string{{"TestA": "race"}}, false, ""},
		{"a race", 3, eventsOf("m/a", map[string]string{"TestA": "race"}), nil, false, "No test is run once more: not only tests failed.\n"},
		{"no package", 3, "", nil, false, "No test is run once more: not only tests failed.\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			second := row.second
			r := rerunner{out: &out, limit: row.limit, flags: []string{"-whole"}, goTest: func(args []string, read func(io.Reader)) error {
				if len(second) == 0 {
					return fmt.Errorf("run again: %s", args)
				}
				if args[0] != "-count=1" || args[2] != "-whole" || !strings.HasPrefix(args[3], "-run=^Test") {
					t.Errorf("arguments %q", args)
				}
				outcome := eventsOf(args[1], second[0])
				if second[0] == nil {
					outcome = `{"Action":"fail","Package":"` + args[1] + `"}` + "\n"
				}
				read(strings.NewReader(outcome))
				second = second[1:]
				return nil
			}}
			passed, err := r.report(strings.NewReader(row.first))
			if passed != row.passed || err != nil || len(second) > 0 || !strings.Contains(out.String(), row.want) ||
				strings.Contains(out.String(), "FLAKY") != strings.Contains(row.want, "FLAKY") {
				t.Errorf("passed: %v (%v), want %v and %q\n%s", passed, err, row.passed, row.want, &out)
			}
		})
	}
}

// The limit counts the flaky tests of all runs that share a record.
func TestRecordOfFlakyTests(t *testing.T) {
	record := filepath.Join(t.TempDir(), "flaky")
	first := strings.Replace(eventsOf("m/a", map[string]string{"TestA": "fail"}), "\n",
		"\n"+`{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:1: FLAKY itself\n"}`+"\n", 1)
	want := ""
	for run := range 3 {
		var out bytes.Buffer
		r := rerunner{out: &out, limit: 2, record: record, goTest: func(_ []string, read func(io.Reader)) error {
			read(strings.NewReader(eventsOf("m/a", map[string]string{"TestA": "pass"})))
			return nil
		}}
		passed, err := r.report(strings.NewReader(first))
		if passed != (run < 2) || err != nil {
			t.Errorf("run %d passed: %v (%v)\n%s", run, passed, err, &out)
		}
		if run < 2 {
			want += "FLAKY m/a TestA\n    a_test.go:1: FLAKY itself\n"
		} else if !strings.Contains(out.String(), "at most 2 may fail, and 2 did before") {
			t.Error(&out)
		}
		if text, err := os.ReadFile(record); err != nil || string(text) != want {
			t.Errorf("recorded %q (%v), want %q", text, err, want)
		}
	}
}

func TestFlagsOf(t *testing.T) {
	got, err := flagsOf([]string{"-race", "-timeout=30m", "./browser", ".", "m/a", "./...", "-run=^TestA$", "--run=x", "-whole"})
	if want := []string{"-race", "-timeout=30m", "-whole"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, args := range [][]string{{"-timeout", "30m", "./..."}, {"./browser", "-soak", "60"}, {"-run", "TestA"}} {
		if got, err := flagsOf(args); err == nil {
			t.Errorf("%q: %q, want an error", args, got)
		}
	}
}
