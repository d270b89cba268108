package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nobody = 65534

// withoutNamespaces runs rote as an ordinary user who may not create user
// namespaces, as on hardened systems and in containers: in a namespace of its
// own, so that nothing changes for others. With hideHelper Chromium's setuid
// helper is not installed.
func (r *rote) withoutNamespaces(hideHelper bool, args ...string) (stdout, stderr string, code int) {
	r.t.Helper()
	// The temporary directory of tests is closed to other users.
	open, err := os.MkdirTemp("/tmp", "rote-test-nobody-")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = os.RemoveAll(open) })
	program, home := filepath.Join(open, "rote"), filepath.Join(open, "home")
	text, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(open, 0o755), os.WriteFile(program, text, 0o755), os.Mkdir(home, 0o700), os.Chown(home, nobody, nobody)); err != nil {
		r.t.Fatal(err)
	}
	script := `set -e
		if [ -n "$HIDE" ]; then
			mount --bind /usr/lib/chromium "$1"; mount -t tmpfs none /usr/lib/chromium
			for file in "$1"/*; do
				name=${file##*/}; [ "$name" != chrome-sandbox ] || continue
				if [ -d "$file" ]; then mkdir "/usr/lib/chromium/$name"; else : > "/usr/lib/chromium/$name"; fi
				mount --bind "$file" "/usr/lib/chromium/$name"
			done
		fi
		echo 0 > /proc/sys/user/max_user_namespaces
		shift; exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`
	aside := r.t.TempDir()
	c := exec.CommandContext(r.t.Context(), "/bin/sh", append([]string{"-c", script, "sh", aside, program}, args...)...)
	c.Env = []string{beRote + "=1", "HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH")}
	if hideHelper {
		c.Env = append(c.Env, "HIDE=1")
	}
	all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run()
	if left, _ := filepath.Glob(filepath.Join(home, "rote-*")); len(left) > 0 {
		r.t.Errorf("left behind: %v", left)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// Without user namespaces, an ordinary user runs the browser with Debian's
// setuid helper. If it is missing, a message says to install it.
func TestOrdinaryUserWithoutUserNamespaces(t *testing.T) {
	helper := "/usr/lib/chromium/chrome-sandbox"
	if _, err := os.Stat(helper); os.Geteuid() != 0 || err != nil {
		t.Skip("only root can arrange this, with Debian's chromium-sandbox installed")
	}
	if out, err := exec.Command("unshare", "-U", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("a namespace for the test cannot be made here: %v %s", err, out)
	}
	for _, row := range []struct {
		name      string
		hide      bool
		args      []string
		code      int
		out, errs string
	}{
		{"the helper is there", false, []string{"browser", "check"}, 0, " works\n", ""},
		{"the helper is not there", true, []string{"browser", "check"}, 1, "",
			"install its helper (sudo apt-get install chromium-sandbox), or allow user namespaces (sudo sysctl -w user.max_user_namespaces=15000)\n"},
		{"the demo without it", true, []string{"demo"}, 1, "POST /routines/ stored", "sudo apt-get install chromium-sandbox"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRote(t)
			out, errs, code := r.withoutNamespaces(row.hide, row.args...)
			if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) ||
				len(errs) > 900 || strings.Contains(errs, "No usable sandbox") {
				t.Errorf("exit %d\n%s\n%s", code, out, errs)
			}
		})
	}
}
