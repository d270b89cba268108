package cdp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// SocketOptions are the limits of a [Socket]. Zero values mean the usual ones.
type SocketOptions struct {
	// MaxMessage bounds a message that is read, in bytes.
	MaxMessage int64
	// PingInterval is how often the browser is sent a ping, PingAnswer how long it has to
	// answer.
	PingInterval, PingAnswer time.Duration
}

// StatusError is the error of a server that refuses a connection with an HTTP status.
type StatusError struct {
	Status int
	// RetryAfter is when to try again; 0 if the server does not say it.
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("it answered with status %d %s", e.Status, http.StatusText(e.Status))
}

// Busy reports whether the server has no room now for another connection.
func (e *StatusError) Busy() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// DialSocket connects to the browser at an address: a web socket (ws or wss), or a server (http
// or https) that names its web socket under /json/version, as Chromium does. A ws or wss
// address without a path and a query is that of such a server. No error has the address in it,
// because that may contain a token.
func DialSocket(ctx context.Context, address *url.URL, o SocketOptions) (*Socket, error) {
	var tcp *countingConn
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		tcp = &countingConn{Conn: c}
		return tcp, nil
	}}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	socket, err := socketURL(ctx, client, address)
	if err != nil {
		return nil, err
	}
	options := &websocket.DialOptions{HTTPClient: client, Host: hostHeader(socket)}
	conn, response, err := websocket.Dial(ctx, socket.String(), options) //nolint:bodyclose // Dial closes it itself
	if err != nil {
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			return nil, statusError(response)
		}
		return nil, withoutURL(err)
	}
	return newSocket(conn, tcp, o), nil
}

// hostHeader is the Host header for an address; empty for its own host. Chromium answers only
// addresses and localhost, and never speaks TLS: with TLS another server is in front of it.
func hostHeader(u *url.URL) string {
	if u.Scheme == "wss" || u.Scheme == "https" || net.ParseIP(u.Hostname()) != nil {
		return ""
	}
	return "localhost"
}

// socketURL returns the address of the browser's web socket.
func socketURL(ctx context.Context, client *http.Client, address *url.URL) (*url.URL, error) {
	web, socket := *address, *address
	secure := address.Scheme == "wss" || address.Scheme == "https"
	web.Scheme, socket.Scheme = "http", "ws"
	if secure {
		web.Scheme, socket.Scheme = "https", "wss"
	}
	if address.Scheme == socket.Scheme && (strings.Trim(address.Path, "/") != "" || address.RawQuery != "") {
		return &socket, nil
	}
	web.Path = strings.TrimSuffix(web.Path, "/") + "/json/version"
	named, err := namedSocket(ctx, client, &web)
	if err != nil {
		return nil, err
	}
	// Its own host is what the browser takes for it, which may be another one from here.
	socket.Path, socket.RawPath, socket.RawQuery = named.Path, named.RawPath, cmp.Or(named.RawQuery, address.RawQuery)
	return &socket, nil
}

// namedSocket asks a server for the address of its browser's web socket.
func namedSocket(ctx context.Context, client *http.Client, at *url.URL) (*url.URL, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	request.Host = hostHeader(at)
	response, err := client.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("/json/version: %w", statusError(response))
	}
	var version struct {
		Socket string `json:"webSocketDebuggerUrl"`
	}
	const maxVersion = 64 << 10
	err = json.NewDecoder(io.LimitReader(response.Body, maxVersion)).Decode(&version)
	if err == nil && version.Socket == "" {
		err = errors.New("it has no webSocketDebuggerUrl")
	}
	if err != nil {
		return nil, fmt.Errorf("its answer to /json/version is not that of a browser (%w): give the address of Chromium's --remote-debugging-port", err)
	}
	named, err := url.Parse(version.Socket)
	if err != nil {
		return nil, errors.New("its answer to /json/version names no web socket")
	}
	return named, nil
}

func statusError(r *http.Response) *StatusError {
	seconds, _ := strconv.Atoi(r.Header.Get("Retry-After"))
	return &StatusError{r.StatusCode, time.Duration(max(seconds, 0)) * time.Second}
}

// withoutURL returns the cause of an error that contains the address of a request.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
