package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"rote/browser/chromium"
)

type browserCommand struct {
	Install browserInstall `cmd:"" help:"Find the browser, else install one with the system's package manager."`
	Check   browserCheck   `cmd:"" help:"Start the browser, or connect to those of --browser-url, and say what it is, or what is wrong."`
	Flags   browserFlags   `cmd:"" help:"Print the command that starts a Chromium elsewhere as rote needs it."`
}

type browserInstall struct{}

func (c *browserInstall) Run(ctx context.Context, g *globals, s streams) error {
	path := g.BrowserPath
	if path == "" {
		var err error
		if path, err = chromium.Install(ctx, s.err); err != nil {
			return err
		}
	}
	checked, err := chromium.Check(ctx, path)
	if errors.Is(err, chromium.ErrNoSandbox) || err == nil && checked.NoSandbox {
		installed, installing := chromium.InstallSandbox(ctx, s.err, path)
		if installing != nil && err != nil {
			return errors.Join(err, installing)
		}
		if installing != nil { // the browser works without it
			fmt.Fprintf(s.err, "rote: warning: %v\n", installing)
		}
		if installed {
			return checkBrowser(ctx, path, s)
		}
	}
	return printChecked(s, path, checked, err)
}

type browserCheck struct{}

func (c *browserCheck) Run(ctx context.Context, g *globals, s streams) error {
	endpoints, err := g.endpoints()
	if err != nil {
		return err
	}
	if err := g.checkEndpoints(ctx, s, endpoints); err != nil || !usesLocalBrowser(endpoints) {
		return err
	}
	path, err := chromium.Find(g.BrowserPath)
	if errors.Is(err, chromium.ErrNotFound) {
		return fmt.Errorf("%w: run rote browser install", err)
	}
	if err != nil {
		return err
	}
	return checkBrowser(ctx, path, s)
}

func checkBrowser(ctx context.Context, path string, s streams) error {
	checked, err := chromium.Check(ctx, path)
	return printChecked(s, path, checked, err)
}

// printChecked prints the result of a browser check.
func printChecked(s streams, path string, checked *chromium.Checked, err error) error {
	if err != nil {
		return err
	}
	if checked.Warning != "" {
		fmt.Fprintf(s.err, "rote: warning: the browser is not confined: %s\n", checked.Warning)
	}
	_, err = fmt.Fprintf(s.out, "%s at %s works\n", checked.Product, path)
	return err
}

// browserFlags prints the command line of a browser that rote is to use and does not start.
type browserFlags struct {
	Proxy string `help:"Host of --egress-address." default:"127.0.0.1" placeholder:"HOST" env:"-"`
	Port  count  `help:"Port on which the browser listens." default:"9222" env:"-"`
}

func (c *browserFlags) Run(_ context.Context, _ *globals, s streams) error {
	if strings.Contains(c.Proxy, ":") && net.ParseIP(c.Proxy) == nil {
		return fmt.Errorf("--proxy %s: give the host of --egress-address without its port", c.Proxy)
	}
	if c.Proxy == "" || strings.ContainsAny(c.Proxy, " ,*'\"\t\n") {
		return fmt.Errorf("--proxy %q is no host: give that of --egress-address", c.Proxy)
	}
	words := []string{"chromium"}
	for _, f := range append(chromium.FlagsElsewhere(c.Proxy), fmt.Sprintf("--remote-debugging-port=%d", c.Port)) {
		if strings.ContainsAny(f, " *<>~") { // characters that a shell would not leave as they are
			f = "'" + f + "'"
		}
		words = append(words, f)
	}
	words = append(words, `--user-data-dir="$(mktemp -d)"`, "about:blank") // nobody else can make a directory of that name first
	_, err := fmt.Fprintln(s.out, strings.Join(words, " "))
	return err
}
