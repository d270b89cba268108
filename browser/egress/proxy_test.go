package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// sink is a server that counts what reaches it.
func sink(t *testing.T, handle http.HandlerFunc) (string, *atomic.Int64) {
	t.Helper()
	var hits atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hits.Add(1); handle(w, r) }))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), &hits
}

func through(t *testing.T, p *Policy) (*Proxy, *http.Client) {
	t.Helper()
	proxy, err := Listen(p, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy.Addr()})}
	t.Cleanup(transport.CloseIdleConnections)
	return proxy, &http.Client{Transport: transport}
}

func TestProxyForwards(t *testing.T) {
	host, _ := sink(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %q %q", r.Method, r.URL, r.Host, body, r.Header["Proxy-Connection"], r.Header["X-Forwarded-For"])
	})
	_, client := through(t, policy(t, Listed, []string{host}, nil))
	r, err := client.Post("http://"+host+"/p?q=1&a=2;3&z=100%", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); string(text) != "POST /p?q=1&a=2;3&z=100% "+host+" body [] []" {
		t.Fatalf("%s", text)
	}
}

func TestProxyRefuses(t *testing.T) {
	host, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	proxy, client := through(t, policy(t, Public, nil, nil))
	if r, err := client.Get("http://" + host + "/"); err == nil {
		t.Fatal("answered: ", r.Status)
	}
	conn, err := net.Dial("tcp", proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", host)
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "502") {
		t.Fatal(line, err)
	}
	if hits.Load() != 0 {
		t.Fatalf("%d requests reached the sink", hits.Load())
	}
	if n := proxy.Refused(); n != 2 {
		t.Fatalf("%d denials on record", n)
	}
	want := []routine.Denial{{Host: host, Address: "127.0.0.1", Reason: "that is not a public address; " + hintAllowHost, Count: 2}}
	if diff := cmp.Diff(want, proxy.Denials()); diff != "" {
		t.Fatal(diff)
	}
	if again := proxy.Denials(); len(again) != 0 {
		t.Fatal("told twice: ", again)
	}
	e, ok := proxy.Denied("http://" + host + "/x")
	if !ok || e.Code != routine.CodeEgressDenied || !strings.Contains(e.Message, host) {
		t.Fatal(e)
	}
	if e, ok := proxy.Denied("http://127.0.0.1:1/"); ok {
		t.Fatal("a denial that was not: ", e)
	}
}

// A redirect is the client's next request, judged like the first.
func TestProxyJudgesRedirects(t *testing.T) {
	secret, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	host, _ := sink(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+secret+"/", http.StatusFound)
	})
	_, client := through(t, policy(t, Listed, []string{host}, nil))
	if _, err := client.Get("http://" + host + "/"); err == nil || hits.Load() != 0 {
		t.Fatal(err, hits.Load())
	}
}

func TestProxyTunnels(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.Copy(c, c)
	}()
	proxy, _ := through(t, policy(t, Listed, []string{l.Addr().String()}, nil))
	conn, err := net.Dial("tcp", proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\nearly", l.Addr())
	in := bufio.NewReader(conn)
	for line := ""; line != "\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(conn, " and late")
	echo := make([]byte, len("early and late"))
	if _, err := io.ReadFull(in, echo); err != nil || string(echo) != "early and late" {
		t.Fatalf("%q %v", echo, err)
	}
	proxy.Close()
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Fatal("the tunnel outlives the proxy: ", err)
	}
}

func TestProxyRejectsServerRequests(t *testing.T) {
	proxy, _ := through(t, policy(t, Any, nil, nil))
	r, err := http.Get("http://" + proxy.Addr() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusBadRequest {
		t.Fatal(r.Status)
	}
	http.DefaultClient.CloseIdleConnections()
}

// After Disconnect nothing passes, and the port is still taken.
func TestDisconnect(t *testing.T) {
	host, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	proxy, client := through(t, policy(t, Listed, []string{host}, nil))
	get := func() error {
		r, err := client.Get("http://" + host)
		if err == nil {
			_ = r.Body.Close()
		}
		return err
	}
	if err := get(); err != nil || hits.Load() != 1 {
		t.Fatal(err)
	}
	proxy.Disconnect()
	if err := get(); err == nil || hits.Load() != 1 {
		t.Errorf("answered after Disconnect: %v", err)
	}
	if l, err := net.Listen("tcp", proxy.Addr()); err == nil {
		_ = l.Close()
		t.Error("the port is free before Close")
	}
}
