package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// nameServer answers each call with the name of a server, until the test ends.
func nameServer(t *testing.T, address, name string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) })}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
}

// freeAddress returns an address of this machine on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startHAProxy runs the proxy of the deployment in front of two servers, until the test ends. It
// returns when the proxy has found that the second one does not answer.
func startHAProxy(t *testing.T, address string, servers [2]string) {
	t.Helper()
	path, err := exec.LookPath("haproxy")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/haproxy")
	}
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("HAProxy is not installed: the proxy of the deployment is not tested")
	}
	config, err := os.ReadFile("deploy/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{`(?s)\nresolvers docker.*?\n\n`, "\n"},
		{` init-addr none resolvers docker`, ""},
		{`server-template rote 1-8 rote:8080`, "server rote1 " + servers[0] + "\n    server rote2 " + servers[1]},
		{`bind :8080`, "bind " + address},
	} {
		edited := regexp.MustCompile(edit[0]).ReplaceAll(config, []byte(edit[1]))
		if bytes.Equal(edited, config) {
			t.Fatalf("the configuration has no %s", edit[0])
		}
		config = edited
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := exec.Command(path, "-db", "-f", file)
	log, err := proxy.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	down := make(chan struct{})
	reading.Go(func() {
		found := sync.OnceFunc(func() { close(down) })
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if strings.Contains(lines.Text(), "Server by_load/rote2 is DOWN") {
				found()
			}
		}
	})
	t.Cleanup(func() {
		_ = proxy.Process.Kill()
		reading.Wait()
		_ = proxy.Wait()
	})
	select {
	case <-down:
	case <-time.After(20 * time.Second):
		t.Fatal("the proxy does not say that a server is down")
	}
}

// Plain calls are shared by the servers, with and without connections that are kept. A server
// that starts after the proxy gets its share within seconds.
func TestDeployedProxySharesCalls(t *testing.T) {
	t.Parallel()
	address, servers := freeAddress(t), [2]string{freeAddress(t), freeAddress(t)}
	nameServer(t, servers[0], "first")
	startHAProxy(t, address, servers)
	ask := func(client *http.Client) string {
		r, err := client.Get("http://" + address + "/routines/")
		if err != nil {
			return ""
		}
		defer r.Body.Close()
		name, _ := io.ReadAll(r.Body)
		return string(name)
	}
	once, kept := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, &http.Client{Transport: &http.Transport{}}
	t.Cleanup(kept.CloseIdleConnections)
	if name := ask(once); name != "first" {
		t.Fatalf("without the second server: %q", name)
	}
	nameServer(t, servers[1], "second")
	began := time.Now()
	for tick := time.NewTicker(20 * time.Millisecond); ask(once) != "second"; <-tick.C {
		if time.Since(began) > 15*time.Second {
			t.Fatal("the second server gets no call within 15 s of its start")
		}
	}
	for what, client := range map[string]*http.Client{"not kept": once, "kept": kept} {
		counts := map[string]int{}
		for range 20 {
			counts[ask(client)]++
		}
		if counts["first"] < 8 || counts["second"] < 8 {
			t.Errorf("with connections %s: %v", what, counts)
		}
	}
}
