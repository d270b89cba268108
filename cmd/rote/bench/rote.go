package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"rote/mcp"
)

// prepare builds rote, starts the site and installs the public tools.
func (b *bench) prepare(ctx context.Context, peers bool) (err error) {
	if b.dir, err = os.MkdirTemp("", "rote-bench-"); err != nil {
		return err
	}
	b.later(func() error { return os.RemoveAll(b.dir) })
	b.rote = filepath.Join(b.dir, "rote")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.rote, "rote/cmd/rote").CombinedOutput(); err != nil {
		return fmt.Errorf("build rote: %w\n%s", err, out)
	}
	if b.site, err = startSite(); err != nil {
		return err
	}
	b.later(b.site.close)
	if peers {
		return b.install(ctx)
	}
	return nil
}

// enter adds all contenders on one browser.
func (b *bench) enter(ctx context.Context, e engine, peers bool) error {
	if err := b.floors(ctx, e); err != nil {
		return err
	}
	if err := b.ours(ctx, e); err != nil {
		return err
	}
	if !peers {
		return nil
	}
	for _, p := range publicTools {
		if err := b.peer(ctx, e, p); err != nil {
			return err
		}
	}
	return nil
}

// ours adds rote: a REST call of rote serve, and an MCP call of rote mcp, each
// with a browser of its own.
func (b *bench) ours(ctx context.Context, e engine) error {
	flags := []string{"--db", filepath.Join(b.dir, e.name+".db"), "--browser", e.path, "--egress", "listed", "--allow-host", b.site.address}
	token := rand.Text()
	api, err := b.serve(ctx, token, flags)
	if err != nil {
		return err
	}
	var created struct{ ID string }
	if err := post(ctx, api+"/routines/", token, definition(b.site.url()), &created); err != nil {
		return err
	}
	b.add(&contender{name: oursREST, engine: e.name, calls: 1, once: func(ctx context.Context) (string, error) {
		var execution struct{ Result struct{ Data string } }
		err := post(ctx, api+"/routines/"+created.ID+"/execute", token, []byte(`{"parameters": {"name": "`+visitor+`"}}`), &execution)
		return execution.Result.Data, err
	}})
	var log bytes.Buffer
	agent, err := mcp.Start(ctx, &log, "bench", b.rote, append([]string{"mcp"}, flags...)...)
	if err != nil {
		return fmt.Errorf("rote mcp: %w\n%s", err, log.String())
	}
	b.later(agent.Close)
	b.add(&contender{name: oursMCP, engine: e.name, calls: 1, once: func(ctx context.Context) (string, error) {
		answer, err := agent.Call(ctx, "greet", map[string]any{"name": visitor})
		return string(answer), err
	}})
	return nil
}

// serve starts rote serve, which accepts the token, and gives its URL.
func (b *bench) serve(ctx context.Context, token string, flags []string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil { // rote takes the port
		return "", err
	}
	log, err := os.Create(filepath.Join(b.dir, address+".log"))
	if err != nil {
		return "", err
	}
	b.later(log.Close)
	server := exec.Command(b.rote, append([]string{"serve", "--addr", address}, flags...)...)
	server.Env = append(os.Environ(), "ROTE_SERVICE_TOKEN="+token)
	server.Stderr = log
	if err := server.Start(); err != nil {
		return "", err
	}
	b.later(func() error {
		return errors.Join(server.Process.Signal(os.Interrupt), server.Wait())
	})
	for until := time.Now().Add(10 * time.Second); ; {
		r, err := get(ctx, "http://"+address+"/readyz")
		if err == nil {
			return "http://" + address, r.Body.Close()
		}
		if time.Now().After(until) {
			said, _ := os.ReadFile(log.Name())
			return "", fmt.Errorf("rote serve did not come up: %w\n%s", err, said)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func get(ctx context.Context, url string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(q)
}

// post makes a REST call and decodes its answer.
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
