package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// notices are the licences of what the program contains. TestNotices makes them.
//
//go:embed notices.txt
var notices string

type versionCommand struct {
	JSON     bool `name:"json" help:"Print the version as JSON." env:"-" xor:"form"`
	Licenses bool `help:"Print the licences of everything that the program contains." env:"-" xor:"form"`
}

func (c *versionCommand) Run(_ context.Context, _ *globals, s streams) error {
	switch {
	case c.JSON:
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(thisBuild())
	case c.Licenses:
		_, err := io.WriteString(s.out, notices)
		return err
	}
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
	_, err := io.WriteString(w, thisBuild().text())
	return err
}

// version returns the module's version, or the commit that it was built from.
func version() string { return thisBuild().Version }

// buildVersion says what a program was built from.
type buildVersion struct {
	// Version is the tag of the commit, a version that names the commit, or devel.
	Version string `json:"version"`
	// Commit and Date are empty if the program was built without its repository.
	Commit string `json:"commit,omitempty"`
	Date   string `json:"date,omitempty"`
	// Modified reports whether files had changed since the commit.
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() buildVersion {
	info, ok := debug.ReadBuildInfo()
	if !ok { // of a program built without modules, which this one is not
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return versionOf(info)
}

// versionOf reads what the go command writes into each program. It takes the version from the
// tag of the commit, so a release needs no flags of the linker.
func versionOf(info *debug.BuildInfo) buildVersion {
	v := buildVersion{Version: info.Main.Version, Go: info.GoVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "devel"
		if v.Commit != "" {
			v.Version = v.Commit[:min(len(v.Commit), 12)]
		}
	}
	return v
}

func (v buildVersion) text() string {
	text := fmt.Sprintf("rote %s (%s %s)\n", v.Version, v.Go, v.Platform)
	if v.Commit != "" {
		text += "commit " + v.Commit
		if v.Modified {
			text += " with changes"
		}
		text += "\ndate   " + v.Date + "\n"
	}
	return text
}
