package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"rote/routine"
)

// environmentResolver splits the values of repeatable flags, which are in one
// environment variable. kong reads all other variables itself.
func environmentResolver(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name, value := lookupEnvironment(flag)
	if name == "" || !flag.IsSlice() || flag.Tag.Sep < 0 {
		return nil, nil
	}
	items := []any{}
	for _, item := range strings.FieldsFunc(value, func(r rune) bool { return r == flag.Tag.Sep || unicode.IsSpace(r) }) {
		items = append(items, item)
	}
	return items, nil
}

// lookupEnvironment returns the environment variable that sets a flag and its
// value, or "" if none does.
func lookupEnvironment(flag *kong.Flag) (name, value string) {
	for _, name := range flag.Envs {
		if value, ok := os.LookupEnv(name); ok {
			return name, value
		}
	}
	return "", ""
}

// isSetting reports whether a flag can be set in the environment or in the file
// of --config. Flags tagged env:"-" belong to one invocation (version, help, a
// run's parameters and output): a variable such as ROTE_VERSION, which images
// and build systems often set, must not change what a command does.
func isSetting(flag *kong.Flag) bool { return len(flag.Envs) > 0 }

// testVariablePrefix is the prefix of variables that only this module's tests
// read.
const testVariablePrefix = "ROTE_TEST_"

// serviceLinkVariable matches the variables that Kubernetes and Docker set in a
// container for a service whose name is rote or starts with "rote-".
var serviceLinkVariable = regexp.MustCompile(`^ROTE(_\w+)?_(SERVICE_HOST=|SERVICE_PORT(_\w+)?=|PORT=\w+://|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?=)`)

// warnOfUnknownVariables prints a warning for each ROTE_ variable that is not a
// setting. It is not an error, because the variable may belong to another
// program. The value is not printed, because it may be a secret.
func warnOfUnknownVariables(log io.Writer, root *kong.Node) {
	names := settingVariables(root)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		known := slices.Contains(names, name) || strings.HasPrefix(name, testVariablePrefix) || serviceLinkVariable.MatchString(variable)
		if known || !strings.HasPrefix(name, "ROTE_") {
			continue
		}
		words := fmt.Sprintf("environment variable %s is ignored: rote has no such setting", name)
		if hint := routine.DidYouMean(name, names); hint != "" {
			words += "; " + hint
		}
		fmt.Fprintf(log, "rote: warning: %s\n", words)
	}
}

// settingVariables returns the names of all variables that rote reads for any
// command.
func settingVariables(root *kong.Node) []string {
	names := []string{adminTokenVariable, browserTokenVariable}
	for _, flag := range root.Flags {
		names = append(names, flag.Envs...)
	}
	for _, below := range root.Children {
		names = append(names, settingVariables(below)...)
	}
	return names
}
