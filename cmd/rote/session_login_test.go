package main

import (
	"strings"
	"testing"
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
