package main

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"rote/browser"
	"rote/browser/chromium"
)

func TestGatewayFlags(t *testing.T) {
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	elsewhere, err := browser.ParseEndpoint("http://browsers.internal:9222", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ listen, address, words string }{
		{"", "", ""},
		{"", "proxy:3130", "--egress-listen"},
		{"0.0.0.0:0", "", "--egress-address"},
		{":0", "", "--egress-address"},
		{"[::]:0", "", "--egress-address"},
		{"0.0.0.0", "proxy:3130", "HOST:PORT"},
		{"127.0.0.1:0", "", ""},
		{"127.0.0.1:0", "proxy", "HOST:PORT as the browsers see it"},
		{"127.0.0.1:0", ":3130", "HOST:PORT as the browsers see it"},
		{"192.0.2.200:1", "", "--egress-listen"}, // not an address of this machine
		{used.Addr().String(), "", "is in use, by a running rote for example"},
		{"127.0.0.1:0", "proxy:3130", ""},
	} {
		gateway, err := (&globals{EgressListen: row.listen, EgressAddress: row.address}).openGateway([]browser.Endpoint{elsewhere})
		if (err == nil) != (row.words == "") || err != nil && !strings.Contains(err.Error(), row.words) {
			t.Errorf("%+v: %v", row, err)
		}
		if (gateway == nil) != (row.listen == "" || row.words != "") {
			t.Errorf("%+v: gateway %v", row, gateway)
		}
		if gateway != nil {
			gateway.Close()
		}
	}
	local, err := browser.ParseEndpoint(browser.LocalEndpoint, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []globals{{EgressListen: "127.0.0.1:0"}, {EgressAddress: "proxy:3130"}, {BrowserUnverified: true}} {
		for _, endpoints := range [][]browser.Endpoint{nil, {local}} {
			if _, err := g.openGateway(endpoints); err == nil || !strings.Contains(err.Error(), "name them with --browser-url") {
				t.Errorf("%+v without a browser elsewhere: %v", g, err)
			}
		}
	}
}

// A command that opens no pages works while a server has the listener, and connects to no
// browser of that server.
func TestCommandsWithoutPagesOpenNoBrowser(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	var connections atomic.Int64
	browsers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connections.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer browsers.Close()
	flags := []string{"--egress-listen", used.Addr().String(), "--browser-url", browsers.URL}
	for _, args := range [][]string{{"add", r.example("page_text")}, {"list"}, {"token", "create"}, {"schedule", "list"}, {"webhook", "secret"}} {
		if _, errs, code := r.run(append(args, flags...)...); code != 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("the browser got %d connections", n)
	}
	for _, args := range [][]string{{"run", "--json", r.example("page_text")}, {"browser", "check"}} {
		if _, errs, code := r.run(append(args, flags...)...); code == 0 || !strings.Contains(errs, "is in use, by a running rote for example") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// What "rote browser flags" prints is a command of a shell that starts Chromium with the flags
// that rote wants to see.
func TestBrowserFlags(t *testing.T) {
	for _, row := range []struct{ host, words string }{
		{"127.0.0.1", ""}, {"rote.internal", ""}, {"", "host"}, {"rote:3130", "without its port"}, {"a, EXCLUDE b", "host"}, {"a b", "host"},
	} {
		var out strings.Builder
		err := (&browserFlags{Proxy: row.host, Port: 9222}).Run(t.Context(), &globals{}, streams{out: &out})
		if row.words != "" {
			if err == nil || !strings.Contains(err.Error(), row.words) {
				t.Errorf("--proxy %q: %v", row.host, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		// The shell reads the line; printf stands for the browser, which joins its arguments.
		line := strings.Replace(out.String(), "chromium ", "printf '%s ' chromium ", 1)
		read, err := exec.Command("sh", "-c", line).Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := chromium.CheckFlags(string(read), row.host).Err(row.host); err != nil {
			t.Errorf("%s\n%v", out.String(), err)
		}
		if !strings.Contains(string(read), " --remote-debugging-port=9222 ") {
			t.Errorf("%s has no port", read)
		}
		_, rest, _ := strings.Cut(string(read), "--user-data-dir=")
		profile, _, _ := strings.Cut(rest, " ")
		if err := os.Remove(profile); err != nil { // a new and empty directory
			t.Error(err)
		}
	}
}

// chromiumElsewhere starts a Chromium with these flags and returns the address of its web socket.
func chromiumElsewhere(t *testing.T, flags []string) string {
	t.Helper()
	executable, err := chromium.Find("")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(executable, append(slices.Clone(flags), "--no-sandbox", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir())...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if url := regexp.MustCompile(`ws://\S+`).FindString(lines.Text()); url != "" {
			return url
		}
	}
	t.Fatal("the browser does not say where it listens")
	return ""
}

// A run on a browser that rote did not start uses the listener of --egress-listen. The result
// says whether the browser was verified; one that is not is refused unless the operator allows it.
func TestRunOnABrowserElsewhere(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	all := chromium.FlagsElsewhere("127.0.0.1")
	verified := chromiumElsewhere(t, all)
	weak := chromiumElsewhere(t, slices.DeleteFunc(slices.Clone(all), func(f string) bool { return f == "--disable-quic" }))
	for _, row := range []struct {
		name, url  string
		flags      []string
		code       int
		unverified bool
		errs       string
	}{
		{"verified", verified, nil, 0, false, ""},
		{"refused", weak, nil, 1, false, "'--disable-quic'"},
		{"allowed", weak, []string{"--browser-unverified"}, 0, true, "BROWSER IS NOT VERIFIED"},
	} {
		args := append([]string{"run", r.example("page_text"), "--json", "-p", "sku=LAMP-01", "-p", "site=" + r.shop,
			"--egress-listen", "127.0.0.1:0", "--browser-url", row.url}, row.flags...)
		out, errs, code := r.run(args...)
		if code != row.code || strings.Contains(out, `"unverified": true`) != row.unverified || !strings.Contains(errs, row.errs) {
			t.Errorf("%s: exit %d\n%s\n%s", row.name, code, out, errs)
		}
	}
}
