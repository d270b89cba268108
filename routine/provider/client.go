package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"rote/routine"
)

const (
	// maxAnswer limits the bytes of an answer: an entry with several values.
	maxAnswer = 1 << 20
	// maxToken limits the bytes of a file with a token.
	maxToken = 16 << 10
)

// client sends requests to one server. It uses no proxy and follows no redirect, so that
// tokens and values go nowhere else. Its errors contain no part of an answer.
type client struct {
	address string // without a slash at the end
	http    *http.Client
}

// newClient returns a client of the server at an address such as https://vault.example:8200.
func newClient(address string) (*client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s is no address of a server, as in https://HOST:PORT", routine.Quote(address))
	}
	return &client{address: strings.TrimRight(u.String(), "/"), http: &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// get reads a JSON document into answer if the status is 200, and returns the status. The
// elements of the path are escaped.
func (c *client) get(ctx context.Context, header http.Header, path []string, query url.Values, answer any) (status int, err error) {
	return c.send(ctx, http.MethodGet, header, path, query, nil, answer)
}

// post is get with a body, which is sent as JSON.
func (c *client) post(ctx context.Context, header http.Header, path []string, body, answer any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	return c.send(ctx, http.MethodPost, header, path, nil, bytes.NewReader(text), answer)
}

func (c *client) send(ctx context.Context, method string, header http.Header, path []string, query url.Values, body io.Reader, answer any) (int, error) {
	address := c.address
	for _, element := range path {
		address += "/" + url.PathEscape(element)
	}
	if len(query) > 0 {
		address += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return 0, err
	}
	request.Header = header
	response, err := c.http.Do(request)
	if err != nil {
		return 0, c.connectionError(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return response.StatusCode, fmt.Errorf("%s answers with a redirect (status %d), and none is followed: give the address where it leads",
			c.address, response.StatusCode)
	}
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return response.StatusCode, c.connectionError(err)
	}
	if len(text) > maxAnswer {
		return response.StatusCode, fmt.Errorf("%w: the answer has more than %d bytes", errUnusable, maxAnswer)
	}
	if json.Unmarshal(text, answer) != nil {
		return response.StatusCode, fmt.Errorf("the answer of %s is not the JSON of its API", c.address)
	}
	return response.StatusCode, nil
}

// statusError returns the error for a status, nil for 200.
func (c *client) statusError(status int) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return routine.ErrNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %s answers with status %d: rote's token may not read it", routine.ErrProviderDenied, c.address, status)
	}
	return fmt.Errorf("%s answers with status %d", c.address, status)
}

// connectionError returns an error of a request without what it may quote of the answer.
func (c *client) connectionError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	_, network := errors.AsType[net.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	if network || certificate {
		return fmt.Errorf("%s: %w", c.address, err)
	}
	return fmt.Errorf("%s does not answer as an HTTP server: is the address right, with https or http?", c.address)
}

// tokenSource gets tokens of a provider. It keeps one until the provider refuses it.
type tokenSource struct {
	// get returns a token to use after refused, which is empty at first. It returns refused
	// itself if there is no other.
	get func(ctx context.Context, refused routine.Hidden) (routine.Hidden, error)

	// busy has a value while a caller uses current.
	busy    chan struct{}
	current routine.Hidden
}

func newTokenSource(get func(ctx context.Context, refused routine.Hidden) (routine.Hidden, error)) *tokenSource {
	return &tokenSource{get: get, busy: make(chan struct{}, 1)}
}

// token returns a token. If one was refused, it returns another, or that one if there is no other.
func (t *tokenSource) token(ctx context.Context, refused routine.Hidden) (routine.Hidden, error) {
	select {
	case t.busy <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-t.busy }()
	if t.current != refused {
		return t.current, nil
	}
	token, err := t.get(ctx, refused)
	if err == nil {
		t.current = token
	}
	return token, err
}

// send calls request with a token, and again with another token, if there is one, when the
// status says that it is refused. It returns the last status.
func (t *tokenSource) send(ctx context.Context, refusal int, request func(token routine.Hidden) (status int, err error)) (int, error) {
	token, err := t.token(ctx, "")
	if err != nil {
		return 0, err
	}
	status, err := request(token)
	if err != nil || status != refusal {
		return status, err
	}
	next, err := t.token(ctx, token)
	if err != nil || next == token {
		return status, err
	}
	return request(next)
}

// readToken reads a file with a token. An agent may replace the file at any time.
func readToken(path string) (routine.Hidden, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxToken+1))
	token := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", err
	case token == "" || len(text) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("the file " + path + " has no token")
	}
	return routine.Hidden(token), nil
}
