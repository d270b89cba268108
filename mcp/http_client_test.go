package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rote/httpapi"
	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/routinetest/leakcheck"
)

var (
	bob = routine.Principal{UserID: "bob", OrganizationID: "acme", ProjectID: "prices", Scopes: routine.DefaultScopes} // a colleague of ann's
	eve = routine.Principal{UserID: "eve", OrganizationID: "other", ProjectID: "x", Scopes: routine.DefaultScopes}
)

// httpFixture is a testServer that is served over HTTP on a real listener. When the
// test ends, its streams end, and no goroutine may be left.
type httpFixture struct {
	*testServer
	admission wire.Admission
	http      *wire.HTTP
	url       string
	tokens    map[string]string // by user
}

func newHTTPFixture(t *testing.T, definitions ...string) *httpFixture {
	t.Helper()
	return newHTTPFixtureWith(t, func(*httpFixture) {}, definitions...)
}

// newHTTPFixtureWith is newHTTPFixture with something changed before it is served.
func newHTTPFixtureWith(t *testing.T, change func(*httpFixture), definitions ...string) *httpFixture {
	t.Helper()
	before := goleak.IgnoreCurrent()
	h := newTestServer(t, definitions...)
	f := &httpFixture{testServer: h, admission: httpapi.NewAdmission(httpapi.Config{Service: h.service}), tokens: map[string]string{}}
	change(f)
	f.http = h.NewHTTP(f.admission, "")
	for _, p := range []routine.Principal{ann, bob, eve} {
		secret, _, err := h.service.CreateToken(t.Context(), p, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.tokens[p.UserID] = secret
	}
	listener := httptest.NewServer(f.http)
	f.url = listener.URL
	t.Cleanup(func() {
		f.http.Close()
		http.DefaultClient.CloseIdleConnections()
		listener.Close()
		if err := leakcheck.Find(before); err != nil {
			t.Error(err)
		}
	})
	return f
}

// era is how a caller speaks to /mcp.
type era string

const (
	legacy era = "2025-11-25"
	modern era = "2026-07-28"
)

// modernMeta is what each message of a modern client says of it.
const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

// httpCaller is one client of /mcp.
type httpCaller struct {
	t       *testing.T
	f       *httpFixture
	era     era
	user    string
	session string
}

func (f *httpFixture) caller(t *testing.T, e era, user string) *httpCaller {
	t.Helper()
	c := &httpCaller{t: t, f: f, era: e, user: user}
	if e == legacy {
		r := c.post(t.Context(), hello)
		defer r.Body.Close()
		if c.session = r.Header.Get("Mcp-Session-Id"); r.StatusCode != 200 || c.session == "" {
			t.Fatalf("initialize: %s", r.Status)
		}
	}
	return c
}

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// post sends a message with the headers of its era.
func (c *httpCaller) post(ctx context.Context, text string) *http.Response {
	c.t.Helper()
	r, err := c.send(ctx, text)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func (c *httpCaller) send(ctx context.Context, text string) (*http.Response, error) {
	var m struct {
		Method string
		Params struct{ Name, URI string }
	}
	_ = json.Unmarshal([]byte(text), &m)
	if c.era == modern {
		text = strings.Replace(text, `"params":{}`, `"params":{"x":0}`, 1)
		if strings.Contains(text, `"_meta":{`) {
			text = strings.Replace(text, `"_meta":{`, `"_meta":{`+modernMeta+`,`, 1)
		} else {
			text = strings.Replace(text, `"params":{`, `"params":{"_meta":{`+modernMeta+`},`, 1)
		}
	}
	q, err := http.NewRequestWithContext(ctx, "POST", c.f.url+"/mcp", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Authorization": "Bearer " + c.f.tokens[c.user], "Mcp-Session-Id": c.session, "Mcp-Protocol-Version": string(c.era)} {
		if value != "" {
			q.Header.Set(name, value)
		}
	}
	if c.era == modern {
		q.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" { // a request has one of them
			q.Header.Set("Mcp-Name", name)
		}
	}
	return http.DefaultClient.Do(q)
}

// ask returns all messages that answer a request, the response last.
func (c *httpCaller) ask(text string) []message {
	c.t.Helper()
	r := c.post(c.t.Context(), text)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return messagesOf(c.t, r.Header.Get("Content-Type"), body)
}

func messagesOf(t *testing.T, contentType string, body []byte) (list []message) {
	t.Helper()
	lines := []string{string(body)}
	if strings.HasPrefix(contentType, "text/event-stream") {
		lines = nil
		for line := range strings.Lines(string(body)) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				lines = append(lines, data)
			}
		}
	}
	for _, line := range lines {
		m := message{raw: strings.TrimSpace(line)}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}

// sseClient is one client of /sse.
type sseClient struct {
	t      *testing.T
	f      *httpFixture
	user   string
	post   string // where messages go
	stop   context.CancelFunc
	events chan string // the data of each
}

func (f *httpFixture) sse(t *testing.T, user string) *sseClient {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	c := &sseClient{t: t, f: f, user: user, stop: stop, events: make(chan string, 10000)}
	q, err := http.NewRequestWithContext(ctx, "GET", f.url+"/sse", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("X-Service-Token", f.tokens[user])
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("/sse: %s %s", r.Status, r.Header)
	}
	go func() {
		defer close(c.events)
		defer r.Body.Close()
		lines := bufio.NewReaderSize(r.Body, 1<<20)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				c.events <- strings.TrimSpace(data)
			}
		}
	}()
	c.post = <-c.events
	if !strings.HasPrefix(c.post, "/message?sessionId=") {
		t.Fatalf("endpoint %q", c.post)
	}
	c.send(hello)
	if m := c.next(); m.Error != nil {
		t.Fatalf("initialize: %s", m.raw)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *sseClient) send(texts ...string) {
	c.t.Helper()
	for _, text := range texts {
		if status := c.f.do(c.t, "POST", c.post, c.user, text, nil); status != 202 {
			c.t.Fatalf("POST %s: %d", text, status)
		}
	}
}

func (c *sseClient) next() message {
	c.t.Helper()
	select {
	case data, open := <-c.events:
		if !open {
			c.t.Fatal("the stream has ended")
		}
		return messagesOf(c.t, "application/json", []byte(data))[0]
	case <-time.After(time.Minute):
		c.t.Fatal("no event within a minute")
		panic("unreachable")
	}
}

// do makes a request and returns the status of its answer. A header that is
// empty is left out.
func (f *httpFixture) do(t *testing.T, method, path, user, body string, header map[string]string) int {
	t.Helper()
	r := f.request(t, method, path, user, strings.NewReader(body), header)
	_ = r.Body.Close() // a stream would not end
	return r.StatusCode
}

func (f *httpFixture) request(t *testing.T, method, path, user string, body io.Reader, header map[string]string) *http.Response {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, f.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	if user != "" {
		all["Authorization"] = "Bearer " + f.tokens[user]
	}
	for name, value := range header {
		all[name] = value
	}
	for name, value := range all {
		switch {
		case name == "Host":
			q.Host = value
		case value != "":
			q.Header.Set(name, value)
		}
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// calling calls a tool with a progress token.
func calling(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"progressToken":%s}}}`, id, tool, id)
}
