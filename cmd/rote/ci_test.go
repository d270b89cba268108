package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A test that CI names in -run or -skip and that was renamed would silently no
// longer be selected.
func TestCINamesExistingTests(t *testing.T) {
	var declared strings.Builder
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declaration.FindAllStringSubmatch(string(text), -1) {
			declared.WriteString("\n" + found[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, script := range []string{"run", "nightly", "npm"} {
		text, err := os.ReadFile("../../.ci/" + script)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`[^.\w](Test[A-Z]\w*)`).FindAllStringSubmatch(string(text), -1) {
			if named++; !strings.Contains(declared.String(), "\n"+found[1]) {
				t.Errorf(".ci/%s names %s, which is not the beginning of the name of a test", script, found[1])
			}
		}
	}
	if named < 10 {
		t.Errorf("CI names %d tests only", named)
	}
}

// A step fails if testreport says so, and not if go test does: that also fails
// when a test passed the second time.
func TestCIStepsFollowTestreport(t *testing.T) {
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	begin, end := strings.Index(string(script), "set -euo pipefail\n"), strings.Index(string(script), "\n# The build cache")
	if begin < 0 || end < begin {
		t.Fatal("the beginning of .ci/run was not found")
	}
	head := strings.Replace(string(script[begin:end]), `cd "$(dirname "$0")/.."`, "cd ../..", 1)
	const fake = `go() { echo "go $*" >&2; if [ "$1" = test ]; then return 1; fi; cat; return $REPORTED; }` + "\n"
	for reported, want := range map[string]string{"0": "after\n", "1": ""} {
		c := exec.Command("bash", "-c", head+"\n"+fake+"FLAG=x tests -run=TestA ./a\necho after")
		c.Env = append(os.Environ(), "REPORTED="+reported)
		var said strings.Builder
		c.Stderr = &said
		out, err := c.Output()
		if string(out) != want || (err == nil) != (reported == "0") {
			t.Errorf("testreport exits with %s: %v, %q\n%s", reported, err, out, &said)
		}
		for _, command := range []string{"go test -json -timeout=30m -run=TestA ./a\n", "go run ./cmd/rote/testreport -rerun=8 -- -run=TestA ./a\n"} {
			if !strings.Contains(said.String(), command) {
				t.Errorf("no %q in\n%s", command, &said)
			}
		}
	}
	if want := "set +o pipefail\ngo run ./cmd/rote browser install && go test "; !strings.Contains(string(script), want) {
		t.Errorf(".ci/run has no %q", want)
	}
}

// A command that fails once is run again and named; one that fails twice ends the script.
func TestCIRunsCommandsAgain(t *testing.T) {
	for _, row := range []struct {
		failures         int
		want, flaky, end string
	}{
		{0, "", "", "after\n"},
		{1, "once more: attempt\n", "FLAKY attempt\n", "after\n"},
		{2, "once more: attempt\n", "", ""},
	} {
		record := filepath.Join(t.TempDir(), "flaky")
		c := exec.Command("bash", "-c", `set -euo pipefail; . ../../.ci/again; sleep() { :; }; n=0; attempt() { n=$((n + 1)); [ "$n" -gt "$FAILURES" ]; }
			again attempt; echo after`)
		c.Env = append(os.Environ(), fmt.Sprint("FAILURES=", row.failures), "ROTE_TEST_FLAKY="+record)
		out, err := c.Output()
		flaky, _ := os.ReadFile(record)
		if string(out) != row.want+row.end || string(flaky) != row.flaky || (err == nil) != (row.end != "") {
			t.Errorf("%d failures: %v, %q, recorded %q", row.failures, err, out, flaky)
		}
	}
}
