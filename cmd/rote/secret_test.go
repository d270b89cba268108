package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/service"
	"rote/routine/spelling"
)

// loginSite is a site with a form for a user name, a password and a one-time code. It shows
// what it was sent.
func loginSite(t *testing.T) *httptest.Server {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.Method == http.MethodPost {
			fmt.Fprintf(w, "<h1>Welcome %s with %s</h1>", r.FormValue("user"), r.FormValue("password"))
			return
		}
		fmt.Fprint(w, `<form method="post"><input id="u" name="user"><input id="p" name="password" type="password"><button id="go">Log in</button></form>`)
	}))
	t.Cleanup(site.Close)
	return site
}

// A person stores a password on the command line, and runs use it. Nothing that is printed or
// stored has it.
func TestSecretCommands(t *testing.T) {
	t.Parallel()
	const password = "hunter2-very-secret"
	r, site := newRote(t), loginSite(t)
	host := strings.TrimPrefix(site.URL, "http://")
	r.env = append(r.env, "ROTE_ALLOW_HOST="+host, "SHOP_PASSWORD=from the environment", "ROTE_SECRET_ENV=SHOP_PASSWORD")
	var printed bytes.Buffer
	say := func(input string, args []string, code int, out, errs string) {
		t.Helper()
		c := r.command(args...)
		var gotOut, gotErr bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &gotOut, &gotErr
		_ = c.Run() // the exit code says it
		if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(gotOut.String(), out) || !strings.Contains(gotErr.String(), errs) {
			t.Fatalf("%s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, &gotOut, &gotErr)
		}
		_, _ = io.Copy(&printed, io.MultiReader(&gotOut, &gotErr))
	}
	login := r.file("login.json", `{"name": "log_in", "description": "Logs in.", "operations": [{"type": "navigate", "url": "`+site.URL+`/"},
		{"type": "input_text", "selector": "#u", "text": "{{secret:shop.username}}"}, {"type": "input_text", "selector": "#p", "text": "{{secret:shop.password}}"},
		{"type": "click", "selector": "#go"}, {"type": "return_html", "scope": "element", "selector": "h1"}]}`)
	say("", []string{"run", login}, 1, "", "rote secret set shop --host "+host+" --field username --field password")
	say("", []string{"secret", "set", "shop"}, 1, "", "--host is missing")
	for flags, want := range map[string]string{"--host *.co.uk": "many owners", "--host " + host + " --field a.b": "the name of a field",
		"--host " + host + " --field a --field a": "twice", "--host " + host + " --field totp": "--totp", "--host " + host + " --ref a=b": "must begin with",
		"--host " + host + " --ref totp=env:A --totp": "exclude each other", "--host " + host + " --routine none": "none"} {
		say("", append([]string{"secret", "set", "shop"}, strings.Fields(flags)...), 1, "", want) // and not that there is no line to read
	}
	set := []string{"secret", "set", "shop", "--host", host, "--field", "username", "--field", "password"}
	say("ann\n", set, 1, "", "too few lines")
	say("ann\n"+password+"\nmore\n", set, 1, "", "more lines than fields")
	say("ann\n"+password+"\n", set, 0, "created secret shop", "")
	say("", []string{"run", login}, 0, "Welcome *** with ***", "")
	say("", []string{"add", login}, 0, "created log_in", "")
	say("", []string{"run", "log_in", "--json"}, 0, "Welcome *** with ***", "")
	say("other-secret-text\n", []string{"run", login, "--secret", "shop.password=-", "--secret", "shop.username=" + r.file("user", "eve\n")}, 0,
		"Welcome *** with ***", "")
	say("ann\n", []string{"secret", "set", "shop", "--host", "evil.example"}, 1, "", "too few lines")
	say("", []string{"secret", "set", "shop", "--description", "The shop"}, 0, "changed secret shop", "")
	say("", []string{"secret", "set", "shop", "--ref", "pin=env:SHOP_PASSWORD"}, 0, "changed secret shop", "")
	say("", []string{"secret", "test", "shop"}, 0, "password\tok\npin\tok\nusername\tok\n", "")
	say("", []string{"secret", "list"}, 0, "password pin=env: username", "")
	say("", []string{"secret", "show", "shop"}, 0, `"description": "The shop"`, "")
	say("", []string{"secret", "show", "bank"}, 1, "", "rote secret list")
	say("", []string{"secret", "code", "bank"}, 1, "", "rote secret list")
	say("12 34 56\n", []string{"secret", "code", "shop"}, 0, "", "")
	say("", []string{"run", r.file("code.json", `{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "`+site.URL+`/"},
		{"type": "input_text", "selector": "#p", "text": "{{code:shop}}"}, {"type": "click", "selector": "#go"},
		{"type": "return_html", "scope": "element", "selector": "h1"}]}`)}, 0, "with ***", "")
	say("", []string{"secret", "uses", "shop"}, 0, "code given", "")
	say("", []string{"secret", "uses", "shop"}, 0, "typed", "")
	for _, file := range allFiles(t, r.home) {
		for _, spelled := range spelling.All(password) {
			if bytes.Contains(file.text, []byte(spelled)) {
				t.Errorf("%s has the password", file.name)
			}
		}
	}
	say("", []string{"secret", "remove", "shop"}, 0, "removed secret shop", "")
	say("", []string{"secret", "uses", "shop", "--no-organization-wide"}, 0, "deleted", "")
	for _, spelled := range append(spelling.All(password), spelling.All("other-secret-text")...) {
		if strings.Contains(printed.String(), spelled) {
			t.Errorf("printed: %s", printed.String())
		}
	}
}

// A value can be in Vault. It is read when a run needs it, and is in no file and no message.
func TestSecretInVault(t *testing.T) {
	const password, token = "hunter2-very-secret", "the-token-for-vault"
	r, site := newRote(t), loginSite(t)
	vault := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/kv/data/rote/default/default/shop" || r.Header.Get("X-Vault-Token") != token || r.Header.Get("X-Vault-Namespace") != "team" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"data": {"data": {"password": %q}, "metadata": {"version": 1}}}`, password)
	}))
	defer vault.Close()
	host := strings.TrimPrefix(site.URL, "http://")
	r.env = append(r.env, "ROTE_ALLOW_HOST="+host, "ROTE_VAULT_ADDR="+vault.URL, "ROTE_VAULT_MOUNT=kv", "ROTE_VAULT_NAMESPACE=team",
		"HTTP_PROXY=http://127.0.0.1:1", "ROTE_VAULT_TOKEN_FILE="+r.file("token", token+"\n"))
	say := func(args []string, code int, out, errs string) {
		t.Helper()
		gotOut, gotErr, got := r.run(args...)
		if got != code || !strings.Contains(gotOut, out) || !strings.Contains(gotErr, errs) {
			t.Fatalf("%s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, gotOut, gotErr)
		}
		if strings.Contains(gotOut+gotErr, password) || strings.Contains(gotOut+gotErr, token) {
			t.Errorf("%s prints it:\n%s\n%s", strings.Join(args, " "), gotOut, gotErr)
		}
	}
	login := r.file("login.json", `{"name": "log_in", "description": "Logs in.", "operations": [{"type": "navigate", "url": "`+site.URL+`/"},
		{"type": "input_text", "selector": "#p", "text": "{{secret:shop.password}}"},
		{"type": "click", "selector": "#go"}, {"type": "return_html", "scope": "element", "selector": "h1"}]}`)
	say([]string{"secret", "set", "shop", "--host", host, "--ref", "password=vault:shop#password"}, 0, "created secret shop", "")
	say([]string{"secret", "test", "shop"}, 0, "password\tok\n", "")
	say([]string{"run", login}, 0, "Welcome  with ***", "")
	say([]string{"secret", "set", "shop", "--ref", "password=vault:other#password"}, 0, "changed secret shop", "")
	say([]string{"secret", "test", "shop"}, 1, "its operator has to allow it", "may not read it")
	say([]string{"secret", "list", "--vault-addr", ""}, 1, "", "need --vault-addr")
	say([]string{"secret", "list", "--op-token-file", "token"}, 1, "", "needs --op-connect-host")
	say([]string{"secret", "list", "--op-connect-host", "http://127.0.0.1:1"}, 1, "", "needs --op-token-file")
	vault.Close()
	say([]string{"secret", "test", "shop"}, 1, "cannot be read at vault: at present", "connection refused")
	for _, file := range allFiles(t, r.home) {
		for _, spelled := range spelling.All(password) {
			if bytes.Contains(file.text, []byte(spelled)) {
				t.Errorf("%s has the password", file.name)
			}
		}
	}
}

// With a routine, rote secret test runs it and lists the hosts that it needs, also those that
// it may not reach.
func TestSecretTestListsHosts(t *testing.T) {
	const other = "127.0.0.2:18099"
	r := newRote(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<h1>hello</h1><input id="p" type="password"><img src="http://%s/x.png">`, other)
	}))
	defer site.Close()
	host := strings.TrimPrefix(site.URL, "http://")
	r.env = append(r.env, "ROTE_ALLOW_HOST="+host, "SHOP_PASSWORD=hunter2-very-secret", "ROTE_SECRET_ENV=SHOP_PASSWORD")
	login := r.file("login.json", `{"name": "log_in", "description": "Logs in.", "parameters": [{"name": "page", "description": "Which"}],
		"operations": [{"type": "navigate", "url": "`+site.URL+`/{{page}}"}, {"type": "input_text", "selector": "#p", "text": "{{secret:shop}}"}]}`)
	for _, args := range [][]string{{"add", login}, {"secret", "set", "shop", "--host", host, "--ref", "value=env:SHOP_PASSWORD"}} {
		if out, errs, code := r.run(args...); code != 0 {
			t.Fatal(args, out, errs)
		}
	}
	out, errs, code := r.run("secret", "test", "shop", "--routine", "log_in", "-p", "page=login")
	lines := []string{"value\tok\n", host + "\ta host of the secret\n", other + "\tno host of the secret: a confined run does not reach it\n"}
	for _, line := range lines {
		if !strings.Contains(out, line) {
			t.Errorf("%q is missing in %q", line, out)
		}
	}
	if code != 0 || strings.Count(out, "\n") != len(lines) || strings.Contains(out+errs, "hunter2") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if _, errs, code := r.run("secret", "test", "shop", "--routine", "log_in"); code != 1 || !strings.Contains(errs, "page") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

type namedText struct {
	name string
	text []byte
}

func allFiles(t *testing.T, dir string) (all []namedText) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, namedText{path, text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRunSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]runSecret{
		"shop=-":                                {name: "shop", field: "value", file: "-"},
		"shop.password@a.example,*.b.example=x": {name: "shop", field: "password", hosts: []string{"a.example", "*.b.example"}, file: "x"},
		"shop@127.0.0.1:80=a=b@c":               {name: "shop", field: "value", hosts: []string{"127.0.0.1:80"}, file: "a=b@c"},
	} {
		var got runSecret
		if err := got.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(runSecret{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"shop", "shop=", "=x", "s hop=x", "shop.=x", "shop.a.b=x", "shop@=x", "shop@*=x", "shop@*.co.uk=x"} {
		if err := new(runSecret).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	flags := []runSecret{{name: "a", field: "value", file: "-"}, {name: "a", field: "pin", hosts: []string{"a.example"}, file: newRote(t).file("pin", "12\n")}}
	got, err := givenSecrets(flags, strings.NewReader("one\n"))
	want := map[string]service.GivenSecret{"a": {Hosts: []string{"a.example"}, Fields: map[string]routine.Hidden{"value": "one", "pin": "12"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, wrong := range [][]runSecret{{flags[0], flags[0]}, {flags[0], {name: "b", field: "value", file: "-"}}, {{name: "b", field: "value", file: "absent"}}} {
		if _, err := givenSecrets(wrong, strings.NewReader("one")); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}
