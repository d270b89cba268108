package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

type versionCommand struct{}

func (c *versionCommand) Run(_ context.Context, _ *globals, s streams) error {
	return printVersion(s.out)
}

// versionFlag is --version, which does the same as the version command.
type versionFlag bool

func (versionFlag) BeforeReset(k *kong.Kong) error {
	err := printVersion(k.Stdout)
	k.Exit(0)
	return err
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "rote %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version returns the module's version, or the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if commit := buildSetting("vcs.revision"); commit != "" {
		return commit[:min(len(commit), 12)]
	}
	return "devel"
}

// buildSetting returns a setting of the build, as in debug.BuildSetting; empty if there is none.
func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
