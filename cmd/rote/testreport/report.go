package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// event is one line of go test -json, as go doc test2json describes it.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build
	Test       string // empty: the event is about the package
	Elapsed    float64
	Output     string
}

// testName names one test of one package.
type testName struct{ pkg, test string }

func (n testName) String() string { return n.pkg + " " + n.test }

// failure is a failed test and its output.
type failure struct {
	testName
	output string
}

// suite is a package whose tests are running.
type suite struct {
	began   time.Time
	ended   int                         // tests that have ended, without the parents of others
	running map[string]time.Time        // when each test began that has not ended
	parents map[string]bool             // tests that have subtests
	output  map[string]*strings.Builder // of each test that has not ended, and of the package itself under ""
	race    bool                        // the race detector found a race in a test
}

// summary is the state of a run of go test so far.
type summary struct {
	out     io.Writer
	began   time.Time
	running map[string]*suite
	builds  map[string]*strings.Builder // what the compiler says, by import path

	packages int
	passed   map[testName]bool
	failed   []failure // without the parents of others
	broken   []string  // packages that failed
	final    []string  // those of them that failed by more than failed tests
	skipped  map[string]int
}

// report reads the events of a run of go test and prints a summary for people,
// at least one line in each interval.
func report(in io.Reader, out io.Writer, interval time.Duration) (*summary, error) {
	s := &summary{out: out, began: time.Now(), running: map[string]*suite{}, builds: map[string]*strings.Builder{},
		passed: map[testName]bool{}, skipped: map[string]int{}}
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	silence := time.NewTimer(interval)
	defer silence.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				s.finish()
				err := <-ended
				if errors.Is(err, io.EOF) {
					err = nil
				}
				return s, err
			}
			if s.handleLine(line) {
				silence.Reset(interval)
			}
		case <-silence.C:
			s.progress()
			silence.Reset(interval)
		}
	}
}

// handleLine processes one line of the input and reports whether it printed
// anything.
func (s *summary) handleLine(line []byte) bool {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" { // of the go command itself
		fmt.Fprintf(s.out, "%s", line)
		return true
	}
	switch {
	case e.Action == "build-output":
		if s.builds[e.ImportPath] == nil {
			s.builds[e.ImportPath] = &strings.Builder{}
		}
		s.builds[e.ImportPath].WriteString(e.Output)
		return false
	case e.Action == "build-fail":
		fmt.Fprint(s.out, text(s.builds[e.ImportPath]))
		return true
	case e.Package == "":
		return false
	case e.Test == "":
		return s.packageEvent(e)
	default:
		return s.testEvent(e)
	}
}

func (s *summary) suite(pkg string) *suite {
	p := s.running[pkg]
	if p == nil {
		p = &suite{began: time.Now(), running: map[string]time.Time{}, parents: map[string]bool{}, output: map[string]*strings.Builder{}}
		s.running[pkg] = p
	}
	return p
}

// recordOutput keeps a line of output in case its test fails.
func (p *suite) recordOutput(test, line string) {
	if strings.HasPrefix(line, "=== ") { // what go test -v says about the order of tests
		return
	}
	if p.output[test] == nil {
		p.output[test] = &strings.Builder{}
	}
	p.output[test].WriteString(line)
}

func (s *summary) packageEvent(e event) bool {
	p := s.suite(e.Package)
	switch e.Action {
	case "output":
		p.recordOutput("", e.Output)
		return false
	case "pass", "fail", "skip":
	default:
		return false
	}
	delete(s.running, e.Package)
	s.packages++
	switch e.Action {
	case "skip": // it has no tests
		return false
	case "fail":
		s.broken = append(s.broken, e.Package)
		if !s.onlyTestsFailed(e.Package, p) {
			s.final = append(s.final, e.Package)
		}
		own := text(p.output[""])
		delete(p.output, "")
		for _, test := range slices.Sorted(maps.Keys(p.output)) { // of tests that have not ended
			fmt.Fprint(s.out, p.output[test])
		}
		fmt.Fprint(s.out, own)
	default:
		cached := ""
		if strings.Contains(text(p.output[""]), "(cached)") {
			cached = ", cached"
		}
		fmt.Fprintf(s.out, "ok    %-36s %4d tests in %.1fs%s\n", e.Package, p.ended, e.Elapsed, cached)
	}
	return true
}

func (s *summary) testEvent(e event) bool {
	p := s.suite(e.Package)
	switch e.Action {
	case "pause": // until the tests that are not parallel have ended
		delete(p.running, e.Test)
		return false
	case "cont":
		p.running[e.Test] = time.Now()
		return false
	case "run":
		p.running[e.Test] = time.Now()
		for at, c := range e.Test { // the name of a subtest may have a slash, too
			if c == '/' {
				p.parents[e.Test[:at]] = true
			}
		}
		return false
	case "output":
		p.recordOutput(e.Test, e.Output)
		return false
	case "pass", "fail", "skip":
	default:
		return false
	}
	output := p.output[e.Test]
	delete(p.output, e.Test)
	delete(p.running, e.Test)
	counts := !p.parents[e.Test]
	if counts {
		p.ended++
	}
	switch {
	case e.Action == "fail":
		if counts {
			s.failed = append(s.failed, failure{testName{e.Package, e.Test}, text(output)})
		}
		fmt.Fprintf(s.out, "FAIL  %s %s in %.1fs\n", e.Package, e.Test, e.Elapsed)
		fmt.Fprint(s.out, text(output))
		p.race = p.race || strings.Contains(text(output), raceFound)
		return true
	case e.Action == "skip" && counts:
		s.skipped[reason(output)]++
	case counts:
		s.passed[testName{e.Package, e.Test}] = true
	}
	return false
}

// raceFound is what the testing package prints after the race detector has
// found a race.
const raceFound = "race detected"

// failedTests matches the end of a package's output if only tests failed. After
// a panic or a timeout the first line is missing, and messages of TestMain are
// between the two.
var failedTests = regexp.MustCompile(`(?m)^FAIL\nFAIL\t.*\n\z`)

// onlyTestsFailed reports whether a package failed only because of failed
// tests.
func (s *summary) onlyTestsFailed(pkg string, p *suite) bool {
	own := text(p.output[""])
	return slices.ContainsFunc(s.failed, func(f failure) bool { return f.pkg == pkg }) && len(p.running) == 0 &&
		!p.race && !strings.Contains(own, raceFound) && failedTests.MatchString(own)
}

// text returns the content of a builder, which may be nil.
func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}

// logLine matches a line of a test's log after its file name and line number.
var logLine = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)

// reason returns why a test was skipped: the last line of its log.
func reason(output *strings.Builder) string {
	if lines := logLine.FindAllStringSubmatch(text(output), -1); len(lines) > 0 {
		return lines[len(lines)-1][1]
	}
	return "no reason given"
}

// progress prints which tests are running.
func (s *summary) progress() {
	if len(s.running) == 0 {
		fmt.Fprintf(s.out, "...   %s: compiling\n", since(s.began))
	}
	for _, pkg := range slices.Sorted(maps.Keys(s.running)) {
		p := s.running[pkg]
		fmt.Fprintf(s.out, "...   %-36s %4d tests in %s", pkg, p.ended, since(p.began))
		if test := p.longest(); test != "" {
			fmt.Fprintf(s.out, ", %s has run for %s", test, since(p.running[test]))
		}
		fmt.Fprintln(s.out)
	}
}

// longest returns the test without subtests that has been running longest.
func (p *suite) longest() string {
	longest := ""
	for test, began := range p.running {
		if !p.parents[test] && (longest == "" || cmp.Or(began.Compare(p.running[longest]), cmp.Compare(test, longest)) < 0) {
			longest = test
		}
	}
	return longest
}

// allPassed reports whether there was a package and all packages passed.
func (s *summary) allPassed() bool {
	return s.packages > 0 && len(s.broken) == 0 && len(s.failed) == 0 && len(s.running) == 0
}

// finish prints the totals.
func (s *summary) finish() {
	for _, pkg := range slices.Sorted(maps.Keys(s.running)) {
		fmt.Fprintf(s.out, "FAIL  %s has not ended\n", pkg)
	}
	skipped := 0
	for _, n := range s.skipped {
		skipped += n
	}
	fmt.Fprintf(s.out, "\n%d tests passed, %d failed, %d skipped in %s\n", len(s.passed), len(s.failed), skipped, since(s.began))
	for _, reason := range slices.Sorted(maps.Keys(s.skipped)) {
		fmt.Fprintf(s.out, "%d skipped: %s\n", s.skipped[reason], reason)
	}
	for _, f := range s.failed {
		fmt.Fprintf(s.out, "FAIL  %s\n", f.testName)
	}
	for _, pkg := range s.broken {
		fmt.Fprintf(s.out, "FAIL  %s\n", pkg)
	}
	if s.packages == 0 {
		fmt.Fprintln(s.out, "FAIL  no package was tested")
	}
}

func since(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }
