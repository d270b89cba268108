package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The files that a release takes are there, and its platforms are those of the notices. GoReleaser
// itself checks the rest in .ci/package.
func TestReleaseTakesExistingFiles(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Builds []struct{ Targets []string }
		Nfpms  []struct {
			Contents []struct{ Src, Dst string }
			Bindir   string
		}
	}
	if err := yaml.Unmarshal(text, &release); err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, target := range release.Builds[0].Targets {
		parts := strings.Split(target, "_")
		platforms = append(platforms, parts[0]+"/"+parts[1])
	}
	if !slices.Equal(platforms, releasePlatforms) {
		t.Errorf("a release is for %v, the notices are for %v", platforms, releasePlatforms)
	}
	files := regexp.MustCompile(`(?:src|dockerfile|postinstall|preremove|postremove): ([\w./-]+)`).FindAllStringSubmatch(string(text), -1)
	for _, file := range files {
		if _, err := os.Stat("../../" + file[1]); err != nil {
			t.Error(err)
		}
	}
	if len(files) < 10 {
		t.Errorf("only %d files are found", len(files))
	}
	unit, err := os.ReadFile("deploy/rote.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range release.Nfpms[0].Contents {
		path := strings.TrimPrefix(content.Dst, "/usr/share/doc/rote/")
		if content.Dst == "/etc/rote/rote.yaml" && !strings.Contains(string(unit), "ROTE_CONFIG="+content.Dst) ||
			path == "README.md" && !strings.Contains(string(unit), "file://"+content.Dst) {
			t.Errorf("rote.service does not name %s", content.Dst)
		}
	}
	// systemd finds a program without a path in /usr/local/bin and in the package's directory.
	if !strings.Contains(string(unit), "\nExecStart=rote serve ") || release.Nfpms[0].Bindir != "/usr/bin" {
		t.Error("rote.service does not start the program of the packages")
	}
}

// Each action is pinned by the hash of its commit.
func TestWorkflowsPinActions(t *testing.T) {
	workflows, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(workflows) < 3 {
		t.Fatal(workflows, err)
	}
	for _, workflow := range workflows {
		text, err := os.ReadFile(workflow)
		if err != nil {
			t.Fatal(err)
		}
		uses := regexp.MustCompile(`uses: *(.*)`).FindAllStringSubmatch(string(text), -1)
		if len(uses) == 0 {
			t.Errorf("%s uses no action", workflow)
		}
		for _, action := range uses {
			if !regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v`).MatchString(action[1]) {
				t.Errorf("%s: %s is not pinned by hash", workflow, action[1])
			}
		}
	}
}

// The nightly workflow runs every fuzz target.
func TestNightlyFuzzesEveryTarget(t *testing.T) {
	for file, call := range map[string]string{".github/workflows/nightly.yml": "run: bash .ci/nightly", ".ci/nightly": "try 'fuzzing' bash .ci/fuzz "} {
		if text, err := os.ReadFile("../../" + file); err != nil || !strings.Contains(string(text), call) {
			t.Errorf("%s has no %q (%v)", file, call, err)
		}
	}
	c := exec.Command("bash", "-c", `go() { echo "RUN $*"; }; export -f go; bash ../../.ci/fuzz 1x`)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	targets := 0
	declaration := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
	root := os.DirFS("../..")
	err = fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		for _, found := range declaration.FindAllStringSubmatch(string(text), -1) {
			targets++
			if want := "test ./" + filepath.Dir(path) + " -run ^$ -fuzz ^" + found[1] + "$ -fuzztime 1x\n"; !strings.Contains(string(out), want) {
				t.Errorf(".ci/fuzz does not run %s of %s", found[1], path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if runs := strings.Count(string(out), "RUN test "); runs != targets || targets == 0 {
		t.Errorf("%d runs of %d fuzz targets", runs, targets)
	}
}

func TestChangelogOfCommits(t *testing.T) {
	dir := t.TempDir()
	script := `set -e; mkdir .ci; cp "$CHANGELOG" .ci/changelog; git init -q
		commit() { git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$1"; }
		commit 'of the first version'; git tag v0.1.0
		commit 'test: not for users'; commit 'console: a button'; commit "$(printf 'word %.0s' $(seq 60))"
		bash .ci/changelog section v0.2.0 >page.md; mkdir -p httpapi/docs; cp page.md httpapi/docs/changelog.md
		bash .ci/changelog check v0.2.0; ! bash .ci/changelog check v0.3.0`
	log, err := filepath.Abs("../../.ci/changelog")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", "-c", script)
	c.Dir, c.Env = dir, append(os.Environ(), "CHANGELOG="+log)
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), `has no section "## v0.3.0, DATE"`) {
		t.Fatalf("%v\n%s", err, out)
	}
	page, err := os.ReadFile(dir + "/page.md")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); !strings.Contains(text, "\n- console: a button\n- word word") || !strings.Contains(text, "\n  word") ||
		strings.Contains(text, "first version") || strings.Contains(text, "not for users") {
		t.Error(text)
	}
}
