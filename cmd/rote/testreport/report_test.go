package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// module is a module of packages with these test files, by folder.
func module(t *testing.T, tests map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module m\n\ngo 1.26\n"}
	for folder, text := range tests {
		files[filepath.Join(folder, "m_test.go")] = fmt.Sprintf("package %s\n\n%s\n", folder, text)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// reported is the report of the real go test -json of a module.
func reported(t *testing.T, tests map[string]string, args ...string) (string, bool) {
	t.Helper()
	c := exec.Command("go", append(append([]string{"test", "-json", "-vet=off"}, args...), "./...")...)
	c.Dir = module(t, tests)
	events, _ := c.Output()
	var out strings.Builder
	s, err := report(bytes.NewReader(events), &out, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return withoutTimes(out.String()), s.allPassed()
}

func withoutTimes(s string) string {
	return regexp.MustCompile(`\d+(\.\d+)?m?s\b`).ReplaceAllString(s, "0s")
}

// reportRow is a module with tests, and what must be reported about a run of them.
type reportRow struct {
	name   string
	tests  map[string]string // package to source
	args   []string          // of go test
	passed bool
	want   []string // parts of the report
	not    string   // no part of it
}

// check compares a report with the expected one.
func (row *reportRow) check(t *testing.T, got string, passed bool) {
	t.Helper()
	if passed != row.passed {
		t.Errorf("reported as passed: %v", passed)
	}
	for _, want := range row.want {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if row.not != "" && strings.Contains(got, row.not) {
		t.Errorf("%q in:\n%s", row.not, got)
	}
}

func TestReport(t *testing.T) {
	const good = "import \"testing\"\n\nfunc TestGood(t *testing.T) { t.Log(\"in the log\") }"
	for _, row := range []reportRow{
		{name: "all pass", tests: map[string]string{"a": good, "b": good}, passed: true, not: "in the log",
			want: []string{"ok    m/a                                     1 tests in 0s\n", "ok    m/b  ", "\n2 tests passed, 0 failed, 0 skipped in 0s\n"}},
		{name: "skipped tests are counted by reason", passed: true, tests: map[string]string{"a": `import "testing"

func TestA(t *testing.T) {
	for _, name := range []string{"x", "y", "z"} {
		t.Run(name, func(t *testing.T) { t.Skip("no browser: install it") })
	}
	t.Run("w", func(t *testing.T) { t.SkipNow() })
}`}, want: []string{"\n0 tests passed, 0 failed, 4 skipped in 0s\n3 skipped: no browser: install it\n1 skipped: no reason given\n"}},
		{name: "a failed test shows its log", tests: map[string]string{"a": good, "b": `import "testing"

func TestB(t *testing.T) {
	t.Run("x", func(t *testing.T) { t.Error("it is wrong") })
	t.Run("y", func(t *testing.T) { t.Log("it is right") })
}`}, not: "it is right",
			want: []string{"FAIL  m/b TestB/x in 0s\n", "    m_test.go:6: it is wrong\n", "\n2 tests passed, 1 failed, 0 skipped in 0s\nFAIL  m/b TestB/x\nFAIL  m/b\n"}},
		{name: "a panic shows its trace", tests: map[string]string{"a": `import "testing"

func TestA(t *testing.T) { t.Run("x", func(*testing.T) { panic("too bad") }) }`},
			want: []string{"panic: too bad", "m_test.go:5", "FAIL  m/a\n"}},
		{name: "a timeout names the test", args: []string{"-timeout=100ms"}, tests: map[string]string{"a": `import "testing"

func TestA(t *testing.T) { t.Run("x", func(*testing.T) { select {} }) }`},
			want: []string{"panic: test timed out after 0s", "TestA/x", "FAIL  m/a\n"}},
		{name: "code that does not compile", tests: map[string]string{"a": good, "b": "var x int = true"},
			want: []string{"ok    m/a ", "cannot use true", "FAIL  m/b\n"}},
		{name: "no package", tests: nil, want: []string{"FAIL  no package was tested\n"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, passed := reported(t, row.tests, row.args...)
			row.check(t, got, passed)
		})
	}
}

// An input that ends early is a failure.
func TestReportOfHalfARun(t *testing.T) {
	for _, events := range []string{"", `{"Action":"start","Package":"m/a"}` + "\n" + `{"Action":"run","Package":"m/a","Test":"TestA"}` + "\n"} {
		var out strings.Builder
		if s, err := report(strings.NewReader(events), &out, time.Hour); s.allPassed() || err != nil || !strings.Contains(out.String(), "FAIL") {
			t.Errorf("%v, %v:\n%s", s.allPassed(), err, &out)
		}
	}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, events := io.Pipe()
		var out strings.Builder
		ended := make(chan bool)
		go func() {
			s, _ := report(in, &out, 10*time.Second)
			ended <- s.allPassed()
		}()
		const running = "...   m/a                                  "
		for _, step := range []struct {
			event string
			want  []string // what is printed in the 25 seconds after it
		}{
			{"", []string{"...   10s: compiling", "...   20s: compiling"}},
			{`{"Action":"start","Package":"m/a"}`, []string{running + "   0 tests in 5s", running + "   0 tests in 15s", running + "   0 tests in 25s"}},
			{`{"Action":"run","Package":"m/a","Test":"TestA"}`,
				[]string{running + "   0 tests in 35s, TestA has run for 10s", running + "   0 tests in 45s, TestA has run for 20s"}},
			{`{"Action":"run","Package":"m/a","Test":"TestA/x"}`, []string{running + "   0 tests in 55s, TestA/x has run for 5s",
				running + "   0 tests in 1m5s, TestA/x has run for 15s", running + "   0 tests in 1m15s, TestA/x has run for 25s"}},
			{`{"Action":"pause","Package":"m/a","Test":"TestA/x"}`, []string{running + "   0 tests in 1m25s", running + "   0 tests in 1m35s"}},
			{`{"Action":"pass","Package":"m/a","Test":"TestA/x"}`,
				[]string{running + "   1 tests in 1m45s", running + "   1 tests in 1m55s", running + "   1 tests in 2m5s"}},
			{`{"Action":"pass","Package":"m/a","Elapsed":125}`,
				[]string{"ok    m/a                                     1 tests in 125.0s", "...   2m40s: compiling", "...   2m50s: compiling"}},
		} {
			if step.event != "" {
				fmt.Fprintln(events, step.event)
			}
			time.Sleep(25*time.Second + time.Nanosecond)
			synctest.Wait()
			if got, want := out.String(), strings.Join(step.want, "\n")+"\n"; got != want {
				t.Errorf("after %s:\n%swant:\n%s", step.event, got, want)
			}
			out.Reset()
		}
		events.Close()
		if !<-ended {
			t.Error("the run passed and is reported as failed")
		}
	})
}
