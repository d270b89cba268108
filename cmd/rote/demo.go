package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"rote/browser/chromium"
	"rote/browser/tempdir"
	"rote/cmd/rote/practice"
	"rote/httpapi"
	"rote/httpapi/console"
	"rote/mcp"
	"rote/routine"
	"rote/routine/operation"
)

type demoCommand struct {
	Query string `help:"What to search the practice shop for." default:"lamp" env:"-"`
	Keep  bool   `help:"Keep the shop and the REST API running until interrupted." env:"-"`
}

// demoTool is the name of the demo routine, of its file and of its tool.
const demoTool = "search_products"

// demo is one run of the demo: a practice shop, a REST server with a database
// of its own, and an MCP server in a child process with the same database.
type demo struct {
	s          streams
	dir        *tempdir.Dir // all files of the demo; removed at the end
	executable string       // of the browser
	shop, api  string       // base URLs
	token      string
	app        *app
	rows       []timing
}

// timing is the duration of one call: in total and in the browser.
type timing struct {
	name           string
	total, browser time.Duration
}

func (c *demoCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	d := &demo{s: s}
	d.printf("A demonstration on this machine alone. It takes some seconds, or minutes when a browser must be installed.\n")
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = errors.New("the demo was interrupted")
		}
		err = errors.Join(err, d.removeFiles())
	}()
	if err := d.prepare(ctx, g); err != nil {
		return err
	}
	at := anyPort
	if c.Keep {
		at = practice.Address
	}
	stop, err := d.start(ctx, g, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	id, err := d.create(ctx)
	if err != nil {
		return err
	}
	parameters := map[string]any{"site": d.shop, "query": c.Query}
	rest, last, err := d.overREST(ctx, id, parameters)
	if err != nil {
		return err
	}
	agent, err := d.overMCP(ctx, g, parameters)
	if err != nil {
		return err
	}
	d.report(rest, last)
	if rest, err = normalizeJSON(rest); err != nil {
		return err
	}
	if !bytes.Equal(rest, agent) {
		return fmt.Errorf("REST and MCP gave different data:\n%s\n%s", rest, agent)
	}
	d.printf("\nREST and MCP gave the same data. What next: the README's first routine, or rote --help.\n")
	if c.Keep {
		return d.waitForInterrupt(ctx, id)
	}
	return nil
}

// waitForInterrupt prints commands to try by hand and waits for the end.
func (d *demo) waitForInterrupt(ctx context.Context, id string) error {
	text, err := example(demoTool)
	if err != nil {
		return err
	}
	file := filepath.Join(d.dir.Path, demoTool+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	host := strings.TrimPrefix(d.shop, "http://")
	d.printf(`
The shop and the API stay up until you press Control-C. In a browser, the console:
  %[9]s
In another terminal:
  %[1]s run %[2]s -p site=%[3]s -p query=lamp --allow-host %[4]s
  curl -s %[5]s/routines/%[6]s/execute -H 'X-Service-Token: %[7]s' -H 'Content-Type: application/json' -d '{"parameters": {"site": "%[3]s", "query": "lamp"}}'
  %[1]s mcp --db %[8]s --egress listed --allow-host %[4]s
`, self, file, d.shop, host, d.api, id, d.token, filepath.Join(d.dir.Path, "rote.db"), consoleURL(strings.TrimPrefix(d.api, "http://"), "")+"/login#"+d.token)
	<-ctx.Done()
	return nil
}

func (d *demo) printf(format string, args ...any) { fmt.Fprintf(d.s.out, format, args...) }

// prepare finds or installs the browser and creates the directory.
func (d *demo) prepare(ctx context.Context, g *globals) (err error) {
	d.executable = g.BrowserPath
	if d.executable == "" {
		if d.executable, err = chromium.Install(ctx, d.s.err); err != nil {
			return err
		}
	}
	const prefix = "rote-demo-"
	tempdir.Sweep(prefix)
	d.dir, err = tempdir.Make(prefix)
	return err
}

func (d *demo) removeFiles() error {
	if d.dir == nil {
		return nil
	}
	return d.dir.Remove()
}

// start starts the shop and the REST server. The shop listens at an address, if
// that is free. The returned function stops both.
func (d *demo) start(ctx context.Context, g *globals, at string) (func() error, error) {
	shop, err := listen(ctx, at, practice.NewSite())
	if err != nil {
		return nil, err
	}
	d.shop = "http://" + shop.address
	own := *g
	own.DB, own.BrowserPath = filepath.Join(d.dir.Path, "rote.db"), d.executable
	own.Egress, own.AllowHost = "listed", []string{shop.address}
	own.BrowserURL, own.EgressListen, own.EgressAddress, own.BrowserUnverified = nil, "", "", false
	quiet := streams{in: d.s.in, out: d.s.out, err: io.Discard, stopNow: d.s.stopNow, log: warningLog(d.s.err)}
	if d.app, err = openApp(ctx, &own, quiet, mayCreate); err != nil {
		return nil, errors.Join(err, shop.stop())
	}
	end := func() error { return errors.Join(d.app.Close(), shop.stop()) }
	if d.token, _, err = d.app.service.CreateToken(ctx, g.localPrincipal(), 0); err != nil {
		return nil, errors.Join(err, end())
	}
	api, err := listen(ctx, anyPort, d.handler(int64(g.MaxBody)))
	if err != nil {
		return nil, errors.Join(err, end())
	}
	d.api = "http://" + api.address
	d.printf("A practice shop is up at %s, the REST API at %s; both end with the demo.\nThe browser is %s.\n\n", d.shop, d.api, d.executable)
	return func() error { return errors.Join(api.stop(), end()) }, nil
}

// handler returns the handler for REST and the console.
func (d *demo) handler(maxBody int64) http.Handler {
	c := httpapi.Config{Service: d.app.service, Log: slog.New(slog.DiscardHandler), MaxBody: maxBody}
	c.Admission = httpapi.NewAdmission(c)
	c.Console = console.New(console.Config{Service: c.Service, Admission: c.Admission, Log: c.Log, MaxBody: maxBody})
	return httpapi.NewHandler(c)
}

// loopbackServer is an HTTP server on a loopback port.
type loopbackServer struct {
	address string
	stop    func() error
}

// anyPort is a loopback address with a free port.
const anyPort = "127.0.0.1:0"

// listen serves at an address, or at another port if it is in use.
func listen(ctx context.Context, at string, h http.Handler) (*loopbackServer, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		l, err = net.Listen("tcp", anyPort)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- serve(ctx, l, h, streams{}, defaultDrainTime, func(context.Context) {}) }()
	return &loopbackServer{l.Addr().String(), func() error { cancel(); return <-done }}, nil
}

// create stores the demo routine over REST.
func (d *demo) create(ctx context.Context) (string, error) {
	var created routine.Routine
	text, err := example(demoTool)
	if err != nil {
		return "", err
	}
	if _, err := d.post(ctx, "/routines/", text, &created); err != nil {
		return "", err
	}
	d.printf("POST /routines/ stored %q as %s. It takes these steps:\n", created.Name, created.ID)
	for i, o := range created.Operations {
		d.printf("  %d. %s\n", i+1, operation.Describe(o))
	}
	return created.ID, nil
}

// example returns one of the embedded example routines.
func example(name string) ([]byte, error) {
	for _, r := range practice.Routines() {
		if r.Name == name+".json" {
			return r.JSON, nil
		}
	}
	return nil, fmt.Errorf("no example routine is named %s", name)
}

// overREST runs the routine twice. The first call starts the browser.
func (d *demo) overREST(ctx context.Context, id string, parameters any) (json.RawMessage, *routine.Execution, error) {
	body, err := json.Marshal(map[string]any{"parameters": parameters})
	if err != nil {
		return nil, nil, err
	}
	var e routine.Execution
	for _, name := range []string{"REST, first call (starts the browser)", "REST, second call"} {
		e = routine.Execution{}
		took, err := d.post(ctx, "/routines/"+id+"/execute", body, &e)
		if err != nil {
			return nil, nil, err
		}
		d.rows = append(d.rows, timing{name, took, browserTime(&e)})
	}
	return e.Result.Data, &e, nil
}

// post makes one REST call and returns its duration.
func (d *demo) post(ctx context.Context, path string, body []byte, into any) (time.Duration, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, d.api+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Service-Token", d.token)
	start := time.Now()
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	if r.StatusCode != http.StatusCreated {
		return 0, fmt.Errorf("POST %s failed: %w", path, restError(r.Status, answer))
	}
	return took, json.Unmarshal(answer, into)
}

// overMCP starts this program as an MCP server, as an agent's host does, and
// calls the routine as a tool.
func (d *demo) overMCP(ctx context.Context, g *globals, parameters any) (data json.RawMessage, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"mcp", "--db", filepath.Join(d.dir.Path, "rote.db"), "--browser", d.executable, "--egress", "listed",
		"--allow-host", strings.TrimPrefix(d.shop, "http://"), "--user", g.User, "--organization", g.Organization, "--project", g.Project}
	var log bytes.Buffer
	start := time.Now()
	agent, err := mcp.Start(ctx, &log, version(), self, args...)
	if err != nil {
		return nil, fmt.Errorf("rote mcp: %w\n%s", err, oneLine(log.String()))
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	tools, err := agent.Tools(ctx)
	if err != nil {
		return nil, err
	}
	d.printf("\nA child process, rote mcp, answered initialize and tools/list in %s: %s\n", ms(time.Since(start)), strings.Join(tools, ", "))
	var result struct {
		ID   string          `json:"execution_id"`
		Data json.RawMessage `json:"data"`
	}
	for _, name := range []string{"MCP, first call (starts its browser)", "MCP, second call"} {
		start := time.Now()
		answer, err := agent.Call(ctx, demoTool, parameters)
		took := time.Since(start)
		if err != nil {
			return nil, fmt.Errorf("the call over MCP failed: %s", oneLine(err.Error()))
		}
		if err := json.Unmarshal(answer, &result); err != nil {
			return nil, err
		}
		e, err := d.app.store.Execution(ctx, result.ID)
		if err != nil {
			return nil, err
		}
		d.rows = append(d.rows, timing{name, took, browserTime(e)})
	}
	return normalizeJSON(result.Data)
}

// browserTime returns the total time of a run's operations.
func browserTime(e *routine.Execution) time.Duration {
	var total float64
	for _, o := range e.Result.OperationsMetadata {
		total += o.DurationSeconds
	}
	return time.Duration(total * float64(time.Second))
}

// report prints the data, the steps with their durations, and the duration of
// the calls.
func (d *demo) report(data json.RawMessage, last *routine.Execution) {
	var pretty bytes.Buffer
	if json.Indent(&pretty, data, "", "  ") == nil {
		d.printf("\nThe data:\n%s\n", pretty.String())
	}
	d.printf("\nThe second run's steps:\n")
	w := tabwriter.NewWriter(d.s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, o := range last.Result.OperationsMetadata {
		fmt.Fprintf(w, "  %d\t%s\t%s\t\n", o.Index+1, o.Type, ms(time.Duration(o.DurationSeconds*float64(time.Second))))
	}
	w.Flush()
	d.printf("\nWhere the time went (the shop itself waits 150 ms before it shows results):\n")
	w = tabwriter.NewWriter(d.s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  call\ttotal\tin the browser\trote's own")
	for _, r := range d.rows {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", r.name, ms(r.total), ms(r.browser), ms(r.total-r.browser))
	}
	w.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// normalizeJSON returns JSON without white space and with sorted keys, so that
// equal data is equal text.
func normalizeJSON(data json.RawMessage) (json.RawMessage, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
