// Command testreport makes the output of go test -json short:
//
//	go test -json ./... | go run ./cmd/rote/testreport
//
// go test itself prints nothing about a package until all packages before it
// have ended. testreport prints each package and each failed test when it ends,
// a line about what is running when there was none for 15 seconds, and at the
// end how many tests were skipped, and why. It exits with 1 unless every package
// has passed.
package main

import (
	"fmt"
	"os"
	"time"
)

const progressEvery = 15 * time.Second

func main() {
	passed, err := report(os.Stdin, os.Stdout, progressEvery)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}
