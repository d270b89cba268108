package sqlite

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

var administrator = routine.Principal{UserID: "root", OrganizationID: "acme", ProjectID: "p", Scopes: routine.ScopeAdmin}

// serviceOf returns a service on a Store, as a process of its own would have.
func serviceOf(t *testing.T, s *Store) *service.Service {
	t.Helper()
	of := service.New(service.Config{Store: s, Browser: &routinetest.Browser{}})
	t.Cleanup(func() { of.Close(t.Context()) })
	return of
}

// A sign-in holds after a restart and in other processes, until its token is revoked in any.
func TestSignInsEndWithTheirToken(t *testing.T) {
	path := tempPath(t)
	before, err := Open(t.Context(), path)
	must(t, err)
	first := serviceOf(t, before)
	tokenSecret, token, err := first.CreateToken(t.Context(), administrator, 0)
	must(t, err)
	secret, _, err := first.SignIn(t.Context(), tokenSecret)
	must(t, err)
	first.Close(t.Context())
	must(t, before.Close())

	second, third := serviceOf(t, open(t, path)), serviceOf(t, open(t, path))
	for _, s := range []*service.Service{second, third} {
		if p, err := s.SignedIn(t.Context(), secret); err != nil || p.TokenID != token.ID {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	must(t, second.WithdrawToken(t.Context(), administrator, token.ID))
	for _, s := range []*service.Service{second, third} {
		if _, err := s.SignedIn(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated {
			t.Errorf("with a revoked token: %v", err)
		}
	}
}

// Neither the secret of a token nor that of a sign-in is in the files of the database, in any
// spelling. Their hashes are.
func TestSecretsOfSignInsAreNotInTheFile(t *testing.T) {
	path := tempPath(t)
	s := serviceOf(t, open(t, path))
	tokenSecret, _, err := s.GrantToken(t.Context(), administrator, service.Grant{Scopes: routine.DefaultScopes})
	must(t, err)
	secret, _, err := s.SignIn(t.Context(), tokenSecret)
	must(t, err)
	_, err = s.SignedIn(t.Context(), secret)
	must(t, err)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	must(t, err)
	var content []byte
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			must(t, err)
			content = append(content, text...)
		}
	}
	for _, hidden := range []string{tokenSecret, secret} {
		hash := sha256.Sum256([]byte(hidden))
		if !bytes.Contains(content, hash[:]) {
			t.Errorf("the hash of %s is not in %v", hidden, files)
		}
		text := strings.TrimPrefix(hidden, "rote_")
		random, err := base64.RawURLEncoding.DecodeString(text)
		must(t, err)
		for _, spelled := range [][]byte{[]byte(text), random, []byte(hex.EncodeToString(random)), []byte(base64.StdEncoding.EncodeToString(random))} {
			if bytes.Contains(content, spelled) {
				t.Errorf("%s is in %v as %q", hidden, files, spelled)
			}
		}
	}
}
