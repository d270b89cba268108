package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"rote/browser/egress"
)

type webhookCommand struct {
	Secret webhookSecretCommand `cmd:"" help:"Print the secret with which receivers check the signatures of the organization's webhooks; created on first use."`
}

type webhookSecretCommand struct{}

// Run prints only the secret to standard output.
func (c *webhookSecretCommand) Run(ctx context.Context, g *globals, s streams) (err error) {
	a, err := openAppWithoutBrowser(ctx, g, s, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	secret, err := a.service.WebhookSecret(ctx, g.localPrincipal())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, secret)
	return err
}

// webhookSender sends webhooks under the egress policy.
type webhookSender struct{ policy *egress.Policy }

func (w webhookSender) Allows(ctx context.Context, to string, hosts []string) error {
	p, err := w.policyFor(hosts)
	if err != nil {
		return err
	}
	return p.Judge(ctx, to)
}

// Send returns only the status of the response. Its errors do not contain the
// URL, which may include a secret of the receiver, because errors are logged
// and stored.
func (w webhookSender) Send(ctx context.Context, to string, hosts []string, headers map[string]string, body []byte) (int, error) {
	p, err := w.policyFor(hosts)
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

// policyFor returns the policy for a caller who may reach only these hosts.
func (w webhookSender) policyFor(hosts []string) (*egress.Policy, error) {
	if len(hosts) == 0 {
		return w.policy, nil
	}
	return w.policy.Narrow(hosts)
}
