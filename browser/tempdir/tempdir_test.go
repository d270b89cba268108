package tempdir

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const prefix = "rote-try-"

// The test binary is also the process that makes a directory and is killed.
func TestMain(m *testing.M) {
	if os.Getenv("TEMPDIR_OWNER") == "" {
		os.Exit(m.Run())
	}
	d, err := Make(prefix)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(d.Path + "\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // never comes
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), "TEMPDIR_OWNER=1")
	in, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	theirs := strings.TrimSpace(line)
	if err := os.WriteFile(filepath.Join(theirs, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(temp, "other-123")
	link := filepath.Join(temp, prefix+"link")
	if err := errors.Join(os.Mkdir(other, 0o700), os.Symlink(other, link)); err != nil {
		t.Fatal(err)
	}

	mine, err := Make(prefix)
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(2 * lockGracePeriod)
	if removeUnlocked(temp, prefix, later); !exists(theirs) || !exists(mine.Path) {
		t.Fatal("a living process has lost its directory")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if removeUnlocked(temp, prefix, time.Now()); !exists(theirs) {
		t.Fatal("swept before its maker had a moment to lock it")
	}
	if removeUnlocked(temp, prefix, later); exists(theirs) {
		t.Fatal("the directory of a dead process is left")
	}
	if !exists(other) || !exists(mine.Path) {
		t.Fatal("another's directory is gone")
	}
	if err := mine.Remove(); err != nil || exists(mine.Path) {
		t.Fatal(err)
	}
}
