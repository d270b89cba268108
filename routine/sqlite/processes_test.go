package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/leakcheck"
)

// Tests that need a second process start this test binary again, as a child
// that plays one role against a database and talks in lines: it says "ready",
// does its part when told to go on, says what came of it, and lives until its
// input ends or it is killed.
const (
	roleVariable = "ROTE_SQLITE_TEST_ROLE"
	pathVariable = "ROTE_SQLITE_TEST_PATH"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role, os.Getenv(pathVariable)); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leakcheck.Main(m)
}

const (
	writesPerChild = 30
	openPerChild   = 3
)

// play is what a child does. It makes its own values: there is no testing.T.
func play(role, path string) error {
	ctx := context.Background()
	input := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	if _, err := input.ReadString('\n'); err != nil {
		return err
	}
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	switch role {
	case "open":
	case "write":
		err = write(ctx, s)
	case "count":
		err = countUp(ctx, s)
	case "run":
		err = leaveOpen(ctx, s)
	case "recover":
		var n int
		n, err = s.RecoverExecutions(ctx, routinetest.Time)
		fmt.Println("recovered", n)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		return err
	}
	fmt.Println("done")
	if _, err := io.Copy(io.Discard, input); err != nil {
		return err
	}
	return s.Close()
}

// write keeps the file busy with every kind of write.
func write(ctx context.Context, s *Store) error {
	for i := range writesPerChild {
		id := fmt.Sprintf("%d-%d", os.Getpid(), i)
		r := &routine.Routine{ID: id, OrganizationID: "acme", ToolName: id, Status: routine.StatusActive, Version: 1}
		if err := s.CreateRoutine(ctx, r); err != nil {
			return err
		}
		e := &routine.Execution{ID: id, RoutineID: id, Status: routine.ExecutionPending, CreatedAt: routinetest.Time}
		if err := s.CreateExecution(ctx, e); err != nil {
			return err
		}
		if err := s.StartExecution(ctx, id, routinetest.Time); err != nil {
			return err
		}
		e.Status = routine.ExecutionCompleted
		if err := s.FinishExecution(ctx, e); err != nil {
			return err
		}
		if _, _, err := s.Routines(ctx, routine.RoutineFilter{OrganizationID: "acme", Limit: 5}); err != nil {
			return err
		}
	}
	return nil
}

// leaveOpen creates executions, the last one running, and prints their ids.
func leaveOpen(ctx context.Context, s *Store) error {
	for i := range openPerChild {
		id := fmt.Sprintf("%d-%d", os.Getpid(), i)
		e := &routine.Execution{ID: id, Status: routine.ExecutionPending, CreatedAt: routinetest.Time}
		if err := s.CreateExecution(ctx, e); err != nil {
			return err
		}
		fmt.Println("open", id)
	}
	return s.StartExecution(ctx, fmt.Sprintf("%d-%d", os.Getpid(), openPerChild-1), routinetest.Time)
}

// child is a process that plays a role.
type child struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	lines *bufio.Scanner
	over  bool
}

// start starts a child and waits until it is ready for its next step.
func start(t *testing.T, role, path string) *child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	// The race detector would sleep for a second when the child exits.
	cmd.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	must(t, err)
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{cmd: cmd, input: input, lines: bufio.NewScanner(output)}
	t.Cleanup(func() { c.kill(t) })
	if got := c.next(t); got != "ready" {
		t.Fatalf("child says %q, want ready", got)
	}
	return c
}

func (c *child) next(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("child ended early: %v", c.lines.Err())
	}
	return c.lines.Text()
}

func (c *child) goOn(t *testing.T) {
	t.Helper()
	_, err := io.WriteString(c.input, "go\n")
	must(t, err)
}

// done reads until the child has played its role and returns what it said.
func (c *child) done(t *testing.T) []string {
	t.Helper()
	var said []string
	for {
		line := c.next(t)
		if line == "done" {
			return said
		}
		if strings.HasPrefix(line, "error:") {
			t.Fatalf("child %s", line)
		}
		said = append(said, line)
	}
}

// end lets the child close its Store and exit.
func (c *child) end(t *testing.T) {
	t.Helper()
	must(t, c.input.Close())
	c.over = true
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
}

// kill ends the child with SIGKILL, and waits until the kernel is done with it.
func (c *child) kill(t *testing.T) {
	t.Helper()
	if c.over {
		return
	}
	c.over = true
	must(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait() // says that it was killed
}

func TestProcessesOpenNewFileConcurrently(t *testing.T) {
	for round := range 3 {
		path := tempPath(t)
		children := make([]*child, 8)
		for i := range children {
			children[i] = start(t, "open", path)
		}
		for _, c := range children {
			c.goOn(t)
		}
		for _, c := range children {
			c.done(t)
			c.end(t)
		}
		var applied int
		must(t, open(t, path).read.QueryRowContext(t.Context(),
			`SELECT count(*) FROM rote_migrations WHERE version_id > 0`).Scan(&applied))
		if want := migrationCount(t); applied != want {
			t.Errorf("round %d: %d migrations recorded, want %d", round, applied, want)
		}
	}
}

func TestProcessesWriteConcurrently(t *testing.T) {
	path := tempPath(t)
	children := make([]*child, 5)
	for i := range children {
		children[i] = start(t, "write", path)
	}
	for _, c := range children {
		c.goOn(t)
	}
	s := open(t, path)
	must(t, write(t.Context(), s))
	for _, c := range children {
		c.done(t)
		c.end(t)
	}
	_, total, err := s.Routines(t.Context(), routine.RoutineFilter{OrganizationID: "acme", Limit: 1})
	must(t, err)
	if want := (len(children) + 1) * writesPerChild; total != want {
		t.Errorf("%d routines, want %d", total, want)
	}
	var finished int
	must(t, s.read.QueryRowContext(t.Context(), `SELECT count(*) FROM executions WHERE status = 'completed'`).Scan(&finished))
	if finished != total {
		t.Errorf("%d executions finished, want %d", finished, total)
	}
}
