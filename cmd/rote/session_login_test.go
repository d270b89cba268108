package main

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"rote/cmd/rote/practice"
	"rote/routine/totp"
)

// The routines of these tests, with the address of the shop in the place of SITE.
const (
	logsInMembers = `{"name": "members_login", "description": "Logs in.", "session": "shop", "operations": [
		{"type": "navigate", "url": "SITE/login"},
		{"type": "input_text", "selector": "#username", "text": "{{secret:shop.username}}"},
		{"type": "input_text", "selector": "#password", "text": "{{secret:shop.password}}"},
		{"type": "click", "selector": "#log-in"},
		{"type": "input_text", "selector": "#code", "text": "{{totp:shop}}", "timeout_ms": 60000},
		{"type": "click", "selector": "#send-code"},
		{"type": "wait_for_url", "url_regex": "/orders$"}]}`
	readsMembersOrders = `{"name": "members_orders", "description": "Reads the orders.", "session": "shop", "operations": [
		{"type": "navigate", "url": "SITE/orders"},
		{"type": "return_html", "scope": "element", "selector": "#orders"}]}`
)

// A person sets and removes the login of a session on the command line, in both databases.
func TestSessionLoginSettings(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			r := newRote(t)
			say := func(code int, want string, args ...string) {
				t.Helper()
				if out, errs, got := r.run(args...); got != code || !strings.Contains(out+errs, want) {
					t.Fatalf("%s: exit %d, want %d and %s\n%s\n%s", strings.Join(args, " "), got, code, want, out, errs)
				}
			}
			set := func(code int, want string, args ...string) {
				t.Helper()
				say(code, want, append([]string{"session", "set", "shop"}, args...)...)
			}
			const open = `"operations": [{"type": "navigate", "url": "https://shop.example/{{page}}"}], "parameters": [{"name": "page", "description": "d"}]}`
			say(0, "", "add", r.file("login.json", `{"name": "log_in", "description": "d", "session": "shop", `+open))
			say(0, "", "add", r.file("other.json", `{"name": "other", "description": "d", `+open))
			set(0, "created session shop", "--host", "shop.example")
			say(1, "rote session set shop --login ROUTINE", "session", "login", "shop")
			say(1, "rote session list", "session", "login", "bank")
			set(1, "give --login too", "--login-parameter", "page=login")
			set(1, "rote list", "--login", "nothing")
			set(1, "does not use the session shop", "--login", "other", "--login-parameter", "page=login")
			set(1, `"page" is required`, "--login", "log_in")
			set(0, "changed session shop", "--login", "log_in", "--login-parameter", "page=a=b;c", "--signed-out-url", "/login", "--signed-out-selector", "form#login")
			say(0, `"page": "a=b;c"`, "session", "show", "shop")
			set(0, "changed session shop", "--signed-out-url", "/sign-in")
			say(0, "\"url_regex\": \"/sign-in\",\n    \"selector\": \"form#login\"", "session", "show", "shop")
			set(0, "changed session shop", "--login", "", "--signed-out-url", "", "--signed-out-selector", "")
			if out, _, _ := r.run("session", "show", "shop"); strings.Contains(out, "routine_id") || strings.Contains(out, "signed_out") {
				t.Errorf("the login is still set: %s", out)
			}
		})
	}
}

// A person stores the login of a shop with one-time codes. Routines then need one login for all
// their runs, and the next one when the shop has ended it.
func TestRoutinesStayLoggedIn(t *testing.T) {
	t.Parallel()
	const uri = "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&period=5" // a new code every five seconds
	key, err := totp.ParseKey(uri)
	if err != nil {
		t.Fatal(err)
	}
	shop := practice.NewMembers(practice.Member{Username: "ada", Password: "correct horse", Key: key})
	site := httptest.NewServer(shop)
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	r := newRote(t)
	r.shop = site.URL
	s := r.keeper()
	mustRun := func(want, input string, args ...string) {
		t.Helper()
		if out, errs, code := r.runWithInput(input, args...); code != 0 || !strings.Contains(out, want) {
			t.Fatalf("%s: exit %d\n%s\n%s", strings.Join(args, " "), code, out, errs)
		}
	}
	mustRun("created secret shop", "ada\ncorrect horse\n"+uri+"\n", "secret", "set", "shop", "--host", site.URL, "--field", "username", "--field", "password", "--totp")
	s.made(strings.ReplaceAll(logsInMembers, "SITE", site.URL))
	orders := s.made(strings.ReplaceAll(readsMembersOrders, "SITE", site.URL))
	mustRun("created session shop", "", "session", "set", "shop", "--host", site.URL, "--login", "members_login", "--signed-out-url", "/login")
	// readOrders runs the routine and checks whether the run needed a login.
	readOrders := func(login bool) {
		t.Helper()
		status, got := s.call("POST", "/routines/"+orders+"/execute", `{"parameters":{}}`)
		if status != 201 || !strings.Contains(fmt.Sprint(got["result"]), "A-1001") {
			t.Fatalf("%d %v", status, got)
		}
		session, _ := got["session"].(map[string]any)
		if _, has := session["login_execution_id"]; session["name"] != "shop" || has != login {
			t.Errorf("session of the run: %v, want a login: %t", session, login)
		}
	}
	wantLogins := func(want int) {
		t.Helper()
		if shop.Logins() != want || shop.Refused() != 0 {
			t.Fatalf("%d logins and %d refused, want %d and 0", shop.Logins(), shop.Refused(), want)
		}
	}
	for i := range 20 {
		readOrders(i == 0)
	}
	wantLogins(1)
	shop.EndSessions()
	readOrders(true)
	wantLogins(2)
	shop.EndSessions()
	mustRun("logged in to session shop", "", "session", "login", "shop")
	wantLogins(3)
	readOrders(false)
	wantLogins(3)
}
