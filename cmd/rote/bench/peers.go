package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed peers/package.json peers/peer.mjs
var peerFiles embed.FS

// publicTool is a public tool that can do the task.
type publicTool struct {
	name, argument string
	calls          int
}

// publicTools are a hand-written script and the two browser servers that agents
// usually use, which need one call per step.
var publicTools = []publicTool{
	{puppeteer, "puppeteer", 1},
	{playwrightMCP, "playwright-mcp", 6},
	{devtoolsMCP, "chrome-devtools-mcp", 5},
}

// installPeers installs the public tools from npm, once.
func (b *bench) installPeers(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	b.peers = filepath.Join(cache, "rote-bench")
	if err := os.MkdirAll(b.peers, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "peer.mjs"} {
		text, err := peerFiles.ReadFile("peers/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.peers, name), text, 0o644); err != nil {
			return err
		}
	}
	npm := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")
	npm.Dir, npm.Stdout, npm.Stderr = b.peers, os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm install: %w (leave the public tools out with -peers=false)", err)
	}
	return nil
}

// addPeer adds a public tool. It runs in a Node process, which is kept warm
// like rote and does the task for each line that it reads.
func (b *bench) addPeer(ctx context.Context, e engine, p publicTool) error {
	node := exec.Command("node", filepath.Join(b.peers, "peer.mjs"), p.argument, e.name, e.path, b.site.url(), visitor, greeting)
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		return err
	}
	out, err := node.StdoutPipe()
	if err != nil {
		return err
	}
	if err := node.Start(); err != nil {
		return err
	}
	b.addCleanup(func() error { return errors.Join(in.Close(), node.Wait()) }) // it ends with its input
	lines := bufio.NewReader(out)
	once := func(context.Context) (string, error) {
		if _, err := in.Write([]byte("\n")); err != nil {
			return "", err
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return "", err
		}
		var answer struct{ Text, Error string }
		if err := json.Unmarshal(line, &answer); err != nil || answer.Error != "" {
			return "", errors.Join(errors.New(answer.Error), err)
		}
		return answer.Text, nil
	}
	b.add(&contender{name: p.name, engine: e.name, calls: p.calls, run: once})
	return ctx.Err()
}
