package provider

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
)

// vaultDouble answers as Vault and OpenBao do, by the description of their API: KV version 2
// under /v1/secret, and the Kubernetes login.
type vaultDouble struct {
	mu sync.Mutex
	// tokens are the valid ones.
	tokens []string
	// entries are the data of the newest version by path; a nil one was deleted.
	entries map[string]map[string]any
	// role and account are what the login expects, and issues what it returns, in order.
	role, account string
	issues        []string
	// asked are the requests: method, path and namespace.
	asked []string
}

func (d *vaultDouble) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, strings.TrimSpace(r.Method+" "+r.URL.EscapedPath()+" "+r.Header.Get("X-Vault-Namespace")))
	refuse := func(status int, message string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []string{message}})
	}
	if r.Header.Get("X-Vault-Request") != "true" {
		refuse(http.StatusPreconditionFailed, "missing required header X-Vault-Request")
		return
	}
	if r.Method == http.MethodPost && r.URL.Path == "/v1/auth/kubernetes/login" {
		var body struct{ Role, JWT string }
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.Role != d.role || body.JWT != d.account || len(d.issues) == 0 {
			refuse(http.StatusForbidden, "permission denied")
			return
		}
		token := d.issues[0]
		d.issues = d.issues[1:]
		_ = json.NewEncoder(w).Encode(map[string]any{"request_id": "1", "data": nil, "auth": map[string]any{"client_token": token, "accessor": "a",
			"policies": []string{"default"}, "lease_duration": 2764800, "renewable": true}})
		return
	}
	path, isData := strings.CutPrefix(r.URL.Path, "/v1/secret/data/")
	entry, known := d.entries[path]
	switch {
	case !slices.Contains(d.tokens, r.Header.Get("X-Vault-Token")):
		refuse(http.StatusForbidden, "permission denied")
	case !isData || !known:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"errors":[]}`))
	default:
		metadata := map[string]any{"created_time": "2026-03-22T02:24:06.945319214Z", "custom_metadata": nil, "deletion_time": "", "destroyed": false, "version": 2}
		if entry == nil {
			metadata["deletion_time"] = "2026-03-23T00:00:00Z"
			w.WriteHeader(http.StatusNotFound)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"request_id": "1", "lease_id": "", "renewable": false, "lease_duration": 0,
			"data": map[string]any{"data": entry, "metadata": metadata}, "wrap_info": nil, "warnings": nil, "auth": nil})
	}
}

// takeAsked returns the requests since the last call.
func (d *vaultDouble) takeAsked() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.asked
	d.asked = nil
	return asked
}

// newTestVault returns a provider whose requests go to the server behind the pipes.
func newTestVault(t *testing.T, through *pipes, config VaultConfig) routine.SecretProvider {
	t.Helper()
	if config.Address == "" {
		config.Address = "http://vault.example:8200"
	}
	if config.Mount == "" {
		config.Mount = "secret"
	}
	p, err := NewVault(config)
	if err != nil {
		t.Fatal(err)
	}
	through.through(p.(*cached).source.(*vault).client)
	return p
}

const tenantPrefix = "rote/{organization}/{project}"

func TestVaultValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &vaultDouble{tokens: []string{"the-token"}, entries: map[string]map[string]any{
			"rote/acme/shop/login":    {"password": theValue, "user name": "ann", "pin": 1234, "none": nil, "empty": ""},
			"rote/acme/shop/a b/c":    {"x": "with a blank"},
			"rote/acme/-/login":       {"password": "of the organization"},
			"rote/acme/bank/login":    {"password": "of another project"},
			"rote/other/shop/login":   {"password": "of another organization"},
			"rote/acme/shop/deleted":  nil,
			"rote/a#b c/shop/special": {"x": "not readable"},
		}}
		p := newTestVault(t, serve(t, false, server.ServeHTTP), VaultConfig{Prefix: tenantPrefix, TokenFile: file(t, "the-token\n"), Namespace: "team"})
		of := func(organization, project, path string) routine.ProviderReference {
			return routine.ProviderReference{OrganizationID: organization, ProjectID: project, Path: path}
		}
		for ref, want := range map[routine.ProviderReference]routine.Hidden{
			of("acme", "shop", "login#password"):  theValue,
			of("acme", "shop", "login#user name"): "ann",
			of("acme", "shop", "login#empty"):     "",
			of("acme", "shop", "a b/c#x"):         "with a blank",
			of("acme", "", "login#password"):      "of the organization",
			of("other", "shop", "login#password"): "of another organization",
		} {
			if value, err := p.ReadSecret(t.Context(), ref); value != want || err != nil {
				t.Errorf("%v: %d bytes, %v", ref, len(value), err)
			}
		}
		for _, asked := range server.takeAsked() {
			if !strings.HasPrefix(asked, "GET /v1/secret/data/rote/") || !strings.HasSuffix(asked, " team") {
				t.Error(asked)
			}
		}
		for ref, want := range map[routine.ProviderReference]error{
			of("acme", "shop", "login#absent"):       routine.ErrNotFound,
			of("acme", "shop", "login#none"):         routine.ErrNotFound,
			of("acme", "shop", "absent#x"):           routine.ErrNotFound,
			of("acme", "shop", "deleted#x"):          routine.ErrNotFound,
			of("acme", "shop", "login#pin"):          errUnusable,
			of("acme", "shop", "../bank/login#x"):    routine.ErrProviderDenied,
			of("acme", "shop", "./login#x"):          routine.ErrProviderDenied,
			of("acme", "shop", "a//login#x"):         routine.ErrProviderDenied,
			of("acme", "shop", "%2e%2e/login#x"):     routine.ErrProviderDenied,
			of("acme", "shop", `..\bank\login#x`):    routine.ErrProviderDenied,
			of("acme", "shop/../bank", "login#x"):    routine.ErrProviderDenied,
			of("acme", "..", "other/shop/login#x"):   routine.ErrProviderDenied,
			of("acme", ".", "shop/login#x"):          routine.ErrProviderDenied,
			of("acme", "-", "login#password"):        routine.ErrProviderDenied,
			of("acme/shop", "login", "x#password"):   routine.ErrProviderDenied,
			of("..", "other", "shop/login#password"): routine.ErrProviderDenied,
			of("a#b c", "shop", "special#x"):         routine.ErrProviderDenied,
			of("", "shop", "login#password"):         routine.ErrProviderDenied,
		} {
			if value, err := p.ReadSecret(t.Context(), ref); value != "" || !errors.Is(err, want) {
				t.Errorf("%v: %d bytes, %v, want %v", ref, len(value), err, want)
			}
		}
		if wait := p.Unavailable(routine.ProviderReference{}); wait != 0 {
			t.Errorf("answers about single values make it unavailable for %s", wait)
		}
	})
}

func TestVaultFaults(t *testing.T) {
	answer := `{"data":{"data":{"password":"` + theValue + `"},"metadata":{"version":1}}}`
	faults := commonFaults(answer)
	maps.Copy(faults, map[string]fault{
		"404":            {handler: status(404, answer), want: routine.ErrNotFound},
		"deleted":        {handler: status(200, `{"data":{"data":null,"metadata":{"deletion_time":"2026-03-22T02:36:43.986212308Z"}}}`), want: routine.ErrNotFound},
		"not version 2":  {handler: status(200, `{"data":{"password":"`+theValue+`"}}`), breaks: true},
		"no entry":       {handler: status(200, `{"data":null}`), breaks: true},
		"value no text":  {handler: status(200, `{"data":{"data":{"password":["`+theValue+`"]},"metadata":{"version":1}}}`), want: errUnusable},
		"no data at all": {handler: status(200, `null`), breaks: true},
	})
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := serve(t, f.encrypted, f.handler)
				if f.down {
					at.Close()
				}
				config := VaultConfig{TokenFile: file(t, "the-token"), Prefix: tenantPrefix}
				if f.encrypted {
					config.Address = "https://vault.example:8200"
				}
				f.check(t, newTestVault(t, at, config), [3]string{"a#password", "b#password", "c#password"})
			})
		})
	}
}

// A token that is replaced in its file is read again when the old one is refused, and a login
// is made again.
func TestVaultTokenIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &vaultDouble{tokens: []string{"one"}, role: "rote", account: "the-account", issues: []string{"one", "two"},
			entries: map[string]map[string]any{"a": {"x": "1"}}}
		at := serve(t, false, server.ServeHTTP)
		tokenFile, accountFile := file(t, "one"), file(t, "the-account\n")
		byFile := newTestVault(t, at, VaultConfig{TokenFile: tokenFile})
		byRole := newTestVault(t, at, VaultConfig{Role: "rote", ServiceAccountFile: accountFile, Namespace: "team"})
		const read, login = "GET /v1/secret/data/a", "POST /v1/auth/kubernetes/login team"
		step := func(p routine.SecretProvider, want error, requests ...string) {
			t.Helper()
			value, err := p.ReadSecret(t.Context(), routine.ProviderReference{Path: "a#x"})
			if want == nil && (value != "1" || err != nil) || !errors.Is(err, want) {
				t.Errorf("%d bytes, %v, want %v", len(value), err, want)
			}
			if asked := server.takeAsked(); !slices.Equal(asked, requests) {
				t.Errorf("requests %q, want %q", asked, requests)
			}
		}
		step(byFile, nil, read)
		step(byRole, nil, login, read+" team")
		time.Sleep(valueAge)
		server.tokens = []string{"two"}
		step(byFile, routine.ErrProviderDenied, read) // the file has the same token
		write(t, tokenFile, "two\n")
		time.Sleep(errorAge)
		step(byFile, nil, read, read)
		step(byRole, nil, read+" team", login, read+" team")
		time.Sleep(valueAge)
		server.tokens, server.issues = []string{"three"}, []string{"four", "five"}
		step(byRole, routine.ErrProviderDenied, read+" team", login, read+" team")
		time.Sleep(errorAge) // the login is too new to be made again
		step(byRole, routine.ErrProviderDenied, read+" team")
		time.Sleep(minLoginInterval)
		server.role = "another"
		if _, err := byRole.ReadSecret(t.Context(), routine.ProviderReference{Path: "a#x"}); answered(err) || !strings.Contains(err.Error(), "--vault-role") {
			t.Error(err)
		}
		for _, path := range []string{tokenFile, accountFile} {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range []routine.SecretProvider{newTestVault(t, at, VaultConfig{TokenFile: tokenFile}),
			newTestVault(t, at, VaultConfig{Role: "rote", ServiceAccountFile: accountFile}), newTestVault(t, at, VaultConfig{TokenFile: file(t, "\n")}),
			newTestVault(t, at, VaultConfig{TokenFile: file(t, "two\nlines")})} {
			if _, err := p.ReadSecret(t.Context(), routine.ProviderReference{Path: "a#x"}); answered(err) {
				t.Error(err)
			}
		}
	})
}

func TestNewVaultRefuses(t *testing.T) {
	good := VaultConfig{Address: "https://vault.example:8200/base/", Mount: "team/kv", Prefix: tenantPrefix, TokenFile: "token"}
	if _, err := NewVault(good); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*VaultConfig){
		"--vault-addr needs --vault-token-file or --vault-role": func(c *VaultConfig) { c.TokenFile = "" },
		"give one of them":        func(c *VaultConfig) { c.Role = "rote" },
		`"vault.example:8200"`:    func(c *VaultConfig) { c.Address = "vault.example:8200" },
		`"ftp://vault.example"`:   func(c *VaultConfig) { c.Address = "ftp://vault.example" },
		"--vault-addr: ":          func(c *VaultConfig) { c.Address = "https://user:password@vault.example" },
		`--vault-mount: ""`:       func(c *VaultConfig) { c.Mount = "" },
		`--vault-mount: "a/../b"`: func(c *VaultConfig) { c.Mount = "a/../b" },
		`--vault-prefix: "/a"`:    func(c *VaultConfig) { c.Prefix = "/a" },
		"{organization}-x":        func(c *VaultConfig) { c.Prefix = "a/{organization}-x" },
		"{user}":                  func(c *VaultConfig) { c.Prefix = "a/{user}" },
	} {
		config := good
		change(&config)
		if _, err := NewVault(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
