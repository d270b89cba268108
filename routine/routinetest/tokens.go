package routinetest

import (
	"testing"
	"time"

	"rote/routine"
)

var tokenPromises = []promise{
	{"a token is found by its hash and by its id, whole", tokenIsKept},
	{"an unknown hash or id is not found", tokenNotFound},
	{"a token that is revoked or expired is found", invalidTokenIsFound},
	{"tokens are listed oldest first, ties by id", tokenOrder},
	{"the tokens of an organization are listed newest first, in pages", organizationTokens},
	{"revoking is idempotent and keeps the first time", revokeIsIdempotent},
	{"the latest use of a token is kept", latestUseIsKept},
	{"an unknown token is neither revoked nor used", unknownToken},
	{"a hash belongs to one token", hashIsUnique},
	{"tokens are copied in and out", tokenIsCopied},
}

func wantToken(t *testing.T, s routine.Store, want *routine.Token) {
	t.Helper()
	got, err := s.TokenByHash(t.Context(), want.Hash)
	must(t, err)
	equal(t, "token", got, want)
	got, err = s.TokenByID(t.Context(), want.ID)
	must(t, err)
	equal(t, "token by its id", got, want)
}

func tokenIsKept(t *testing.T, s routine.Store) {
	lasting := Token(t)
	expiring := Token(t, func(k *routine.Token) { k.ExpiresAt = new(Time.Add(90 * 24 * time.Hour)) })
	narrow := Token(t, func(k *routine.Token) {
		k.Scopes, k.AllowedHosts = routine.ScopeExecutionsRun|routine.ScopeAdmin, []string{"*.shop.example", "10.0.0.0/8"}
		k.LastUsedAt = new(Time.Add(time.Second))
	})
	for _, k := range []*routine.Token{lasting, expiring, narrow} {
		must(t, s.CreateToken(t.Context(), k))
		wantToken(t, s, k)
	}
}

func tokenNotFound(t *testing.T, s routine.Store) {
	k := Token(t)
	must(t, s.CreateToken(t.Context(), k))
	k.Hash[31]++
	_, err := s.TokenByHash(t.Context(), k.Hash)
	wantErr(t, "TokenByHash", err, routine.ErrNotFound)
	for _, id := range []string{"no-such-id", "", "\x00"} {
		_, err = s.TokenByID(t.Context(), id)
		wantErr(t, "TokenByID", err, routine.ErrNotFound)
	}
}

func invalidTokenIsFound(t *testing.T, s routine.Store) {
	expired := Token(t, func(k *routine.Token) { k.ExpiresAt = new(Time.Add(-time.Hour)) })
	revoked := Token(t, func(k *routine.Token) { k.RevokedAt = new(Time.Add(time.Minute)) })
	for _, k := range []*routine.Token{expired, revoked} {
		must(t, s.CreateToken(t.Context(), k))
		wantToken(t, s, k)
	}
}

func tokenOrder(t *testing.T, s routine.Store) {
	at := func(id string, created time.Time) *routine.Token {
		return Token(t, func(k *routine.Token) { k.ID, k.CreatedAt = id, created })
	}
	oldest, tieA, tieB, newest := at("z", Time.Add(-time.Microsecond)), at("a", Time), at("b", Time), at("0", Time.Add(time.Hour))
	for _, k := range []*routine.Token{tieB, newest, oldest, tieA} {
		must(t, s.CreateToken(t.Context(), k))
	}
	list, err := s.Tokens(t.Context())
	must(t, err)
	equal(t, "list", list, []*routine.Token{oldest, tieA, tieB, newest})
}

func organizationTokens(t *testing.T, s routine.Store) {
	at := func(id, organization string, created time.Time) *routine.Token {
		k := Token(t, func(k *routine.Token) { k.ID, k.OrganizationID, k.CreatedAt = id, organization, created })
		must(t, s.CreateToken(t.Context(), k))
		return k
	}
	at("0", "acme2", Time)
	tieA, tieB, newest, oldest := at("a", "acme", Time), at("b", "acme", Time), at("c", "acme", Time.Add(time.Hour)), at("z", "acme", Time.Add(-time.Hour))
	oldest.RevokedAt = new(Time)
	must(t, s.RevokeToken(t.Context(), oldest.ID, Time))
	for _, row := range []struct {
		organization  string
		limit, offset int
		want          []*routine.Token
		total         int
	}{
		{"acme", 0, 0, []*routine.Token{newest, tieB, tieA, oldest}, 4},
		{"acme", 2, 1, []*routine.Token{tieB, tieA}, 4},
		{"acme", 2, 3, []*routine.Token{oldest}, 4},
		{"acme", 2, 4, nil, 4},
		{"", 2, 0, nil, 0},
		{"acm\x00", 2, 0, nil, 0},
	} {
		list, total, err := s.OrganizationTokens(t.Context(), row.organization, row.limit, row.offset)
		must(t, err)
		equal(t, "list", list, row.want)
		equal(t, "total", total, row.total)
	}
}

func revokeIsIdempotent(t *testing.T, s routine.Store) {
	k, other := Token(t), Token(t)
	must(t, s.CreateToken(t.Context(), k))
	must(t, s.CreateToken(t.Context(), other))
	first := Time.Add(time.Hour)
	for _, at := range []time.Time{first, first.Add(time.Hour), first.Add(-time.Minute)} {
		must(t, s.RevokeToken(t.Context(), k.ID, at))
		k.RevokedAt = &first
		wantToken(t, s, k)
	}
	wantToken(t, s, other)
}

func latestUseIsKept(t *testing.T, s routine.Store) {
	k, other := Token(t), Token(t)
	must(t, s.CreateToken(t.Context(), k))
	must(t, s.CreateToken(t.Context(), other))
	latest := Time.Add(time.Hour)
	for _, at := range []time.Time{Time, latest, latest.Add(-time.Minute)} {
		must(t, s.UseToken(t.Context(), k.ID, at))
	}
	k.LastUsedAt = &latest
	wantToken(t, s, k)
	wantToken(t, s, other)
}

func unknownToken(t *testing.T, s routine.Store) {
	must(t, s.CreateToken(t.Context(), Token(t)))
	wantErr(t, "RevokeToken", s.RevokeToken(t.Context(), "no-such-id", Time), routine.ErrNotFound)
	wantErr(t, "UseToken", s.UseToken(t.Context(), "no-such-id", Time), routine.ErrNotFound)
}

func hashIsUnique(t *testing.T, s routine.Store) {
	first := Token(t)
	must(t, s.CreateToken(t.Context(), first))
	second := Token(t, func(k *routine.Token) { k.Hash = first.Hash })
	if err := s.CreateToken(t.Context(), second); err == nil {
		t.Error("a second token with the hash of the first was saved")
	}
	wantToken(t, s, first)
}

func tokenIsCopied(t *testing.T, s routine.Store) {
	expires := Time.Add(time.Hour)
	passed := Token(t, func(k *routine.Token) { k.ExpiresAt, k.AllowedHosts = new(expires), []string{"shop.example"} })
	want := *passed
	want.ExpiresAt, want.AllowedHosts = &expires, []string{"shop.example"}
	must(t, s.CreateToken(t.Context(), passed))
	*passed.ExpiresAt, passed.AllowedHosts[0] = time.Time{}, "spoilt"
	wantToken(t, s, &want)

	got, err := s.TokenByHash(t.Context(), want.Hash)
	must(t, err)
	*got.ExpiresAt, got.AllowedHosts[0] = time.Time{}, "spoilt"
	list, err := s.Tokens(t.Context())
	must(t, err)
	equal(t, "list", list, []*routine.Token{&want})
	*list[0].ExpiresAt, list[0].AllowedHosts[0] = time.Time{}, "spoilt"
	wantToken(t, s, &want)
}
