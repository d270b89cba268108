package service_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// tokenCase is a service with an organization's administrator and what belongs to others.
type tokenCase struct {
	*service.Service
	now   time.Time
	admin routine.Principal // of acme
	other *routine.Token    // of another organization
}

func newTokenCase(t *testing.T) *tokenCase {
	t.Helper()
	c := &tokenCase{now: routinetest.Time}
	c.Service = service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Now: func() time.Time { return c.now }})
	t.Cleanup(func() { c.Close(t.Context()) })
	c.admin = c.principal(t, routine.Principal{UserID: "root", OrganizationID: "acme", ProjectID: "p", Scopes: routine.ScopeAdmin}, 0)
	_, other, err := c.CreateToken(t.Context(), bob, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.other = other
	return c
}

// principal makes a token for p and returns the principal that it authenticates.
func (c *tokenCase) principal(t *testing.T, p routine.Principal, validFor time.Duration) routine.Principal {
	t.Helper()
	secret, _, err := c.CreateToken(t.Context(), p, validFor)
	if err != nil {
		t.Fatal(err)
	}
	p, err = c.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Only the scope admin lets a caller manage tokens. Every scope can be granted.
func TestTokensAreForAdministrators(t *testing.T) {
	c := newTokenCase(t)
	_, token, err := c.CreateToken(t.Context(), ann, 0)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 {
		scope := routine.Scopes(1 << bit)
		if scope.String() == "" {
			break // there are no more
		}
		p := ann
		p.Scopes = scope
		want := routine.CodeForbidden
		if scope == routine.ScopeAdmin {
			want = ""
		}
		_, _, list := c.OrganizationTokens(t.Context(), p, 0, 0)
		_, _, grant := c.GrantToken(t.Context(), p, service.Grant{Scopes: routine.ScopeRoutinesRead})
		withdraw := c.WithdrawToken(t.Context(), p, token.ID)
		for what, err := range map[string]error{"may": c.MayManageTokens(p), "list": list, "grant": grant, "withdraw": withdraw,
			"withdraw an unknown one": asForbidden(c.WithdrawToken(t.Context(), p, "none"))} {
			if routine.CodeOf(err) != want || want != "" && !strings.Contains(err.Error(), "needs the scope admin") {
				t.Errorf("%s with %s: %v", what, scope, err)
			}
		}
		if _, granted, err := c.GrantToken(t.Context(), c.admin, service.Grant{UserID: "kim", Scopes: scope}); err != nil || granted.Scopes != scope {
			t.Errorf("granting %s: %+v, %v", scope, granted, err)
		}
	}
	_, _, err = c.OrganizationTokens(t.Context(), nobody, 0, 0)
	_, _, grant := c.GrantToken(t.Context(), nobody, service.Grant{Scopes: routine.ScopeRoutinesRead})
	for _, err := range []error{err, grant, c.MayManageTokens(nobody), c.WithdrawToken(t.Context(), nobody, token.ID)} {
		if routine.CodeOf(err) != routine.CodeUnauthenticated {
			t.Errorf("without a token: %v", err)
		}
	}
}

// asForbidden returns nil for the answer to an administrator who withdraws an unknown token.
func asForbidden(err error) error {
	if routine.CodeOf(err) == routine.CodeNotFound {
		return nil
	}
	return err
}

func TestGrantedTokenIsNoWiderThanItsMakers(t *testing.T) {
	c := newTokenCase(t)
	narrow := c.admin
	narrow.AllowedHosts = []string{"*.shop.example", "Pay.example:443", "10.0.0.0/8"}
	narrow = c.principal(t, narrow, 24*time.Hour)
	malformed := c.admin
	malformed.AllowedHosts = []string{"https://shop.example"}
	configured := routine.Principal{UserID: "admin", OrganizationID: "acme", ProjectID: "p", Scopes: routine.ScopeAdmin}
	hosts := func(list ...string) service.Grant {
		return service.Grant{Scopes: routine.ScopeExecutionsRun, AllowedHosts: list}
	}
	lasting := func(d time.Duration) service.Grant { return service.Grant{Scopes: routine.DefaultScopes, ValidFor: d} }
	day := c.now.Add(24 * time.Hour)
	for _, row := range []struct {
		name  string
		maker routine.Principal
		grant service.Grant
		code  routine.Code
		hosts []string
		ends  *time.Time
	}{
		{"any host", c.admin, hosts(), "", nil, nil},
		{"a range with a port", c.admin, hosts("shop.example", "10.1.0.0/16:80"), routine.CodeInvalid, nil, nil},
		{"a URL", c.admin, hosts("shop.example", "https://shop.example/"), routine.CodeInvalid, nil, nil},
		{"hosts", c.admin, hosts("shop.example", "*.x.example:8443", "10.0.0.0/8", "[::1]:80"), "",
			[]string{"shop.example", "*.x.example:8443", "10.0.0.0/8", "[::1]:80"}, nil},
		{"the maker's hosts, by default", narrow, hosts(), "", narrow.AllowedHosts, &day},
		{"the maker's hosts", narrow, hosts(narrow.AllowedHosts...), "", narrow.AllowedHosts, &day},
		{"some of them", narrow, hosts("a.shop.example:443", "*.b.SHOP.example.", "pay.example:443", "10.2.3.4:80", "10.128.0.0/9"), "",
			[]string{"a.shop.example:443", "*.b.SHOP.example.", "pay.example:443", "10.2.3.4:80", "10.128.0.0/9"}, &day},
		{"the name above", narrow, hosts("shop.example"), routine.CodeForbidden, nil, nil},
		{"a name that ends alike", narrow, hosts("*.workshop.example"), routine.CodeForbidden, nil, nil},
		{"all names above", narrow, hosts("*.example"), routine.CodeForbidden, nil, nil},
		{"names below a host", narrow, hosts("*.pay.example:443"), routine.CodeForbidden, nil, nil},
		{"another port", narrow, hosts("pay.example:80"), routine.CodeForbidden, nil, nil},
		{"all ports", narrow, hosts("pay.example"), routine.CodeForbidden, nil, nil},
		{"another address", narrow, hosts("11.0.0.1"), routine.CodeForbidden, nil, nil},
		{"a wider range", narrow, hosts("10.0.0.0/7"), routine.CodeForbidden, nil, nil},
		{"one host too many", narrow, hosts("a.shop.example", "other.example"), routine.CodeForbidden, nil, nil},
		{"hosts of a maker without any that can be read", malformed, hosts("shop.example"), routine.CodeForbidden, nil, nil},

		{"for ever", c.admin, lasting(0), "", nil, nil},
		{"for a while", c.admin, lasting(24 * time.Hour), "", nil, &day},
		{"for a negative time", c.admin, lasting(-1), routine.CodeInvalid, nil, nil},
		{"for as long as the maker's", narrow, lasting(24 * time.Hour), "", narrow.AllowedHosts, &day},
		{"for longer than the maker's", narrow, lasting(24*time.Hour + 1), routine.CodeForbidden, nil, nil},
		{"by a caller without a stored token", configured, lasting(24 * time.Hour), "", nil, &day},
		{"without a scope", c.admin, service.Grant{}, routine.CodeInvalid, nil, nil},
		{"with control characters", c.admin, service.Grant{UserID: "a\n", Scopes: routine.ScopeAdmin}, routine.CodeInvalid, nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, before, _ := c.OrganizationTokens(t.Context(), c.admin, 1, 0)
			secret, token, err := c.GrantToken(t.Context(), row.maker, row.grant)
			list, after, _ := c.OrganizationTokens(t.Context(), c.admin, 1, 0)
			if routine.CodeOf(err) != row.code {
				t.Fatalf("%v, want %q", err, row.code)
			}
			if row.code != "" {
				if secret != "" || token != nil || after != before {
					t.Errorf("a token was made: %+v", token)
				}
				return
			}
			if p, err := c.Authenticate(t.Context(), secret); err != nil || p.TokenID != token.ID || p.UserID != row.maker.UserID || p.OrganizationID != "acme" ||
				p.ProjectID != "p" || p.Scopes != row.grant.Scopes || !slices.Equal(p.AllowedHosts, row.hosts) {
				t.Errorf("%+v, %v", p, err)
			}
			if after != before+1 || !slices.ContainsFunc(list, func(k *routine.Token) bool { return k.ID == token.ID }) {
				t.Errorf("%d tokens after %d: %v", after, before, list)
			}
			if end := token.ExpiresAt; (end == nil) != (row.ends == nil) || end != nil && !end.Equal(*row.ends) {
				t.Errorf("ends %v, want %v", end, row.ends)
			}
		})
	}
	c.now = day
	if _, _, err := c.GrantToken(t.Context(), narrow, hosts()); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Errorf("a grant by a token that has expired: %v", err)
	}
}

func TestWithdrawToken(t *testing.T) {
	c := newTokenCase(t)
	secret, token, err := c.GrantToken(t.Context(), c.admin, service.Grant{UserID: "kim", Scopes: routine.ScopeRoutinesRead})
	if err != nil || token.UserID != "kim" {
		t.Fatal(token, err)
	}
	foreign, unknown := c.WithdrawToken(t.Context(), c.admin, c.other.ID), c.WithdrawToken(t.Context(), c.admin, "none")
	if routine.CodeOf(foreign) != routine.CodeNotFound || routine.CodeOf(unknown) != routine.CodeNotFound ||
		strings.ReplaceAll(foreign.Error(), c.other.ID, "none") != unknown.Error() {
		t.Errorf("a foreign token: %v; an unknown one: %v", foreign, unknown)
	}
	for range 2 {
		if err := c.WithdrawToken(t.Context(), c.admin, token.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Authenticate(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated {
			t.Errorf("a withdrawn token: %v", err)
		}
	}
	list, total, err := c.OrganizationTokens(t.Context(), c.admin, 0, 0)
	if err != nil || total != 2 || len(list) != 2 || slices.ContainsFunc(list, func(k *routine.Token) bool { return k.OrganizationID != "acme" }) {
		t.Errorf("%d tokens: %v, %v", total, list, err)
	}
	if err := c.WithdrawToken(t.Context(), c.admin, c.admin.TokenID); err != nil {
		t.Fatal("withdrawing one's own token: ", err)
	}
	if _, _, err := c.GrantToken(t.Context(), c.admin, service.Grant{Scopes: routine.ScopeAdmin}); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Errorf("a grant by a withdrawn token: %v", err)
	}
}
