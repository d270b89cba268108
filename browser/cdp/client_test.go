package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-rod/rod/lib/proto"
)

// fakeBrowser is a Transport whose other end is the test.
type fakeBrowser struct {
	sent     chan string // requests of the client
	says     chan string // messages to the client
	writeErr error
	closed   chan struct{}
	once     sync.Once
}

func newFakeBrowser() *fakeBrowser {
	return &fakeBrowser{sent: make(chan string, 10), says: make(chan string), closed: make(chan struct{})}
}

func (b *fakeBrowser) Read() ([]byte, error) {
	select {
	case m := <-b.says:
		if head, end, long := strings.Cut(m, "…"); long {
			return []byte(head + end), ErrOversize
		}
		return []byte(m), nil
	case <-b.closed:
		return nil, errors.New("unplugged")
	}
}

func (b *fakeBrowser) Write(messages ...[]byte) error {
	for _, m := range messages {
		b.sent <- string(m)
	}
	return b.writeErr
}

func (b *fakeBrowser) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// connect runs a test with a client and the browser at its other end, in a bubble of
// synctest.
func connect(t *testing.T, test func(t *testing.T, c *Client, b *fakeBrowser)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newFakeBrowser()
		c := NewClient(b)
		defer c.Close()
		test(t, c, b)
		synctest.Wait()
	})
}

func TestAnswersFindTheirRequests(t *testing.T) {
	connect(t, func(t *testing.T, c *Client, b *fakeBrowser) {
		first, second := c.Send("", "Browser.getVersion", nil), c.Send("S", "Page.enable", proto.PageEnable{})
		for _, want := range []string{
			`{"id":1,"method":"Browser.getVersion","params":{}}`, `{"id":2,"sessionId":"S","method":"Page.enable","params":{}}`,
		} {
			if got := <-b.sent; got != want {
				t.Errorf("sent %s, want %s", got, want)
			}
		}
		b.says <- `{"id":2,"sessionId":"S","error":{"code":-32000,"message":"no"}}`
		b.says <- `{"id":1,"result":{"product":"x"}}`
		if got, err := first.Wait(t.Context()); string(got) != `{"product":"x"}` || err != nil {
			t.Errorf("%s %v", got, err)
		}
		var refused *Error
		if _, err := second.Wait(t.Context()); !errors.As(err, &refused) || refused.Code != -32000 || refused.Message != "no" {
			t.Error(err)
		}
	})
}

func TestEventsGoToTheirSession(t *testing.T) {
	connect(t, func(t *testing.T, c *Client, b *fakeBrowser) {
		var got []string
		listen := func(session proto.TargetSessionID) {
			c.Listen(session, func(method string, params json.RawMessage) {
				got = append(got, fmt.Sprintf("%s %s %.10s", session, method, params))
			})
		}
		listen("")
		listen("S")
		b.says <- `{"method":"A","params":{"n":1}}`
		b.says <- `not JSON`
		b.says <- `{"method":"B","params":{"n":2},"sessionId":"S"}`
		b.says <- `{"method":"C","params":{},"sessionId":"another"}`
		// Console events that are too long to be decoded come whole, for their length.
		b.says <- `{"method":"Runtime.consoleAPICalled","params":{"x":"` + strings.Repeat("x", MaxConsoleEvent) + `"},"sessionId":"S"}`
		synctest.Wait()
		c.Unlisten("S")
		b.says <- `{"method":"D","params":{},"sessionId":"S"}`
		synctest.Wait()
		want := ` A {"n":1}|S B {"n":2}|S Runtime.consoleAPICalled {"method":`
		if strings.Join(got, "|") != want {
			t.Errorf("%q, want %q", strings.Join(got, "|"), want)
		}
		if _, sessions := c.InUse(); sessions != 1 {
			t.Errorf("%d sessions have a sink", sessions)
		}
	})
}

// An observer sees each message in either direction.
func TestObserve(t *testing.T) {
	connect(t, func(t *testing.T, c *Client, b *fakeBrowser) {
		var seen []string
		c.Observe(func(session proto.TargetSessionID, request, event string) {
			seen = append(seen, fmt.Sprintf("%s-%s-%s", session, request, event))
		})
		c.Send("S", "Page.enable", nil).Forget()
		<-b.sent
		b.says <- `{"method":"B","params":{},"sessionId":"S"}`
		b.says <- `{"id":1,"result":{},"sessionId":"S"}`
		synctest.Wait()
		c.Observe(nil)
		b.says <- `{"method":"C","params":{},"sessionId":"S"}`
		synctest.Wait()
		if got, want := strings.Join(seen, " "), "S-Page.enable- S--B S--"; got != want {
			t.Errorf("saw %q, want %q", got, want)
		}
	})
}

// A response that is too long fails its request. An announced request that is too
// long is not left paused: it is continued if nothing checks it, and failed if the
// guard would have checked it.
func TestTooLongMessages(t *testing.T) {
	const paused = `{"method":"Fetch.requestPaused","params":{"requestId":"R1","request":{"postData":"…"}}`
	for name, row := range map[string]struct{ says, sends string }{
		"an answer":             {`{"id":1,"result":{"x":"…"}}`, ""},
		"a request of any page": {paused + `}`, `{"id":2,"method":"Fetch.continueRequest","params":{"requestId":"R1"}}`},
		"a request of a watched page": {paused + `,"sessionId":"S"}`,
			`{"id":2,"sessionId":"S","method":"Fetch.failRequest","params":{"requestId":"R1","errorReason":"BlockedByClient"}}`},
		"another event": {`{"method":"Network.dataReceived","params":{"data":"…"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			connect(t, func(t *testing.T, c *Client, b *fakeBrowser) {
				asked := c.Send("", "Runtime.evaluate", nil)
				<-b.sent
				b.says <- row.says
				synctest.Wait()
				select {
				case got := <-b.sent:
					if got != row.sends {
						t.Errorf("sent %s, want %s", got, row.sends)
					}
				case a := <-asked.Answer():
					if row.sends != "" || !errors.Is(a.Err, ErrOversize) {
						t.Errorf("answered %s %v", a.Result, a.Err)
					}
				default:
					if row.sends != "" || name == "an answer" {
						t.Error("nothing happens")
					}
				}
			})
		})
	}
}

func TestRequestsEndWithTheConnection(t *testing.T) {
	for name, end := range map[string]func(c *Client, b *fakeBrowser){
		"the browser ends":  func(_ *Client, b *fakeBrowser) { _ = b.Close() },
		"the client closes": func(c *Client, _ *fakeBrowser) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			connect(t, func(t *testing.T, c *Client, b *fakeBrowser) {
				asked := c.Send("", "Page.enable", nil)
				end(c, b)
				<-c.Done()
				_, waiting := asked.Wait(t.Context())
				_, later := c.Send("", "Page.enable", nil).Wait(t.Context())
				for what, err := range map[string]error{"the request under way": waiting, "a later one": later, "the client": c.Err()} {
					if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "unplugged") {
						t.Errorf("%s: %v", what, err)
					}
				}
			})
		})
	}
	t.Run("a write fails", func(t *testing.T) {
		connect(t, func(t *testing.T, c *Client, b *fakeBrowser) {
			b.writeErr = errors.New("broken")
			if _, err := c.Send("", "Page.enable", nil).Wait(t.Context()); !errors.Is(err, ErrClosed) || !errors.Is(err, b.writeErr) {
				t.Error(err)
			}
			if !errors.Is(c.Err(), ErrClosed) {
				t.Error(c.Err())
			}
		})
	})
}

// A request whose caller has given up is forgotten, and its late response dropped.
func TestAbandonedRequestsAreForgotten(t *testing.T) {
	connect(t, func(t *testing.T, c *Client, b *fakeBrowser) {
		gaveUp := errors.New("gave up")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gaveUp)
		if _, err := c.Send("", "Page.enable", nil).Wait(ctx); !errors.Is(err, gaveUp) {
			t.Error(err)
		}
		c.Send("", "Page.disable", nil).Forget()
		if requests, _ := c.InUse(); requests != 0 {
			t.Errorf("%d requests are remembered", requests)
		}
		b.says <- `{"id":1,"result":{}}`
		b.says <- `{"id":2,"result":{}}`
		synctest.Wait()
		next := c.Send("", "Page.enable", nil)
		b.says <- `{"id":3,"result":{}}`
		if got, err := next.Wait(t.Context()); string(got) != `{}` || err != nil {
			t.Errorf("%s %v", got, err)
		}
	})
}
