package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine"
)

// A download can be had as the file that it is, and replaces none.
func TestRunOutput(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	to := filepath.Join(r.home, "invoice.pdf")
	args := []string{"run", r.example("download_invoice"), "-p", "site=" + r.shop, "-p", "username=ada", "-p", "password=lovelace", "-p", "order_id=A-1001"}
	out, errs, code := r.run(append(args, "--output", to)...)
	text, err := os.ReadFile(to)
	if code != 0 || out != "" || err != nil || !strings.HasPrefix(string(text), "%PDF-") {
		t.Fatalf("exit %d, %v, %.20q, stdout %.40q\n%s", code, err, text, out, errs)
	}
	out, errs, code = r.run(append(args, "-o", "-", "--outline")...)
	if code != 0 || out != string(text) || !strings.Contains(errs, routine.PageTextNotice+"\npage /") {
		t.Errorf("exit %d, %.40q\n%s", code, out, errs)
	}
	if _, errs, code := r.run(append(args, "-o", to)...); code != 1 || !strings.Contains(errs, "is there already") || strings.Contains(errs, "navigate") {
		t.Errorf("a second time: exit %d\n%s", code, errs)
	}
	if out, errs, code := r.run(append(args, "--json")...); code != 0 || strings.Contains(out, "routine_id") || strings.Contains(out, "routine_version") || !strings.Contains(out, `"routine_name"`) {
		t.Errorf("exit %d, %.400s\n%s", code, out, errs)
	}
}
