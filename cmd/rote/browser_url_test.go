package main

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rote/browser/cdp"
	"rote/browser/chromium"
)

func TestBrowserURLFlags(t *testing.T) {
	r := newRote(t)
	for _, row := range []struct {
		args  []string
		words string
	}{
		{[]string{"--browser-url", "browsers:9222"}, "--browser-url, number 1: this is no address of a browser: write http://HOST:9222"},
		{[]string{"--browser-url", "local", "--browser-url", "ws://b/x#slots=0"}, "--browser-url, number 2: ws://b: slots=0: write a whole number"},
		{[]string{"--browser-url", "wss://b/?token={token}"}, "set ROTE_BROWSER_TOKEN"},
		{[]string{"--browser-url", "ws://b/x", "--browser", "chromium"}, "leave --browser out, or add --browser-url local"},
	} {
		if _, errs, code := r.run(append([]string{"serve", "--addr", "127.0.0.1:0"}, row.args...)...); code == 0 || !strings.Contains(errs, row.words) {
			t.Errorf("%v: exit %d, %s", row.args, code, errs)
		}
	}
}

// contextsOf is how many browser contexts there are at a web socket.
func contextsOf(t *testing.T, at *url.URL) int {
	t.Helper()
	s, err := cdp.DialSocket(t.Context(), at, cdp.SocketOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := cdp.NewClient(s)
	defer c.Close()
	b, err := c.Send("", "Target.getBrowserContexts", nil).Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, ok := cdp.Decode[struct {
		IDs []string `json:"browserContextIds"`
	}](b)
	if !ok {
		t.Fatalf("%s", b)
	}
	return len(all.IDs)
}

// Lessons and runs use a browser elsewhere. When the server is killed, what it had opened there
// is gone at once, and the next server uses the browser.
func TestServeWithBrowserElsewhere(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	at, err := url.Parse(chromiumElsewhere(t, chromium.FlagsElsewhere("127.0.0.1")))
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--toolsets", "run,teach", "--browser-url", "http://" + at.Host + "#slots=2"}
	if out, errs, code := r.run("browser", "check", "--browser-url", at.String()); code != 0 || !strings.Contains(out, " at ws://"+at.Host+" works") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	s := r.serve(flags...)
	defer func() {
		if t.Failed() {
			t.Log(s.log)
		}
	}()
	ready := func(s *server) {
		t.Helper()
		for deadline := time.Now().Add(testTime); ; {
			status, answer := s.call("GET", "/readyz", "")
			if status == 200 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v\n%s", answer, s.log)
			}
		}
	}
	ready(s)
	_, lesson := s.call("POST", "/lessons/", `{"url":"`+r.shop+`/"}`)
	id, _ := lesson["lesson"].(string)
	if _, tried := s.call("POST", "/lessons/"+id+"/operations", products); tried["ok"] != true {
		t.Fatal(lesson, tried)
	}
	_, saved := s.call("POST", "/lessons/"+id+"/save", `{"name":"find lamps","description":"Finds lamps."}`)
	made, _ := saved["routine"].(map[string]any)
	routineID, _ := made["id"].(string)
	execute := func(s *server) {
		t.Helper()
		if status, e := s.call("POST", "/routines/"+routineID+"/execute", `{"parameters":{"query":"notebook"}}`); status != 201 || e["status"] != "completed" {
			t.Fatal(status, e)
		}
	}
	execute(s)
	for _, want := range []string{`rote_browser_endpoints{state="ready"} 1`, `rote_browser_endpoints{state="down"} 0`, "rote_executions_running_limit 2"} {
		if text := s.metrics(); !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if _, errs, code := r.run("browser", "check", "--browser-url", at.String()); code == 0 || !strings.Contains(errs, "another program is connected to it") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if contextsOf(t, at) == 0 {
		t.Fatal("the lesson has no context")
	}
	s.stop(syscall.SIGKILL)
	for killed := time.Now(); contextsOf(t, at) > 0; {
		if time.Since(killed) > 15*time.Second {
			t.Fatal("contexts of a killed server are still there")
		}
	}
	again := r.serve(flags...)
	again.token = s.token
	ready(again)
	execute(again)
	again.stop(os.Interrupt)
	if n := contextsOf(t, at); n != 0 {
		t.Errorf("%d contexts of a stopped server are still there", n)
	}
}

// "rote browser check" does not call a browser verified that is only used with
// --browser-unverified.
func TestCheckUnverifiedBrowser(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	at := chromiumElsewhere(t, slices.DeleteFunc(chromium.FlagsElsewhere("127.0.0.1"), func(f string) bool { return f == "--site-per-process" }))
	for _, row := range []struct {
		flags []string
		words string
		fails bool
	}{
		{nil, "'--site-per-process'", true},
		{[]string{"--browser-unverified"}, "works, but it is not verified", false},
	} {
		out, errs, code := r.run(append([]string{"browser", "check", "--browser-url", at}, row.flags...)...)
		if (code != 0) != row.fails || !strings.Contains(out+errs, row.words) {
			t.Errorf("%v: exit %d, %s%s", row.flags, code, out, errs)
		}
	}
}
