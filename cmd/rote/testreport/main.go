// Command testreport makes the output of go test -json short:
//
//	go test -json ./... | go run ./cmd/rote/testreport
//
// go test itself prints nothing about a package until all packages before it
// have ended. testreport prints each package and each failed test when it ends,
// a line about what is running when there was none for 15 seconds, and at the
// end how many tests were skipped, and why. It exits with 1 unless every package
// has passed.
//
// With -rerun=N it runs each failed test once more when all others have ended.
// A test that then passes does not count as failed; it is printed at the end
// with the word FLAKY and the output of its failure. More than N failed tests
// are not run again. Neither is anything if a package does not compile, panics,
// runs into its timeout, has a data race, or fails without a failed test. The
// arguments after -- are those of go test: its flags hold for the second run too.
//
//	go test -json ./browser -whole | go run ./cmd/rote/testreport -rerun=3 -- ./browser -whole
//
// If ROTE_TEST_FLAKY is set, it names a file. The FLAKY tests are appended to it, and
// the N of -rerun limits all that are in it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const progressEvery = 15 * time.Second

func main() {
	limit := flag.Int("rerun", 0, "how many failed tests are run once more")
	flag.Parse()
	flags, err := flagsOf(flag.Args())
	passed := false
	if err == nil {
		r := rerunner{out: os.Stdout, limit: *limit, flags: flags, record: os.Getenv("ROTE_TEST_FLAKY"), goTest: goTest("")}
		passed, err = r.report(os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	if !passed {
		os.Exit(1)
	}
}

// goTest runs go test -json in a directory and passes its output to read. It
// ignores the exit code, because the output contains all results.
func goTest(dir string) func(args []string, read func(io.Reader)) error {
	return func(args []string, read func(io.Reader)) error {
		c := exec.Command("go", append([]string{"test", "-json"}, args...)...)
		c.Dir, c.Stderr = dir, os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		read(out)
		_ = c.Wait()
		return nil
	}
}
