package provider

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
)

// connectDouble answers as a 1Password Connect server does, by the description of its API.
type connectDouble struct {
	mu    sync.Mutex
	token string
	// vaults and items are the objects as JSON, items by the id of their vault.
	vaults []map[string]any
	items  map[string][]map[string]any
	asked  []string
}

// connectFilter is the SCIM filter of the API, which ignores the case of letters.
var connectFilter = regexp.MustCompile(`^(name|title) eq "([^"]*)"$`)

func (d *connectDouble) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.Method+" "+r.URL.RequestURI())
	answer := func(status int, body any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/vaults"), "/")[1:]
	var vault map[string]any
	if len(path) > 0 {
		at := slices.IndexFunc(d.vaults, func(v map[string]any) bool { return v["id"] == path[0] })
		if at < 0 {
			answer(404, map[string]any{"status": 404, "message": "vault not found"})
			return
		}
		vault = d.vaults[at]
	}
	switch {
	case r.Header.Get("Authorization") != "Bearer "+d.token:
		answer(401, map[string]any{"status": 401, "message": "Invalid token signature"})
	case vault == nil:
		answer(200, matching(d.vaults, r.URL.Query().Get("filter")))
	case vault["name"] == "locked":
		answer(403, map[string]any{"status": 403, "message": "vault is not in scope"})
	case len(path) == 2:
		answer(200, matching(d.items[path[0]], r.URL.Query().Get("filter")))
	default:
		at := slices.IndexFunc(d.items[path[0]], func(i map[string]any) bool { return i["id"] == path[2] })
		if at < 0 {
			answer(404, map[string]any{"status": 404, "message": "item not found"})
			return
		}
		answer(200, d.items[path[0]][at])
	}
}

// matching returns the objects that a filter finds, without their fields.
func matching(objects []map[string]any, filter string) []map[string]any {
	found := []map[string]any{}
	parts := connectFilter.FindStringSubmatch(filter)
	for _, object := range objects {
		if parts == nil || !strings.EqualFold(object[parts[1]].(string), parts[2]) {
			continue
		}
		short := maps.Clone(object)
		delete(short, "fields")
		delete(short, "sections")
		found = append(found, short)
	}
	return found
}

func newTestOnePassword(t *testing.T, through *pipes, config OnePasswordConfig) routine.SecretProvider {
	t.Helper()
	if config.Host == "" {
		config.Host = "http://connect.example:8080"
	}
	p, err := NewOnePassword(config)
	if err != nil {
		t.Fatal(err)
	}
	through.through(p.(*cached).source.(*onePassword).client)
	return p
}

// id26 returns an id as 1Password makes them.
func id26(text string) string { return text + strings.Repeat("0", 26-len(text)) }

func newConnectDouble() *connectDouble {
	section := func(id string) map[string]any { return map[string]any{"id": id} }
	shop := map[string]any{"id": id26("item1"), "title": "The Shop", "vault": section(id26("acme")), "category": "LOGIN",
		"sections": []any{map[string]any{"id": "add", "label": "More"}, map[string]any{"id": "old", "label": "Old logins"}},
		"fields": []any{
			map[string]any{"id": "username", "type": "STRING", "purpose": "USERNAME", "label": "username", "value": "ann"},
			map[string]any{"id": "password", "type": "CONCEALED", "purpose": "PASSWORD", "label": "password", "value": theValue},
			map[string]any{"id": "old-password", "section": section("old"), "type": "CONCEALED", "label": "password", "value": "before"},
			map[string]any{"id": "otp1", "section": section("add"), "type": "OTP", "label": "one-time password",
				"value": "otpauth://totp/Shop:ann?secret=JBSWY3DPEHPK3PXP", "totp": "134253"},
			map[string]any{"id": "pin1", "section": section("add"), "type": "CONCEALED", "label": "pin", "value": "1"},
			map[string]any{"id": "pin2", "section": section("old"), "type": "CONCEALED", "label": "pin", "value": "2"},
			map[string]any{"id": "none", "type": "CONCEALED", "label": "none"},
		}}
	item := func(id, title, value string) map[string]any {
		return map[string]any{"id": id26(id), "title": title, "fields": []any{map[string]any{"id": "password", "label": "password", "value": value}}}
	}
	vault := func(id, name string) map[string]any {
		return map[string]any{"id": id26(id), "name": name, "type": "USER_CREATED"}
	}
	return &connectDouble{token: "the-token",
		vaults: []map[string]any{vault("acme", "acme"), vault("other", "Acme"), vault("bank", "bank"), vault("bank2", "bank"), vault("locked", "locked")},
		items: map[string][]map[string]any{
			id26("acme"):  {shop, item("item2", "twice", "x"), item("item3", "twice", "y"), item("item4", "a/b", "with a slash")},
			id26("other"): {item("item5", "The Shop", "of another organization"), item("item6", "secret", "of another organization")},
		}}
}

func TestOnePasswordValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newConnectDouble()
		at := serve(t, false, server.ServeHTTP)
		p := newTestOnePassword(t, at, OnePasswordConfig{TokenFile: file(t, "the-token\n"), Vault: "{organization}"})
		of := func(organization, path string) routine.ProviderReference {
			return routine.ProviderReference{OrganizationID: organization, ProjectID: "shop", Path: path}
		}
		for ref, want := range map[routine.ProviderReference]routine.Hidden{
			of("acme", "//acme/The Shop/password"):            theValue,
			of("acme", "//acme/The Shop/username"):            "ann",
			of("acme", "//acme/The Shop/Old logins/password"): "before",
			of("acme", "//acme/The Shop/old/password"):        "before",
			of("acme", "//acme/The Shop/old-password"):        "before",
			of("acme", "//acme/The Shop/More/pin"):            "1",
			of("acme", "//acme/The Shop/one-time password"):   "otpauth://totp/Shop:ann?secret=JBSWY3DPEHPK3PXP",
			of("acme", "//acme/The Shop/none"):                "",
			of("acme", "//acme/"+id26("item4")+"/password"):   "with a slash",
			of("Acme", "//Acme/The Shop/password"):            "of another organization",
		} {
			if value, err := p.ReadSecret(t.Context(), ref); value != want || err != nil {
				t.Errorf("%v: %d bytes, %v", ref, len(value), err)
			}
		}
		for ref, want := range map[routine.ProviderReference]error{
			of("acme", "//acme/The Shop/absent"):                               routine.ErrNotFound,
			of("acme", "//acme/The Shop/No section/password"):                  routine.ErrNotFound,
			of("acme", "//acme/absent/password"):                               routine.ErrNotFound,
			of("acme", "//acme/the shop/password"):                             routine.ErrNotFound,
			of("acme", "//acme/"+id26("item6")+"/password"):                    routine.ErrNotFound,
			of("nobody", "//nobody/The Shop/password"):                         routine.ErrNotFound,
			of("acme", "//acme/The Shop/pin"):                                  errUnusable,
			of("acme", "//acme/twice/password"):                                errUnusable,
			of("bank", "//bank/The Shop/password"):                             errUnusable,
			of("locked", "//locked/The Shop/password"):                         routine.ErrProviderDenied,
			of("acme", "//Acme/The Shop/password"):                             routine.ErrProviderDenied,
			of("acme", "//"+id26("other")+"/The Shop/password"):                routine.ErrProviderDenied,
			of("acme", `//acme/x" or title eq "secret/password`):               routine.ErrProviderDenied,
			of(`x" or name eq "Acme`, `//x" or name eq "Acme/secret/password`): routine.ErrProviderDenied,
			of("acme", "//acme/../password"):                                   routine.ErrProviderDenied,
			of("acme", "//acme/password"):                                      routine.ErrProviderDenied,
			of("", "///The Shop/password"):                                     routine.ErrProviderDenied,
		} {
			if value, err := p.ReadSecret(t.Context(), ref); value != "" || !errors.Is(err, want) {
				t.Errorf("%v: %d bytes, %v, want %v", ref, len(value), err, want)
			}
		}
		if wait := p.Unavailable(routine.ProviderReference{}); wait != 0 {
			t.Errorf("answers about single values make it unavailable for %s", wait)
		}
		shared := newTestOnePassword(t, at, OnePasswordConfig{TokenFile: file(t, "the-token"), Vault: "acme"})
		if value, err := shared.ReadSecret(t.Context(), of("any", "//acme/The Shop/password")); value != theValue || err != nil {
			t.Errorf("%d bytes, %v", len(value), err)
		}
	})
}

func TestOnePasswordFaults(t *testing.T) {
	item := `{"id":"` + id26("item1") + `","fields":[{"id":"password","value":"` + theValue + `"}]}`
	faults := commonFaults(item)
	faults["404"] = fault{handler: status(404, item), want: routine.ErrNotFound}
	faults["401"] = fault{handler: status(401, item), want: routine.ErrProviderDenied}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				real := newConnectDouble()
				at := serve(t, f.encrypted, func(w http.ResponseWriter, r *http.Request) {
					// The fault is in the last of the three answers.
					if strings.Contains(r.URL.Path, "/items/") || strings.Contains(r.URL.Path, "elsewhere") {
						f.handler(w, r)
						return
					}
					real.ServeHTTP(w, r)
				})
				if f.down {
					at.Close()
				}
				config := OnePasswordConfig{TokenFile: file(t, "the-token"), Vault: "{organization}"}
				if f.encrypted {
					config.Host = "https://connect.example"
				}
				f.check(t, newTestOnePassword(t, at, config), [3]string{"//acme/The Shop/password", "//acme/The Shop/username", "//acme/The Shop/none"})
			})
		})
	}
	t.Run("an id that is none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			at := serve(t, false, status(200, `[{"id":"../`+theValue+`","name":"acme"}]`))
			p := newTestOnePassword(t, at, OnePasswordConfig{TokenFile: file(t, "the-token"), Vault: "{organization}"})
			fault{breaks: true}.check(t, p, [3]string{"//acme/a/b", "//acme/a/c", "//acme/a/d"})
		})
	})
}

func TestOnePasswordTokenIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newConnectDouble()
		tokenFile := file(t, "the-token")
		p := newTestOnePassword(t, serve(t, false, server.ServeHTTP), OnePasswordConfig{TokenFile: tokenFile, Vault: "{organization}"})
		read := func(requests int, want error) {
			t.Helper()
			server.asked = nil
			_, err := p.ReadSecret(t.Context(), routine.ProviderReference{OrganizationID: "acme", Path: "//acme/The Shop/password"})
			if !errors.Is(err, want) || len(server.asked) != requests {
				t.Errorf("%v, want %v, after %d requests, want %d", err, want, len(server.asked), requests)
			}
		}
		read(3, nil)
		time.Sleep(valueAge)
		server.token = "another-token"
		read(1, routine.ErrProviderDenied)
		write(t, tokenFile, "another-token")
		time.Sleep(errorAge)
		read(4, nil)
	})
}

func TestNewOnePasswordRefuses(t *testing.T) {
	for want, config := range map[string]OnePasswordConfig{
		"--op-connect-host: ":                    {Host: "connect", TokenFile: "x", Vault: "acme"},
		"--op-connect-host needs":                {Host: "http://connect:8080", Vault: "acme"},
		`--op-vault: ""`:                         {Host: "http://connect:8080", TokenFile: "x"},
		`--op-vault: "{project}"`:                {Host: "http://connect:8080", TokenFile: "x", Vault: "{project}"},
		`--op-vault: "{organization}/{project}"`: {Host: "http://connect:8080", TokenFile: "x", Vault: "{organization}/{project}"},
	} {
		if _, err := NewOnePassword(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
