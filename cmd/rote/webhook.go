package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"rote/browser/egress"
	"rote/routine/sqlite"
)

type webhookCommand struct {
	Secret webhookSecretCommand `cmd:"" help:"Print what receivers of the organization's webhooks check signatures with; made when there is none."`
}

type webhookSecretCommand struct{}

// Run prints the secret, alone, on stdout.
func (c *webhookSecretCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	a, err := open(ctx, g, s, sqlite.MustExist())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	secret, err := a.service.WebhookSecret(ctx, g.local())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, secret)
	return err
}

// webhooks makes the calls of webhooks under the egress policy.
type webhooks struct{ policy *egress.Policy }

func (w webhooks) Allows(ctx context.Context, to string, hosts []string) error {
	p, err := w.narrow(hosts)
	if err != nil {
		return err
	}
	return p.Judge(ctx, to)
}

// Send gives no error that shows the URL, in which receivers keep secrets: errors
// are logged and stored. Of the answer only the status counts.
func (w webhooks) Send(ctx context.Context, to string, hosts []string, headers map[string]string, body []byte) (int, error) {
	p, err := w.narrow(hosts)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, withoutURL(err)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", "rote/"+version())
	client := p.Client()
	defer client.CloseIdleConnections()
	answer, err := client.Do(request)
	if err != nil {
		return 0, withoutURL(err)
	}
	answer.Body.Close()
	return answer.StatusCode, nil
}

func withoutURL(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		return whole.Err
	}
	return err
}

// narrow is the policy for a caller who is limited to hosts.
func (w webhooks) narrow(hosts []string) (*egress.Policy, error) {
	if len(hosts) == 0 {
		return w.policy, nil
	}
	return w.policy.Narrow(hosts)
}
