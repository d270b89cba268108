package main

import (
	"context"
	"fmt"

	"rote/browser"
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
		if path, err = browser.Install(ctx, s.err); err != nil {
			return err
		}
	}
	return checkBrowser(ctx, path, s)
}

type browserCheck struct{}

func (c *browserCheck) Run(ctx context.Context, g *globals, s streams) error {
	path, err := browser.Find(g.BrowserPath)
	if err != nil {
		return fmt.Errorf("%w: run rote browser install", err)
	}
	return checkBrowser(ctx, path, s)
}

func checkBrowser(ctx context.Context, path string, s streams) error {
	product, err := browser.Check(ctx, path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s at %s works\n", product, path)
	return err
}
