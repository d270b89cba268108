package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rote/mcp"
)

// prepare builds rote, starts the site and installs the public tools.
func (b *bench) prepare(ctx context.Context, peers bool) (err error) {
	if b.dir, err = os.MkdirTemp("", "rote-bench-"); err != nil {
		return err
	}
	b.addCleanup(func() error { return os.RemoveAll(b.dir) })
	b.rote = filepath.Join(b.dir, "rote")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.rote, "rote/cmd/rote").CombinedOutput(); err != nil {
		return fmt.Errorf("build rote: %w\n%s", err, out)
	}
	if b.site, err = startSite(); err != nil {
		return err
	}
	b.addCleanup(b.site.close)
	if peers {
		return b.installPeers(ctx)
	}
	return nil
}

// addContenders adds all contenders for one browser.
func (b *bench) addContenders(ctx context.Context, e engine, peers bool) error {
	if err := b.addFloors(ctx, e); err != nil {
		return err
	}
	if err := b.addRote(ctx, e); err != nil {
		return err
	}
	if !peers {
		return nil
	}
	for _, p := range publicTools {
		if err := b.addPeer(ctx, e, p); err != nil {
			return err
		}
	}
	return nil
}

// addRote adds a REST call of rote serve and an MCP call of rote mcp, each with
// its own browser.
func (b *bench) addRote(ctx context.Context, e engine) error {
	server, err := b.startREST(ctx, e)
	if err != nil {
		return err
	}
	b.add(&contender{name: oursREST, engine: e.name, calls: 1, run: server.run})
	agent, err := b.startMCP(ctx, e) // with the database in which the routine is stored
	if err != nil {
		return err
	}
	b.add(&contender{name: oursMCP, engine: e.name, calls: 1, run: agent.run})
	return nil
}

// frontEnd is a running rote with a call that does the task.
type frontEnd struct {
	pid int
	run func(context.Context) (string, error)
}

func (b *bench) flags(e engine) []string {
	return []string{"--db", filepath.Join(b.dir, e.name+".db"), "--browser", e.path, "--egress", "listed", "--allow-host", b.site.address}
}

// startREST starts rote serve and stores the routine.
func (b *bench) startREST(ctx context.Context, e engine) (*frontEnd, error) {
	token := rand.Text()
	api, pid, err := b.serve(token, b.flags(e))
	if err != nil {
		return nil, err
	}
	var created struct{ ID string }
	if err := post(ctx, api+"/routines/", token, routineDefinition(b.site.url()), &created); err != nil {
		return nil, err
	}
	return &frontEnd{pid, func(ctx context.Context) (string, error) {
		var execution struct{ Result struct{ Data string } }
		err := post(ctx, api+"/routines/"+created.ID+"/execute", token, []byte(`{"parameters": {"name": "`+visitor+`"}}`), &execution)
		return execution.Result.Data, err
	}}, nil
}

// startMCP starts rote mcp on the database of a REST front end with the same engine.
func (b *bench) startMCP(ctx context.Context, e engine) (*frontEnd, error) {
	var log bytes.Buffer
	agent, err := mcp.Start(ctx, &log, "bench", b.rote, append([]string{"mcp"}, b.flags(e)...)...)
	if err != nil {
		return nil, fmt.Errorf("rote mcp: %w\n%s", err, log.String())
	}
	b.addCleanup(agent.Close)
	pid, err := childOf(os.Getpid(), func(command []string) bool {
		return command[0] == b.rote && command[1] == "mcp" && slices.Contains(command, b.flags(e)[1])
	})
	if err != nil {
		return nil, err
	}
	return &frontEnd{pid, func(ctx context.Context) (string, error) {
		answer, err := agent.Call(ctx, "greet", map[string]any{"name": visitor})
		return string(answer), err
	}}, nil
}

// startTimeout limits how long rote serve may take to start.
const startTimeout = 10 * time.Second

// servingLine matches the log line with the address of rote serve.
var servingLine = regexp.MustCompile(`"msg":"serving","url":"([^"]+)"`)

// serve starts rote serve with a token and returns its URL and process id.
func (b *bench) serve(token string, flags []string) (url string, pid int, err error) {
	server := exec.Command(b.rote, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	server.Env = append(os.Environ(), "ROTE_SERVICE_TOKEN="+token)
	log, err := server.StderrPipe()
	if err != nil {
		return "", 0, err
	}
	if err := server.Start(); err != nil {
		return "", 0, err
	}
	late := time.AfterFunc(startTimeout, func() { _ = server.Process.Kill() })
	defer late.Stop()
	var said strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if m := servingLine.FindStringSubmatch(lines.Text()); m != nil {
			var rest sync.WaitGroup
			rest.Go(func() { _, _ = io.Copy(io.Discard, log) }) // else it blocks
			b.addCleanup(func() error {
				err := server.Process.Signal(os.Interrupt)
				rest.Wait()
				return errors.Join(err, server.Wait())
			})
			return m[1], server.Process.Pid, nil
		}
		fmt.Fprintln(&said, lines.Text())
	}
	return "", 0, fmt.Errorf("rote serve did not come up: %w\n%s", server.Wait(), said.String())
}

// post makes a REST call and decodes the response.
func post(ctx context.Context, url, token string, body []byte, into any) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Service-Token", token)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %s: %s", url, r.Status, answer)
	}
	return json.Unmarshal(answer, into)
}
