package main

import (
	"os"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	for args, want := range map[string]struct {
		code      int
		out, errs string
	}{
		"--help":                             {0, "browser install", ""},
		"":                                   {0, "Usage: rote", ""},
		"version":                            {0, "rote ", ""},
		"browser check":                      {0, "works", ""},
		"browser check --browser /bin/false": {1, "", "rote: start /bin/false"},
		"serv":                               {2, "", "rote --help"},
		"run":                                {2, "", "rote --help"},
		"serve --egress sometimes":           {2, "", "public"},
		"serve --max-body much":              {2, "", "4MiB"},
		"serve --addr 0.0.0.0:0 --auth off":  {1, "", "use tokens"},
		"serve --addr 127.0.0.1:0 --auth off --allowed-host *": {1, "", "name the hosts"},
		"serve --addr 127.0.0.1:0 --browser /nowhere":          {1, "", "--browser: there is no file /nowhere: name Chromium"},
		"mcp --browser /etc/passwd":                            {1, "", "--browser: /etc/passwd is not executable"},
		"serve --addr 127.0.0.1:0 --cors-origin *":             {1, "", "is no origin"},
		"serve --addr 127.0.0.1:0 --cors-origin app.example":   {1, "", "is no origin"},
		"serve --addr 127.0.0.1:0 --cors-origin https://a.b/":  {1, "", "is no origin"},
		"token list --allow-host http://a:1/b":                 {1, "", "leave out the scheme and the path: write a:1"},
		"--version":                                            {0, "rote ", ""},
		"serve --queue=-5":                                     {2, "", "--queue"},
		"serve --concurrency=0":                                {2, "", "--concurrency: \"0\" is no whole number from 1 to 1000000"},
		"serve --concurrency=-5":                               {2, "", "--concurrency"},
		"serve --trusted-proxy proxy.example":                  {2, "", "10.0.0.0/8"},
		"serve --rate-limit=-5":                                {2, "", "--rate-limit"},
		"mcp --mcp-max-tools 0":                                {2, "", "from 1 to 1000000"},
		"mcp --mcp-soft-deadline 0s":                           {2, "", "45s"},
		"run x --timeout 301s":                                 {1, "", "--timeout must be from 1s to 5m0s"},
		"run x -p q=1 -p q=2":                                  {1, "", "-p q is given twice"},
		"token create --user a\x01b":                           {1, "", "control characters"},
		"serve --help":                                         {0, "127.0.0.1:8080", ""},
		"worker":                                               {1, "", "name it with --db postgres://"},
		"worker --async 0 --db postgres://a@127.0.0.1:1/x":     {1, "", "without work"},
		"serve --addr 127.0.0.1:0 --async 1":                   {1, "", "--async is for a Postgres database"},
		"serve --addr 127.0.0.1:0 --drain-time 0s":             {2, "", "--drain-time"},
		"token list --allow-host a/b":                          {1, "", "host:port"},
		"token create --expires soon":                          {2, "", "90d"},
		"token create --expires 200000d":                       {2, "", "from 1s to 36500d: write 90d"},
		"token create --expires 213504d":                       {2, "", "from 1s to 36500d: write 90d"},
		"serve --audit-age 89d":                                {1, "", "at least 90d"},
		"serve --keep-age 213504d":                             {2, "", "from 1s to 36500d: write 90d"},
		"serve --queue 18446744073709551615":                   {2, "", "from 0 to 1000000"},
		"serve --rate-limit 18446744073709551615":              {2, "", "from 0 to 1000000"},
		"token create --scope all":                             {1, "", "executions:run"},
		"token create --reach a/b":                             {1, "", "host:port"},
		"token list --db /dev/null/x/rote.db":                  {1, "", "/dev/null"},
		"version --config /nowhere/config.yaml":                {2, "", "config.yaml"},
	} {
		t.Run(args, func(t *testing.T) {
			out, errs, code := r.run(strings.Fields(args)...)
			if code != want.code || !strings.Contains(out, want.out) || !strings.Contains(errs, want.errs) {
				t.Fatalf("exit %d\n%s\n%s", code, out, errs)
			}
		})
	}
}

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	config := r.file("config.yaml", "user: from-file\norganization: from-file\nproject: from-file\n")
	c := r.command("token", "create", "--config", config, "--project", "from-flag")
	c.Env = append(c.Env, "ROTE_ORGANIZATION=from-env", "ROTE_PROJECT=from-env")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if list, _, _ := r.run("token", "list"); !strings.Contains(list, "from-file  from-env      from-flag") {
		t.Fatal(list)
	}
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	for command, want := range map[string]string{"run": "-:3:15: error: ", "validate": "-:3:15: error: "} {
		c := r.command(command, "-")
		c.Stdin = strings.NewReader("{\"name\": \"n\",\n\"description\": \"d\",\n\"operations\": []}")
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// A base path is one however it is written.
func TestBasePath(t *testing.T) {
	t.Parallel()
	s := newRote(t).serve("--base-path", "api/")
	if !strings.HasSuffix(s.url, "/api") {
		t.Errorf("serves at %s", s.url)
	}
	if status, answer := s.call("GET", "/healthz", ""); status != 200 {
		t.Errorf("%d %v", status, answer)
	}
}

func TestDemoIsInterrupted(t *testing.T) {
	c := newRote(t).command("demo")
	out, errs := &output{more: make(chan struct{}, 1)}, &output{more: make(chan struct{}, 1)}
	c.Stdout, c.Stderr = out, errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out.wait(t, func(text string) string { return text })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 || !strings.HasSuffix(errs.String(), "rote: the demo was interrupted\n") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
