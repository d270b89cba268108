package main

import (
	"context"
	"errors"
	"fmt"

	"rote/browser/chromium"
)

type browserCommand struct {
	Install browserInstall `cmd:"" help:"Find the browser, else install one with the system's package manager."`
	Check   browserCheck   `cmd:"" help:"Start the browser and say what it is, or what is wrong."`
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
