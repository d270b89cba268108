package chromium

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Chromium's messages about its sandbox become one sentence that says what to do.
// Other messages stay as they are.
func TestSandboxFailuresAreExplained(t *testing.T) {
	cause := errors.New("EOF")
	for _, said := range []string{
		"[1122/063252.847909:ERROR:content/browser/zygote_host/zygote_host_impl_linux.cc:130] No usable sandbox! " +
			"If this is a Debian system, please install the chromium-sandbox package to solve this problem.",
		"[0:FATAL:setuid_sandbox_host.cc(158)] The SUID sandbox helper binary was found, but is not configured correctly. Rather than run without sandboxing I'm aborting now.",
		"Failed to move to new namespace: PID namespaces supported, Network namespace supported, but failed: errno = Operation not permitted",
	} {
		err := explainStart("/nowhere/chrome", said, cause)
		if !errors.Is(err, ErrNoSandbox) || !strings.Contains(err.Error(), "allow user namespaces") || strings.Contains(err.Error(), "FATAL") || len(err.Error()) > 400 {
			t.Errorf("%.40s…: %v", said, err)
		}
	}
	if err := explainStart("/nowhere/chrome", "error while loading shared libraries: libnss3.so", cause); err != cause {
		t.Errorf("another failure: %v", err)
	}
}

// The helper next to the executable decides what to do.
func TestSandboxRemedy(t *testing.T) {
	dir := t.TempDir()
	executable := filepath.Join(dir, "chrome")
	if remedy := sandboxRemedy(executable); !strings.HasPrefix(remedy, "allow user namespaces") {
		t.Errorf("without a helper: %s", remedy)
	}
	helper := filepath.Join(dir, "chrome-sandbox")
	if err := os.WriteFile(helper, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if remedy := sandboxRemedy(executable); !strings.Contains(remedy, "sudo chmod 4755 "+helper) {
		t.Errorf("with a helper that is not setuid: %s", remedy)
	}
	if err := os.Chmod(helper, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if remedy := sandboxRemedy(executable); !strings.Contains(remedy, helper+" has no effect here") {
		t.Errorf("with a helper that is setuid: %s", remedy)
	}
}

// Debian's packages of the browser do not bring the sandbox's helper along.
func TestInstallerTakesTheSandboxAlong(t *testing.T) {
	for _, m := range managers {
		for _, packages := range m.choices {
			first := packages[0]
			debian := m.name == "apt-get" && (first == "chromium" || first == "chromium-headless-shell")
			if has := strings.Contains(" "+strings.Join(packages, " ")+" ", " chromium-sandbox "); has != debian {
				t.Errorf("%s installs %v", m.name, packages)
			}
		}
	}
}

// Users who may not install packages get the whole command line.
func TestInstallationByHand(t *testing.T) {
	want := "sudo apt-get update && sudo apt-get install --yes --no-install-recommends chromium-headless-shell chromium-sandbox fonts-liberation"
	if got := managers[0].manualCommand(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The output of the package manager is shown while it works, not only at its end.
func TestInstallationShowsItsProgress(t *testing.T) {
	dir := t.TempDir()
	proceed := filepath.Join(dir, "proceed")
	apt := filepath.Join(dir, "apt-get")
	// It ends only after its first line has been read.
	script := "#!/bin/sh\necho \"Get:1 $*\"\nwhile ! [ -e " + proceed + " ]; do :; done\necho 'E: no such package' >&2\nexit 100\n"
	if err := os.WriteFile(apt, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	shown, log := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := manager{name: apt, install: []string{"install", "--yes"}}.installPackages(testContext(t), log, nil, "chromium-sandbox")
		_ = log.Close()
		done <- err
	}()
	lines := bufio.NewScanner(shown)
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
		if strings.HasPrefix(lines.Text(), "Get:1") {
			if err := os.WriteFile(proceed, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := "+ " + apt + " install --yes chromium-sandbox|Get:1 install --yes chromium-sandbox|E: no such package"
	if strings.Join(got, "|") != want {
		t.Errorf("shown:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.ReplaceAll(want, "|", "\n"))
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "exit status 100") || strings.Contains(err.Error(), "no such package") {
		t.Errorf("its end: %v", err)
	}
}
