package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"rote/cmd/rote/practice"
	sites "rote/cmd/rote/practice/teach"
)

// orderRecording is a script of Playwright's code generator that orders an item.
const orderRecording = `import { test, expect } from '@playwright/test';
test('order a basket', async ({ page }) => {
  await page.goto('%s');
  await page.getByRole('searchbox', { name: 'Search' }).fill('%[2]s');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('listitem').getByRole('link').first().click();
  await page.getByLabel('Pieces').fill('3');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('button', { name: 'Place the order' }).click();
  await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible();
});
`

// tryCall matches the call that an answer proposes.
var tryCall = regexp.MustCompile(`To do it: try_operation \{"lesson":"[^"]+","at":(\d+),"operation":(.*)\}`)

// The import of a recording is tried on the live site. It stops before what sends something to
// the site; the agent does that, and the operations after it follow, up to the order.
func TestResolveImport(t *testing.T) {
	t.Parallel()
	s := newTaskServer(t, 7, "--toolsets", "run,authoring,teach")
	d := &driver{taskServer: s, t: t}
	item := s.sites.Items()[0]
	a := d.call("import_routine", members{"source": fmt.Sprintf(orderRecording, d.url(sites.Shop, "/"), item), "resolve": true})
	next := tryCall.FindStringSubmatch(a.text)
	if a.failed || len(next) == 0 || strings.Count(a.text, "in place of its texts") != 4 || !strings.Contains(a.text, `a button "Add to cart"`) {
		t.Fatalf("want four replaced texts and a stop before the cart:\n%s", a.text)
	}
	d.lesson = lessonID.FindString(a.text)
	at, err := strconv.Atoi(next[1])
	if err != nil {
		t.Fatal(err)
	}
	text := d.in("try_operation", members{"at": at, "operation": json.RawMessage(next[2])})
	if !strings.Contains(text, "Place the order") || !strings.Contains(text, "was not done by itself") {
		t.Fatalf("want a stop before the order:\n%s", text)
	}
	if orders := s.sites.Orders(); len(orders) != 0 {
		t.Fatalf("ordered without being asked to: %v", orders)
	}
	d.save(members{"name": "order_basket", "description": "Orders a basket.", "prove": "check_last"})
	if got := string(d.run(members{})); len(s.sites.Orders()) != 1 || s.sites.Orders()[0] != (sites.Order{Item: item, Quantity: 3}) {
		t.Errorf("the run gave %s and ordered %v", got, s.sites.Orders())
	}
}

// rote import --resolve writes the routine with the selectors that it has found, and proves it.
func TestResolveOnTheCommandLine(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(practice.NewSite())
	t.Cleanup(shop.Close)
	source, err := os.ReadFile("../../routine/importer/testdata/shop/shop.spec.ts")
	if err != nil {
		t.Fatal(err)
	}
	r := newRote(t)
	recording := r.file("shop.spec.ts", strings.ReplaceAll(string(source), "http://127.0.0.1:8765", shop.URL))
	allow := []string{"--allow-host", strings.TrimPrefix(shop.URL, "http://")}
	made, errs, code := r.run(append(allow, "import", recording, "--resolve")...)
	for _, want := range []string{`"selector": "input[name=\"q\"]"`, `"selector": "#search"`} {
		if code != 0 || !strings.Contains(made, want) || strings.Contains(made, `"x-bridge": "b1"`) {
			t.Fatalf("exit %d, no %s:\n%s\n%s", code, want, made, errs)
		}
	}
	for _, want := range []string{"operations work", `#search (grade A) in place of {"role":"button","name":"Search"`} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in\n%s", want, errs)
		}
	}
	if out, errs, code := r.run(append(allow, "import", recording, "--resolve", "--save", "--prove", "all", "-o", r.file("out.json", ""))...); code != 0 ||
		!strings.Contains(errs, "passed") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	broken := r.file("broken.spec.ts", strings.ReplaceAll(string(source), "http://127.0.0.1:8765", shop.URL+"/nowhere"))
	out, errs, code := r.run(append(allow, "import", broken, "--resolve", "--save")...)
	if code != 3 || !strings.Contains(errs, "fails") || !strings.Contains(errs, "Nothing was saved") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	for _, arguments := range [][]string{{"-p", "a=b"}, {"--session", "s"}, {"--resolve", "--prove", "all"}} {
		if _, errs, code := r.run(append([]string{"import", recording}, arguments...)...); code != 1 || !strings.Contains(errs, "--") {
			t.Errorf("%v: exit %d: %s", arguments, code, errs)
		}
	}
}

// A log-in is done with the secret of a file, which is in no output, and the routine is proved.
func TestResolveWithSecret(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(practice.NewSite())
	t.Cleanup(shop.Close)
	host := strings.TrimPrefix(shop.URL, "http://")
	r := newRote(t)
	recording := r.file("login.json", `{"title": "Log in", "steps": [{"type": "navigate", "url": "`+shop.URL+`/login"},
		{"type": "change", "value": "${query}", "selectors": [["#username"]]},
		{"type": "change", "value": "secret-of-the-recording", "selectors": [["#password"]]},
		{"type": "click", "selectors": [["aria/Sign in[role=\"button\"]"], ["#sign-in"]]}]}`)
	if out, errs, code := r.run("--allow-host", host, "import", recording, "--resolve"); code != 3 ||
		!strings.Contains(errs, "The parameter password has no value: give it one with --secret password@HOST=FILE.") {
		t.Errorf("without values: exit %d\n%s\n%s", code, out, errs)
	}
	secret := "password@http://" + host + "=" + r.file("password.txt", "lovelace\n")
	out, errs, code := r.run("--allow-host", host, "import", recording, "--resolve", "-p", "query=ada", "-p", "color=red", "--secret", secret,
		"--save", "--prove", "all")
	if code != 0 || !strings.Contains(errs, "All 4 operations work.") || !strings.Contains(errs, "no parameter color") || !strings.Contains(errs, "passed") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if strings.Contains(out+errs, "lovelace") || strings.Contains(out+errs, "secret-of-the-recording") {
		t.Errorf("a secret is shown:\n%s\n%s", out, errs)
	}
}

// An interrupted import is no failure of the site, and leaves no browser and no file.
func TestResolveInterrupted(t *testing.T) {
	t.Parallel()
	opened, end := make(chan struct{}, 9), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		opened <- struct{}{}
		<-end
	}))
	t.Cleanup(func() { close(end); site.Close() })
	r := newRote(t)
	recording := r.file("open.json", `{"title": "Open", "steps": [{"type": "navigate", "url": "`+site.URL+`"}]}`)
	made := filepath.Join(r.home, "made.json")
	c := r.command("--allow-host", strings.TrimPrefix(site.URL, "http://"), "import", recording, "--resolve", "-o", made)
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-opened
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 || strings.Contains(errs.String(), "fails") {
		t.Errorf("exit %d, %v: %s", code, err, errs.String())
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the file was written")
	}
}

// A proof does nothing that resolve has stopped before.
func TestResolveProvesNoOrder(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			sent.Add(1)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<form method=post><button id=add>Send</button></form><form method=post><button id=order>Order</button></form>`)
	}))
	t.Cleanup(site.Close)
	r := newRote(t)
	script := func(clicks ...string) string {
		steps := []string{`{"type": "navigate", "url": "` + site.URL + `"}`}
		for _, id := range clicks {
			steps = append(steps, `{"type": "click", "selectors": [["#`+id+`"]]}`)
		}
		return r.file(strings.Join(clicks, "_")+".json", `{"title": "Order", "steps": [`+strings.Join(steps, ",")+`]}`)
	}
	for _, row := range []struct {
		file, prove string
		code        int
	}{
		{script("order"), "all", 3}, {script("add", "order"), "check_last", 3}, {script("order"), "check_last", 0}, {script("add", "order"), "no", 0},
	} {
		_, errs, code := r.run("--allow-host", strings.TrimPrefix(site.URL, "http://"), "import", row.file, "--resolve", "--save", "--prove", row.prove,
			"-o", filepath.Join(r.home, "made.json"))
		if code != row.code || strings.Contains(errs, "Nothing was saved") != (code == 3) {
			t.Errorf("%s %s: exit %d\n%s", row.file, row.prove, code, errs)
		}
	}
	if n := sent.Load(); n != 0 {
		t.Errorf("%d forms were sent", n)
	}
}
