package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// stored stores a routine for the shop and breaks it by a redesign, after one run that worked
// and one that failed.
func (r *rote) broken(shop *mendShop, name, parameters, operations string, values ...string) {
	r.t.Helper()
	file := r.file(name+".json", `{"name":"`+name+`","description":"For a test.","parameters":`+parameters+`,"operations":`+
		strings.ReplaceAll(operations, "SHOP", shop.URL)+`}`)
	if _, errs, code := r.run("add", file); code != 0 {
		r.t.Fatal(errs)
	}
	shop.original()
	run := append([]string{"run", name}, values...)
	if _, errs, code := r.run(run...); code != 0 {
		r.t.Fatal(errs)
	}
	shop.redesign()
	if out, _, code := r.run(run...); code != 1 {
		r.t.Fatalf("the redesign of %s broke nothing: %s", name, out)
	}
	shop.acted()
}

func TestMendCommand(t *testing.T) {
	t.Parallel()
	shop := newMendShop(t)
	r := newRote(t)
	r.shop = shop.URL
	const list = `[{"type":"navigate","url":"SHOP/cart"},{"type":"click","selector":"#done","timeout_ms":2000,"x-target":{"role":"link","name":"Done"}},
		{"type":"return_html","scope":"element","selector":".hit"}]`
	r.broken(shop, "list", `[]`, list)
	out, errs, code := r.run("mend", "list")
	if code != 0 || !strings.HasPrefix(out, "Operation 2 of 3 click #done fails: no element matches") || !strings.Contains(out, "\n1. #finished A, ") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	out, errs, code = r.run("mend", "list", "--json")
	var started struct {
		Candidates []struct{ Selector string }
		Failure    struct{ Operation int }
	}
	if err := json.Unmarshal([]byte(out), &started); code != 0 || err != nil || started.Failure.Operation != 2 || started.Candidates[0].Selector != "#finished" {
		t.Errorf("exit %d: %v\n%s\n%s", code, err, out, errs)
	}
	out, errs, code = r.run("mend", "list", "--apply")
	if code != 0 || !strings.Contains(out, "Saved as version 2 of list") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	if out, errs, code = r.run("run", "list"); code != 0 || !strings.Contains(out, "Lamp") {
		t.Errorf("the mended routine: exit %d\n%s\n%s", code, out, errs)
	}
	if out, _, _ = r.run("show", "list", "--at-version", "1"); !strings.Contains(out, `"selector": "#done"`) {
		t.Errorf("the old version:\n%s", out)
	}
	if acts := shop.acted(); len(acts) > 0 {
		t.Errorf("mending did %v", acts)
	}
}

// What is not certain is left to a person.
func TestMendCommandLeavesDoubts(t *testing.T) {
	t.Parallel()
	shop := newMendShop(t)
	r := newRote(t)
	r.shop = shop.URL
	r.broken(shop, "search", wordParameter, searchBlind, "-p", "word=Lamp")
	r.broken(shop, "login", loginParameter, loginBlind, "-p", "pin=1234")
	rows := []struct {
		name      string
		args      []string
		code      int
		out, errs string
	}{
		{"a blind routine", []string{"search", "--apply"}, 3, `1. input[name="word"] A, `, "nothing was saved: no candidate, or more than one, is certain"},
		{"a secret", []string{"login"}, 1, "", "executions do not keep the values of pin"},
		{"a secret that is given", []string{"login", "-p", "pin=1234"}, 0, "the page is at " + shop.URL + "/start/… now", ""},
		{"no such routine", []string{"nothing"}, 1, "", "rote list --status all"},
		{"no such execution", []string{"search", "--execution", "1"}, 1, "", "there is no execution"},
		{"a wrong value", []string{"search", "-p", "word"}, 1, "", "write name=value"},
	}
	for _, row := range rows {
		out, errs, code := r.run(append([]string{"mend"}, row.args...)...)
		if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) {
			t.Errorf("%s: exit %d\n%s\n%s", row.name, code, out, errs)
		}
		if row.args[0] == "login" && strings.Contains(out+errs, "1234") {
			t.Errorf("%s shows the secret:\n%s\n%s", row.name, out, errs)
		}
	}
	if acts := shop.acted(); len(acts) > 0 {
		t.Errorf("mending did %v", acts)
	}
	if out, _, _ := r.run("list"); strings.Contains(out, " 2 ") || !strings.Contains(out, "search") {
		t.Errorf("something was saved:\n%s", out)
	}
}
