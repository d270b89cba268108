package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database is backed up, restored under another name, and pruned there.
func TestRestoreAndPrune(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	must := func(args ...string) (string, string) {
		t.Helper()
		out, errs, code := r.run(args...)
		if code != 0 {
			t.Fatalf("rote %v: exit %d\n%s\n%s", args, code, out, errs)
		}
		return out, errs
	}
	must("add", r.file("r.json", `{"name":"wait","description":"Waits.","operations":[{"type":"sleep","timeout_seconds":0}]}`))
	must("run", "wait")
	if _, errs, code := r.runWithInput("pw", "secret", "set", "shop", "--host", "shop.example"); code != 0 {
		t.Fatal(errs)
	}
	copied, restored := filepath.Join(r.home, "copy"), filepath.Join(r.home, "restored.db")
	must("backup", copied)
	_, errs := must("restore", copied, "--db", restored)
	if !strings.Contains(errs, "restored.db is restored from") || !strings.Contains(errs, "put the key file back") {
		t.Errorf("restore says\n%s", errs)
	}
	key, err := os.ReadFile(filepath.Join(r.home, ".local/share/rote/rote.db.key"))
	if err != nil {
		t.Fatal(err)
	}
	r.file("restored.db.key", string(key))
	if out, _ := must("executions", "--db", restored); !strings.Contains(out, "wait") {
		t.Errorf("the restored executions are\n%s", out)
	}
	if _, errs := must("prune", "--db", restored); !strings.Contains(errs, "deleted 0 executions") {
		t.Errorf("prune says %s", errs)
	}
	if _, errs := must("prune", "--db", restored, "--keep-size", "1"); !strings.Contains(errs, "deleted 1 execution and 0 uses of secrets") {
		t.Errorf("prune says %s", errs)
	}
	if out, errs, code := r.run("restore", copied, "--db", restored); code != 1 || !strings.Contains(errs, "is there already") {
		t.Errorf("exit %d %s %s", code, out, errs)
	}
	if _, errs, code := r.run("restore", filepath.Join(r.home, "none")); code != 1 || !strings.Contains(errs, "there is no backup at") {
		t.Errorf("exit %d %s", code, errs)
	}
}
