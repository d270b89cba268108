package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
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

// A server copies its database to a store while it runs, and the newest copy is restored from
// there, whole.
func TestBackupToBucket(t *testing.T) {
	t.Parallel()
	objects := s3mem.New()
	if err := objects.CreateBucket("copies"); err != nil {
		t.Fatal(err)
	}
	store := httptest.NewServer(gofakes3.New(objects).Server())
	defer store.Close()
	r := newRote(t)
	credentials := []string{"AWS_ENDPOINT_URL_S3=" + store.URL, "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-east-1"}
	rote := func(args ...string) string {
		t.Helper()
		c := r.command(args...)
		c.Env = append(c.Env, credentials...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("rote %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	rote("add", r.file("r.json", `{"name":"large","description":"Returns much.","operations":[
		{"type":"js_evaluate","js":"(() => 'x'.repeat(1200000))()","timeout_seconds":10,"session_storage_key":"k"},{"type":"return","session_storage_key":"k"}]}`))
	rote("run", "large")
	s := r.start(func(c *exec.Cmd) { c.Env = append(c.Env, credentials...) }, "--backup-to", "s3://copies/shop")
	s.log.wait(t, func(log string) string {
		_, after, _ := strings.Cut(log, `"msg":"the database was backed up","to":"s3://copies/shop/"`)
		return after
	})
	s.stop(os.Interrupt)

	restored := filepath.Join(r.home, "restored.db")
	said := rote("restore", "s3://copies/shop", "--db", restored)
	name := regexp.MustCompile(`rote-\d{8}T\d{6}Z\.tar\.gz`).FindString(said)
	if !strings.Contains(said, "restored.db is restored from s3://copies/shop/"+name) || name == "" {
		t.Errorf("restore says %s", said)
	}
	if out := rote("executions", "--db", restored); !strings.Contains(out, "large") {
		t.Errorf("the restored executions are\n%s", out)
	}
	if files, err := filepath.Glob(restored + ".files/*"); len(files) == 0 || err != nil {
		t.Errorf("the large result is not restored: %v", err)
	}

	if out := rote("backup", "s3://copies/shop", "--keep", "1"); !strings.Contains(out, "deleted 1 older archive") {
		t.Errorf("backup says %s", out)
	}
	for args, want := range map[string]string{
		"restore s3://copies/shop/" + name + " --db x.db": "does not exist",
		"restore s3://copies/nothing --db x.db":           "there is no archive of rote backup in s3://copies/nothing/",
		"restore s3://other/shop --db x.db":               "bucket does not exist",
		"backup s3:///shop":                               "s3://BUCKET/PREFIX",
		"backup x.db --keep 2":                            "--keep is for archives",
	} {
		c := r.command(strings.Fields(args)...)
		c.Env = append(c.Env, credentials...)
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("rote %s: %v\n%s", args, err, out)
		}
	}
}
