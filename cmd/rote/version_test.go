package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersionOfABuild(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	commit, date := "0123456789abcdef0123456789abcdef01234567", "2026-11-28T01:02:03Z"
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: date},
			{Key: "vcs.modified", Value: modified}}
	}
	for name, row := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     buildVersion
		text     string
	}{
		"a release": {"v1.2.3", settings("false"), buildVersion{"v1.2.3", commit, date, false, "go1.26.0", platform},
			"rote v1.2.3 (go1.26.0 " + platform + ")\ncommit " + commit + "\ndate   " + date + "\n"},
		"a changed checkout": {"(devel)", settings("true"), buildVersion{"0123456789ab", commit, date, true, "go1.26.0", platform},
			"rote 0123456789ab (go1.26.0 " + platform + ")\ncommit " + commit + " with changes\ndate   " + date + "\n"},
		"a module":      {"v1.2.3", nil, buildVersion{"v1.2.3", "", "", false, "go1.26.0", platform}, "rote v1.2.3 (go1.26.0 " + platform + ")\n"},
		"no repository": {"", nil, buildVersion{"devel", "", "", false, "go1.26.0", platform}, "rote devel (go1.26.0 " + platform + ")\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := versionOf(&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "rote", Version: row.version}, Settings: row.settings})
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got.text() != row.text {
				t.Errorf("%q, not %q", got.text(), row.text)
			}
		})
	}
}

func TestVersionForms(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	out, errs, code := r.run("version", "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit %d, %v\n%s\n%s", code, err, out, errs)
	}
	if got["version"] == "" || got["go"] != runtime.Version() || got["platform"] != runtime.GOOS+"/"+runtime.GOARCH {
		t.Error(out)
	}
	out, errs, code = r.run("version", "--licenses")
	if code != 0 || out != notices || !strings.Contains(out, "\ngithub.com/go-rod/rod v") {
		t.Errorf("exit %d\n%.200s\n%s", code, out, errs)
	}
	if _, errs, code := r.run("version", "--licenses", "--json"); code != 2 || !strings.Contains(errs, "--json and --licenses") {
		t.Errorf("both forms: exit %d\n%s", code, errs)
	}
}
