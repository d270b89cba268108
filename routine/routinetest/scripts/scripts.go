// Package scripts holds samples of scripts for the tests of what decides about
// scripts.
package scripts

import (
	_ "embed"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed legitimate.txtar
var legitimate []byte

//go:embed undetected.txt
var undetected string

// Legitimate returns scripts that authors write, by their names.
func Legitimate() map[string]string {
	scripts := map[string]string{}
	for _, f := range txtar.Parse(legitimate).Files {
		scripts[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
	}
	return scripts
}

// Undetected returns bodies of functions that reach what js_evaluate blocks
// although Check of package javascript accepts them.
func Undetected() (bodies []string) {
	for line := range strings.Lines(undetected) {
		if !strings.HasPrefix(line, "//") {
			bodies = append(bodies, strings.TrimSuffix(line, "\n"))
		}
	}
	return bodies
}
