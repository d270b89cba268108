package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"rote/routine"
)

// Grant describes a token that GrantToken makes. It acts in its maker's organization and
// project.
type Grant struct {
	// UserID is the user as whom the token acts; empty: its maker.
	UserID string
	Scopes routine.Scopes
	// AllowedHosts narrows what the token's runs may reach, in the notation of
	// [routine.ParseHostRule]; empty: the hosts that its maker's token may reach.
	AllowedHosts []string
	// ValidFor is the token's time to live; 0: as long as its maker's token is valid.
	ValidFor time.Duration
}

// MayManageTokens returns nil if p may list, grant and withdraw the tokens of its
// organization. CodeUnauthenticated, CodeForbidden.
func (s *Service) MayManageTokens(p routine.Principal) error { return may(p, toManageTokens, nil) }

// OrganizationTokens returns the tokens of p's organization, newest first, at most limit (0:
// all) after offset, and their number. They include the revoked and the expired ones, and
// have no secrets. The admin token of the configuration is not one of them.
// CodeUnauthenticated, CodeForbidden, CodeStoreUnavailable.
func (s *Service) OrganizationTokens(ctx context.Context, p routine.Principal, limit, offset int) ([]*routine.Token, int, error) {
	if err := may(p, toManageTokens, nil); err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.OrganizationTokens(ctx, p.OrganizationID, limit, offset)
	if err != nil {
		return nil, 0, storeError(ctx, "list tokens", err)
	}
	return list, total, nil
}

// GrantToken creates a token that is no wider than p's own: it acts in p's organization and
// project, reaches no host that p may not reach, and is not valid for longer than p's token.
// Of the scopes it can have any, because p needs the scope admin, which includes all. The
// token is not withdrawn together with p's. GrantToken returns the token and its secret,
// which is not stored and cannot be shown again. CodeUnauthenticated; CodeForbidden, also for
// a wider token; CodeInvalid as CreateToken, and for malformed hosts; CodeStoreUnavailable.
func (s *Service) GrantToken(ctx context.Context, p routine.Principal, g Grant) (string, *routine.Token, error) {
	if err := may(p, toManageTokens, nil); err != nil {
		return "", nil, err
	}
	granted := routine.Principal{UserID: p.UserID, OrganizationID: p.OrganizationID, ProjectID: p.ProjectID, Scopes: g.Scopes, AllowedHosts: p.AllowedHosts}
	if g.UserID != "" {
		granted.UserID = g.UserID
	}
	if len(g.AllowedHosts) > 0 {
		if err := mayAllowHosts(p, g.AllowedHosts); err != nil {
			return "", nil, err
		}
		granted.AllowedHosts = g.AllowedHosts
	}
	now := s.now()
	validFor := g.ValidFor
	end, err := s.endOfToken(ctx, p, now)
	if err != nil {
		return "", nil, err
	}
	if end != nil {
		left := end.Sub(now)
		if validFor > left {
			return "", nil, routine.Errorf(routine.CodeForbidden, "the token would be valid for longer than yours, which expires at %s: choose a shorter time",
				end.Format(time.RFC3339))
		}
		if validFor == 0 {
			validFor = left
		}
	}
	return s.createToken(ctx, p, granted, validFor)
}

// endOfToken returns when the token of p expires; nil: it does not. CodeUnauthenticated if it
// is not valid any longer; CodeStoreUnavailable.
func (s *Service) endOfToken(ctx context.Context, p routine.Principal, now time.Time) (*time.Time, error) {
	if p.TokenID == "" { // the admin token of the configuration, or a local caller
		return nil, nil
	}
	t, err := s.validToken(ctx, p.TokenID, now)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, errInvalidToken
	}
	return t.ExpiresAt, nil
}

// mayAllowHosts returns nil if a token that p makes may reach hosts. CodeInvalid,
// CodeForbidden.
func mayAllowHosts(p routine.Principal, hosts []string) error {
	own := make([]routine.HostRule, 0, len(p.AllowedHosts))
	for _, text := range p.AllowedHosts {
		rule, err := routine.ParseHostRule(text)
		if err != nil {
			return routine.Errorf(routine.CodeForbidden, "your own token is for a malformed host: %v", err)
		}
		own = append(own, rule)
	}
	for _, text := range hosts {
		rule, err := routine.ParseHostRule(text)
		if err != nil {
			return routine.Errorf(routine.CodeInvalid, "%v", err)
		}
		if len(own) > 0 && !slices.ContainsFunc(own, func(r routine.HostRule) bool { return r.Covers(rule) }) {
			return routine.Errorf(routine.CodeForbidden, "the token would reach %s, which yours may not reach: choose hosts of your own token",
				routine.Quote(routine.Truncate(text, 80)))
		}
	}
	return nil
}

// WithdrawToken revokes a token of p's organization: it is invalid from the next call on, and
// its sign-ins in the console have ended. p may withdraw its own token, and then has ended its
// own rights. The call is idempotent. CodeNotFound if the organization has no such token, also if
// another one has it; CodeUnauthenticated, CodeForbidden, CodeStoreUnavailable.
func (s *Service) WithdrawToken(ctx context.Context, p routine.Principal, id string) error {
	if err := may(p, toManageTokens, nil); err != nil {
		return err
	}
	t, err := s.store.TokenByID(ctx, id)
	if err != nil && !errors.Is(err, routine.ErrNotFound) {
		return storeError(ctx, "read token", err)
	}
	if err != nil || t.OrganizationID != p.OrganizationID {
		return routine.Errorf(routine.CodeNotFound, "your organization has no token %s", routine.Quote(routine.Truncate(id, 80)))
	}
	return s.revokeToken(ctx, p, id)
}
