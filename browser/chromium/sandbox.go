package chromium

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoSandbox says that Chromium cannot start its sandbox.
var ErrNoSandbox = errors.New("the sandbox of Chromium cannot start, because this user may not create user namespaces")

// sandboxFailures are what Chromium writes when it cannot start its sandbox.
var sandboxFailures = []string{"No usable sandbox", "SUID sandbox", "Failed to move to new namespace", "setuid sandbox"}

// sandboxError is an ErrNoSandbox that says what to do about it.
type sandboxError struct{ remedy string }

func (e *sandboxError) Error() string { return ErrNoSandbox.Error() + ": " + e.remedy }

func (e *sandboxError) Is(target error) bool { return target == ErrNoSandbox }

// explainStart returns why an executable did not start, given the error and what it has
// written to standard error.
func explainStart(executable, said string, err error) error {
	for _, words := range sandboxFailures {
		if strings.Contains(said, words) {
			return &sandboxError{sandboxRemedy(executable)}
		}
	}
	return err
}

// sandboxPackage is the package with Chromium's setuid helper on Debian and its
// derivatives. With the helper, the sandbox needs no user namespaces.
const sandboxPackage = "chromium-sandbox"

// helperOf is the path where the executable expects its setuid helper.
func helperOf(executable string) string {
	if real, err := filepath.EvalSymlinks(executable); err == nil {
		executable = real
	}
	return filepath.Join(filepath.Dir(executable), "chrome-sandbox")
}

// lacksHelper reports whether the executable is one of Debian's packages, whose
// helper is another package and is not installed.
func lacksHelper(executable string) bool {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return false
	}
	helper := helperOf(executable)
	_, err := os.Stat(helper)
	return filepath.Dir(helper) == "/usr/lib/chromium" && errors.Is(err, fs.ErrNotExist)
}

// namespaceSettings are the kernel settings that deny user namespaces to ordinary users,
// each with a value that denies and one that allows them.
var namespaceSettings = []struct{ file, refuses, allows string }{
	{"/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=15000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"},
}

// sandboxRemedy says what to do so that the executable has a sandbox on this machine.
func sandboxRemedy(executable string) string {
	allow := "allow user namespaces"
	for _, s := range namespaceSettings {
		if value, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(value)) == s.refuses {
			allow += " (sudo sysctl -w " + s.allows + ")"
		}
	}
	helper := helperOf(executable)
	info, err := os.Stat(helper)
	switch {
	case lacksHelper(executable):
		return "install its helper (sudo apt-get install " + sandboxPackage + "), or " + allow
	case err == nil && (info.Mode()&fs.ModeSetuid == 0 || info.Mode()&0o001 == 0):
		return "let its helper run as root (sudo chown root:root " + helper + " && sudo chmod 4755 " + helper + "), or " + allow
	case err == nil:
		return allow + "; its helper " + helper + " has no effect here, as in a process that may gain no privileges"
	}
	return allow
}
