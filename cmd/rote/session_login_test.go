package main

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"rote/cmd/rote/practice"
	"rote/routine/totp"
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

// A person follows the documentation to log in to a shop with one-time codes, in both databases. One login
// is enough for all runs, and the next run logs in again when the shop or the person has ended it.
func TestRoutinesStayLoggedIn(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipSecondStore(t, name)
			testStayLoggedIn(t, newRote(t))
		})
	}
}

func testStayLoggedIn(t *testing.T, r *rote) {
	r.life = 6 * testTime
	shop, input := membersShop(t, r)
	s := r.keeper()
	r.followLoggingIn(r.shop, input)
	wantLogins := func(want int) {
		t.Helper()
		if shop.Logins() != want || shop.Refused() != 0 {
			t.Fatalf("%d logins and %d refused, want %d and 0", shop.Logins(), shop.Refused(), want)
		}
	}
	wantLogins(1)
	orders := s.pathOf("read_orders")
	// readOrders runs the routine and checks whether the run needed a login.
	readOrders := func(login bool) {
		t.Helper()
		status, got := s.call("POST", orders+"/execute", `{"parameters":{}}`)
		if status != 201 || !strings.Contains(fmt.Sprint(got["result"]), "A-1001") {
			t.Fatalf("%d %v", status, got)
		}
		session, _ := got["session"].(map[string]any)
		if _, has := session["login_execution_id"]; session["name"] != "shop" || has != login {
			t.Errorf("session of the run: %v, want a login: %t", session, login)
		}
	}
	for range 20 {
		readOrders(false)
	}
	wantLogins(1)
	shop.EndSessions()
	readOrders(true)
	wantLogins(2)
	if _, errs, code := r.run("session", "clear", "shop"); code != 0 {
		t.Fatal(errs)
	}
	readOrders(true)
	wantLogins(3)
	wrong := strings.Replace(input, "correct horse", "wrong horse", 1)
	for _, command := range [][]string{{"session", "clear", "shop"}, {"secret", "set", "shop"}} {
		if _, errs, code := r.runWithInput(wrong, command...); code != 0 {
			t.Fatal(errs)
		}
	}
	for range 3 {
		status, got := s.call("POST", orders+"/execute", `{"parameters":{}}`)
		if status != 500 || got["code"] != "session_login_failed" {
			t.Errorf("with a wrong password: %d %v", status, got)
		}
	}
	if shop.Logins() != 3 || shop.Refused() != 2 {
		t.Errorf("%d logins and %d refused, want 3 and 2", shop.Logins(), shop.Refused())
	}
}

// membersShop starts a members' shop that runs may reach, with a new code every five seconds. input
// is what a person types for its secret.
func membersShop(t *testing.T, r *rote) (shop *practice.Members, input string) {
	t.Helper()
	const uri = "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&period=5"
	key, err := totp.ParseKey(uri)
	if err != nil {
		t.Fatal(err)
	}
	shop = practice.NewMembers(practice.Member{Username: "ada", Password: "correct horse", Key: key})
	site := httptest.NewServer(shop)
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	r.shop = site.URL
	return shop, "ada\ncorrect horse\n" + uri + "\n"
}

// pathOf returns the path of the routine with a name.
func (s *server) pathOf(name string) string {
	s.t.Helper()
	status, list := s.call("GET", "/routines/?q="+name, "")
	if status != 200 || list["total"] != 1.0 {
		s.t.Fatalf("%d %v", status, list)
	}
	return "/routines/" + list["items"].([]any)[0].(map[string]any)["id"].(string)
}

// followLoggingIn runs the commands of the documentation's page with the routines that it shows, for
// the shop of a site. input are the values of the secret.
func (r *rote) followLoggingIn(site, input string) {
	r.t.Helper()
	steps, _, _ := strings.Cut(docsPage(r.t, "logging-in"), "\n## ")
	routines := blocks(strings.ReplaceAll(steps, "https://shop.example", site), "json")
	if len(routines) != 2 {
		r.t.Fatalf("the section has %d routines, want 2", len(routines))
	}
	local := strings.NewReplacer("shop.example", site, "log_in.json", r.file("log_in.json", routines[0]), "orders.json", r.file("orders.json", routines[1]))
	wants := []string{"created secret shop", "", "created session shop", "logged in to session shop", "", "A-1001"}
	commands := regexp.MustCompile(`(?m)^ {4}\./rote (.*)$`).FindAllStringSubmatch(steps, -1)
	if len(commands) != len(wants) {
		r.t.Fatalf("the section has %d commands, want %d", len(commands), len(wants))
	}
	for i, command := range commands {
		out, errs, code := r.runWithInput(input, strings.Fields(local.Replace(command[1]))...)
		if code != 0 || !strings.Contains(out, wants[i]) {
			r.t.Fatalf("%s: exit %d\n%s\n%s", command[0], code, out, errs)
		}
	}
}
