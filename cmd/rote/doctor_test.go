package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// findings runs rote doctor and returns its findings by check; those of one check are joined.
func (r *rote) findings(args ...string) (found map[string]finding, code int) {
	r.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	_ = free.Close()
	out, errs, code := r.run(append([]string{"doctor", "--json", "--addr", free.Addr().String()}, args...)...)
	var all []finding
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		r.t.Fatalf("%v: %s %s", err, out, errs)
	}
	found = map[string]finding{}
	for _, f := range all {
		before := found[f.Check]
		f.Detail += before.Detail
		if before.Status == findingFault || f.Status == findingOK && before.Status != "" {
			f.Status = before.Status
		}
		found[f.Check] = f
		if (f.Status == findingOK) != (f.Remedy == "") && before.Check == "" {
			r.t.Errorf("a finding has no remedy, or needs none: %+v", f)
		}
	}
	return found, code
}

// Where all is well, there is no fault, and nothing was made.
func TestDoctor(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	found, code := r.findings()
	if code != 0 {
		t.Errorf("exit %d: %+v", code, found)
	}
	for _, check := range (&doctorCommand{}).checks() {
		if f, there := found[check.name]; !there || f.Status == findingFault || f.Detail == "" {
			t.Errorf("%s: %+v", check.name, f)
		}
	}
	if !strings.Contains(found["browser"].Detail, "Chrome") || !strings.Contains(found["database"].Detail, "there is none") {
		t.Errorf("%+v", found)
	}
	if made, _ := filepath.Glob(filepath.Join(r.home, ".local/share/rote/*")); len(made) > 0 {
		t.Errorf("it made %v", made)
	}
	out, _, code := r.run("doctor", "--addr", "127.0.0.1:0")
	if code != 0 || !strings.HasPrefix(out, "ok ") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Each fault is found and has a remedy, and the command exits with 1.
func TestDoctorFindsFaults(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for _, row := range []struct {
		name, check string
		prepare     func(r *rote) []string
		says        string
	}{
		{"no browser", "browser", func(*rote) []string { return []string{"--browser", "/nowhere/chromium"} }, "/nowhere/chromium"},
		{"a database of another program", "database", func(r *rote) []string {
			return []string{"--db", r.file("other.db", "not a database at all, but text")}
		}, "not a SQLite database"},
		{"a file in place of the directory", "database", func(r *rote) []string {
			return []string{"--db", filepath.Join(r.file("file", ""), "rote.db")}
		}, "not a directory"},
		{"another program at the address", "port", func(*rote) []string { return []string{"--addr", strings.TrimPrefix(other.URL, "http://")} },
			"another program listens"},
		{"an address of another machine", "port", func(*rote) []string { return []string{"--addr", "192.0.2.1:80"} }, "192.0.2.1"},
		{"no host", "egress", func(*rote) []string { return []string{"--allow-host", "http://x/"} }, "http://x/"},
		{"a lost key", "key", func(r *rote) []string {
			if _, errs, code := r.runWithInput("pw", "secret", "set", "shop", "--host", "shop.example"); code != 0 {
				r.t.Fatal(errs)
			}
			if err := os.Remove(filepath.Join(r.home, ".local/share/rote/rote.db.key")); err != nil {
				r.t.Fatal(err)
			}
			return nil
		}, "rote.db.key"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRote(t)
			found, code := r.findings(row.prepare(r)...)
			if f := found[row.check]; code != 1 || f.Status != findingFault || f.Remedy == "" || !strings.Contains(f.Detail, row.says) {
				t.Errorf("exit %d: %+v", code, found)
			}
		})
	}
}
