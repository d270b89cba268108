package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// rerunner runs failed tests a second time.
type rerunner struct {
	out    io.Writer
	limit  int      // how many failed tests are run once more; 0: none
	flags  []string // of go test, for the second run
	record string   // path of a file that collects the flaky tests of several runs, or empty
	goTest func(args []string, read func(io.Reader)) error
}

// report prints the events of a run of go test and reports whether all packages
// passed, counting failed tests that pass in a second run.
func (r *rerunner) report(events io.Reader) (bool, error) {
	s, err := report(events, r.out, progressEvery)
	if err != nil || s.allPassed() || r.limit == 0 {
		return err == nil && s.allPassed(), err
	}
	if len(s.final) > 0 || len(s.running) > 0 || len(s.failed) == 0 {
		fmt.Fprintln(r.out, "No test is run once more: not only tests failed.")
		return false, nil
	}
	before, err := r.recorded()
	if err != nil {
		return false, err
	}
	if before+len(s.failed) > r.limit {
		fmt.Fprintf(r.out, "No test is run once more: at most %d may fail, and %d did before.\n", r.limit, before)
		return false, nil
	}
	var flaky []failure
	for _, f := range s.failed {
		passed, err := r.passes(f.testName)
		if err != nil {
			return false, err
		}
		if passed {
			flaky = append(flaky, f)
		}
	}
	for _, f := range flaky {
		fmt.Fprint(r.out, flakyReport(f))
	}
	fmt.Fprintf(r.out, "\n%d of %d failed tests passed the second time.\n", len(flaky), len(s.failed))
	return len(flaky) == len(s.failed), r.saveFlaky(flaky)
}

// passes runs one test again, alone, and reports whether it passed. A skipped
// or missing test did not pass.
func (r *rerunner) passes(name testName) (bool, error) {
	fmt.Fprintf(r.out, "\nOnce more, alone: %s\n", name)
	args := append([]string{"-count=1", name.pkg}, r.flags...)
	var s *summary
	var failure error
	err := r.goTest(append(args, "-run="+runPattern(name.test)), func(events io.Reader) {
		s, failure = report(events, r.out, progressEvery)
	})
	if err := errors.Join(err, failure); err != nil {
		return false, err
	}
	return s.allPassed() && s.passed[name], nil
}

// flakyReport returns the message about a test that failed once and then
// passed.
func flakyReport(f failure) string { return fmt.Sprintf("FLAKY %s\n%s", f.testName, f.output) }

// recorded returns how many flaky tests earlier runs recorded.
func (r *rerunner) recorded() (int, error) {
	if r.record == "" {
		return 0, nil
	}
	text, err := os.ReadFile(r.record)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return len(regexp.MustCompile(`(?m)^FLAKY `).FindAll(text, -1)), err
}

// saveFlaky records flaky tests for later runs.
func (r *rerunner) saveFlaky(flaky []failure) error {
	if r.record == "" || len(flaky) == 0 {
		return nil
	}
	var text bytes.Buffer
	for _, f := range flaky {
		text.WriteString(flakyReport(f))
	}
	file, err := os.OpenFile(r.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text.Bytes())
	return errors.Join(err, file.Close())
}

// runPattern returns the -run pattern for one test: one pattern for each part
// of its name.
func runPattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// flagsOf returns the flags among the arguments of go test, without packages
// and -run. Values of flags must follow an equals sign, because they would be
// taken for packages otherwise.
func flagsOf(args []string) ([]string, error) {
	var flags []string
	for _, arg := range args {
		isFlag := strings.HasPrefix(arg, "-")
		switch {
		case !isFlag && arg != "." && !strings.Contains(arg, "/"):
			return nil, fmt.Errorf("%s is neither a flag nor a package: write flags as -name=value and packages as a path", arg)
		case isFlag && !strings.HasPrefix(strings.TrimLeft(arg, "-"), "run="):
			flags = append(flags, arg)
		}
	}
	return flags, nil
}
