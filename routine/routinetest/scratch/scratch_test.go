package scratch

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

const role = "SCRATCH_TEST_ROLE"

// The test binary is also the process that uses a directory and ends.
func TestMain(m *testing.M) {
	remove, err := Use()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	if os.Getenv(role) == "" { // a child leaves it to the remover
		if err := remove(); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// useAndEnd puts a file into a temporary directory, names it and then ends as
// the role says, in a child process of TestRemoved.
func useAndEnd(t *testing.T, role string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString("made " + file + "\n")
	switch role {
	case "panic":
		panic("as asked")
	case "wait":
		select {} // for the timeout, or to be killed
	}
}

func TestRemoved(t *testing.T) {
	if role := os.Getenv(role); role != "" {
		useAndEnd(t, role)
		return
	}
	for _, row := range []struct {
		name, role string
		args       []string
		end        func(*os.Process) error
	}{
		{name: "it ends by itself", role: "end"},
		{name: "it panics", role: "panic"},
		{name: "it takes too long", role: "wait", args: []string{"-test.timeout=200ms"}},
		{name: "it is interrupted", role: "wait", end: func(p *os.Process) error { return p.Signal(os.Interrupt) }},
		{name: "it is killed", role: "wait", end: (*os.Process).Kill},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			child := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^TestRemoved$", "-test.v"}, row.args...)...)
			child.Env = append(os.Environ(), role+"="+row.role, "TMPDIR="+temp)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			file := ""
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if named, is := strings.CutPrefix(lines.Text(), "made "); is {
					file = named
					if row.end != nil {
						if err := row.end(child.Process); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			_ = child.Wait()
			if !strings.HasPrefix(file, temp) {
				t.Fatalf("the child made %q, not in %s", file, temp)
			}
			deadline := time.Now().Add(20 * time.Second)
			for {
				left, err := os.ReadDir(temp)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				if len(left) == 0 {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("left behind: %v", left)
				}
			}
		})
	}
}

func TestCheckGone(t *testing.T) {
	const prefix = "check-gone-"
	if err := CheckGone(prefix); err != nil {
		t.Errorf("nothing is left: %v", err)
	}
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckGone(prefix); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("%s is left: %v", dir, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
}
