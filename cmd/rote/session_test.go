package main

import (
	"bytes"
	"strings"
	"testing"

	"rote/routine/spelling"
)

// A person imports a login on the command line, in both databases. Nothing that is printed or
// stored has a cookie of it.
func TestSessionCommands(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) { testSessionCommands(t, newRote(t)) })
	}
}

func testSessionCommands(t *testing.T, r *rote) {
	const value = "hunter2-session-cookie"
	var printed strings.Builder
	say := func(code int, want string, args ...string) {
		t.Helper()
		out, errs, got := r.run(args...)
		printed.WriteString(out + errs)
		if got != code || !strings.Contains(out+errs, want) {
			t.Fatalf("%s: exit %d, want %d and %s\n%s\n%s", strings.Join(args, " "), got, code, want, out, errs)
		}
	}
	state := r.file("state.json", `{"cookies": [{"name": "sid", "value": "`+value+`", "domain": ".shop.example", "path": "/", "expires": -1, "httpOnly": true,
		"secure": true, "sameSite": "Lax"}, {"name": "ad", "value": "x", "domain": "ads.example", "path": "/", "expires": -1, "secure": true}],
		"origins": [{"origin": "https://shop.example", "localStorage": [], "indexedDB": []}]}`)
	lines := r.file("cookies.txt", "# Netscape\nshop.example\tFALSE\t/\tTRUE\t0\tsid\t"+value+"\n")
	say(1, "rote session import shop "+state+" --host HOST", "session", "import", "shop", state)
	say(1, "rote session set shop --host shop.example", "session", "set", "shop")
	say(0, "created session shop for shop.example, version 1", "session", "set", "shop", "--host", "shop.example", "--max-age", "12h", "--exclusive")
	say(0, "LEFT OUT     COOKIES  LOCAL STORAGE\nads.example  1        -\n", "session", "import", "shop", state)
	say(0, "/origins/0/indexedDB", "session", "import", "shop", state)
	say(1, "delete its state first", "session", "set", "shop", "--readable")
	say(0, "imported session shop for *.shop.example, shop.example, version 4", "session", "import", "shop", lines, "--host", "shop.example", "--host", "*.shop.example")
	say(1, "line 1: a line has seven fields", "session", "import", "shop", r.file("other.txt", "hello"))
	say(0, "shop  *.shop.example shop.example  fresh      exclusive", "session", "list")
	say(0, `"max_age": "12h"`, "session", "show", "shop")
	say(0, "imported", "session", "uses", "shop")
	say(0, `"what": "saved"`, "session", "uses", "shop", "--json")
	for _, file := range allFiles(t, r.home) {
		if bytes.Contains(file.text, []byte(value)) && !strings.HasSuffix(file.name, "state.json") && !strings.HasSuffix(file.name, "cookies.txt") {
			t.Errorf("%s has the cookie", file.name)
		}
	}
	say(0, "has no login now", "session", "clear", "shop")
	say(0, "changed session shop", "session", "set", "shop", "--readable", "--max-age", "0", "--no-exclusive")
	say(0, `"max_age": null`, "session", "list", "--json")
	say(0, "removed session shop", "session", "remove", "shop")
	for _, command := range []string{"show", "clear", "remove"} {
		say(1, "rote session list", "session", command, "shop")
	}
	say(1, "rote session list", "session", "uses", "bank")
	for _, spelled := range spelling.All(value) {
		if strings.Contains(printed.String(), spelled) {
			t.Errorf("printed: %s", printed.String())
		}
	}
}
