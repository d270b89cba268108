package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"rote/browser/egress"
	"rote/routine"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make a token and print its secret, once."`
	List   tokenList   `cmd:"" help:"List the tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

// tokenCreate creates a token for the principal of --user, --organization and
// --project.
type tokenCreate struct {
	Expires days     `help:"Time to live, as in 90d or 12h (unlimited)." placeholder:"TIME"`
	Scope   []string `help:"routines:read|write, executions:run|read, secrets:read (these five), secrets:write or admin. Repeatable." placeholder:"SCOPE"`
	Reach   []string `help:"Restrict its runs to this host, as in --allow-host. Repeatable." placeholder:"HOST"`
}

func (c *tokenCreate) Run(ctx context.Context, g *globals, s streams) (err error) {
	p, err := c.principal(g)
	if err != nil {
		return err
	}
	created, err := g.createsFile()
	if err != nil {
		return err
	}
	a, err := openAppWithoutBrowser(ctx, g, s, mayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if created != "" {
		fmt.Fprintf(s.err, "rote: %s is a new database\n", created)
	}
	secret, t, err := a.service.CreateToken(ctx, p, time.Duration(c.Expires))
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "token %s of user %s, organization %s, project %s; its secret is not shown again:\n", t.ID, t.UserID, t.OrganizationID, t.ProjectID)
	_, err = fmt.Fprintln(s.out, secret)
	return err
}

// principal returns the principal that the token authenticates.
func (c *tokenCreate) principal(g *globals) (routine.Principal, error) {
	p := g.localPrincipal()
	p.AllowedHosts = c.Reach
	p.Scopes = routine.DefaultScopes
	var err error
	if len(c.Scope) > 0 {
		if p.Scopes, err = routine.ParseScopes(c.Scope); err != nil {
			return p, err
		}
	}
	_, err = egress.NewPolicy(egress.Listed, c.Reach, nil)
	return p, err
}

type tokenList struct{}

func (c *tokenList) Run(ctx context.Context, g *globals, s streams) (err error) {
	a, err := openAppWithoutBrowser(ctx, g, s, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	tokens, err := a.service.Tokens(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUSER\tORGANIZATION\tPROJECT\tSCOPES\tREACH\tCREATED\tLAST USED\tSTATE")
	for _, t := range tokens {
		used := "never"
		if t.LastUsedAt != nil {
			used = t.LastUsedAt.UTC().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.UserID, t.OrganizationID, t.ProjectID, t.Scopes,
			cmp.Or(strings.Join(t.AllowedHosts, " "), "-"), t.CreatedAt.UTC().Format(time.DateTime), used, tokenState(t, time.Now()))
	}
	return w.Flush()
}

func tokenState(t *routine.Token, now time.Time) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked " + t.RevokedAt.UTC().Format(time.DateTime)
	case t.ExpiresAt == nil:
		return "valid"
	case !t.Valid(now):
		return "expired " + t.ExpiresAt.UTC().Format(time.DateTime)
	}
	return "valid until " + t.ExpiresAt.UTC().Format(time.DateTime)
}

type tokenRevoke struct {
	ID string `arg:"" help:"The token's id, see token list."`
}

func (c *tokenRevoke) Run(ctx context.Context, g *globals, s streams) (err error) {
	a, err := openAppWithoutBrowser(ctx, g, s, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.service.RevokeToken(ctx, c.ID)
}
