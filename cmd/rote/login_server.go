package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"rote/routine"
)

// serverSessions are the sessions of a rote server.
type serverSessions struct {
	base   string // without a slash at the end
	token  string
	client *http.Client
}

const (
	// serverTime bounds one request to a server.
	serverTime = 30 * time.Second
	// maxServerAnswer bounds its answer, in bytes.
	maxServerAnswer = 1 << 20
)

// newServerSessions returns the sessions of the server of --server.
func newServerSessions(server string) (*serverSessions, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("--server: %s is no URL of a server: write it as in https://rote.example", routine.Quote(server))
	}
	if u.Scheme == "http" && !isLoopbackHost(u.Hostname()) {
		return nil, fmt.Errorf("--server: %s has no https, so others could read the login on the way: write https://%s", server, u.Host)
	}
	token := os.Getenv(adminTokenVariable)
	if token == "" {
		return nil, fmt.Errorf("--server needs a token of scope secrets:write in %s: rote token create makes one on the server", adminTokenVariable)
	}
	// A redirect would carry the token and the login to another address.
	client := &http.Client{Timeout: serverTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &serverSessions{strings.TrimSuffix(u.String(), "/"), token, client}, nil
}

func isLoopbackHost(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// hosts implements sessionTarget.
func (t *serverSessions) hosts(ctx context.Context, session string) ([]string, error) {
	var info struct {
		Hosts []string `json:"hosts"`
	}
	err := t.call(ctx, http.MethodGet, session, nil, &info)
	var refused *serverError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return nil, nil
	}
	return info.Hosts, err
}

// save implements sessionTarget.
func (t *serverSessions) save(ctx context.Context, session string, text []byte) error {
	return t.call(ctx, http.MethodPut, session+"/state", text, nil)
}

// serverError is the answer of a server that has refused a request.
type serverError struct {
	server string
	status int
	detail string
}

func (e *serverError) Error() string {
	text := fmt.Sprintf("%s answered %d %s: %s", e.server, e.status, http.StatusText(e.status), e.detail)
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; " + adminTokenVariable + " must have a token of this server with the scopes secrets:read and secrets:write"
	}
	return text
}

// call makes a request about a session and decodes the answer, unless into is nil.
func (t *serverSessions) call(ctx context.Context, method, path string, body []byte, into any) error {
	q, err := http.NewRequestWithContext(ctx, method, t.base+"/sessions/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+t.token)
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	answer, err := t.client.Do(q)
	if err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxServerAnswer))
	if err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		var problem struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(text, &problem) // else the answer is not one of rote
		return &serverError{t.base, answer.StatusCode, cmp.Or(routine.Truncate(problem.Detail, 500), "this is not what a rote server answers")}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s did not answer as a rote server does: %w", t.base, err)
	}
	return nil
}
