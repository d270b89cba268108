// Package postgrestest starts a real PostgreSQL server for tests. It finds the programs of
// the server on this machine, runs it in a temporary directory on a Unix socket, and leaves
// nothing behind, even if the test process is killed.
package postgrestest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// startTimeout limits the start of the server.
const startTimeout = 60 * time.Second

// errMissing means that this machine has no PostgreSQL server.
var errMissing = errors.New("there is no PostgreSQL server in /usr/lib/postgresql/*/bin or PATH: install it (Debian: apt-get install postgresql)")

// Server is the server of a test package. It starts when the first test needs it. The
// zero value is ready.
type Server struct {
	once sync.Once
	err  error
	dir  string // of its data and its socket
	bin  string // of its programs
	user *syscall.SysProcAttr
	// run is the shell that runs the server until input is closed.
	run   *exec.Cmd
	input io.Closer
	made  atomic.Int64
	named sync.Map // of the databases of Create
	// poolers counts those of StartPooler.
	poolers atomic.Int64
}

// Main runs the tests of a package and then stops the server. TestMain passes its result
// to os.Exit.
func (s *Server) Main(m *testing.M) int {
	code := m.Run()
	if err := s.close(); err != nil {
		fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		return max(code, 1)
	}
	return code
}

// Database returns the address of a new database, which is removed after the test: an
// empty one, or a copy of the database with the name template. Without a server on the
// machine, it skips the test, or fails it if CI is set.
func (s *Server) Database(t testing.TB, template string) string {
	t.Helper()
	s.start(t)
	name := fmt.Sprintf("test%d", s.made.Add(1))
	query := "CREATE DATABASE " + name
	if template != "" {
		query += " TEMPLATE " + template
	}
	s.admin(t, query)
	t.Cleanup(func() { s.admin(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return s.URL(name)
}

// Create creates an empty database with a name, unless the server has it. It stays as long
// as the server.
func (s *Server) Create(t testing.TB, name string) {
	t.Helper()
	s.start(t)
	if _, created := s.named.LoadOrStore(name, true); !created {
		s.admin(t, "CREATE DATABASE "+name)
	}
}

// URL returns the address of a database.
func (s *Server) URL(database string) string {
	return "postgres://rote@/" + database + "?host=" + url.QueryEscape(s.dir)
}

// Dir returns the directory of the server's data, log and socket.
func (s *Server) Dir() string { return s.dir }

// Program returns the path of one of the programs of PostgreSQL.
func (s *Server) Program(name string) string { return filepath.Join(s.bin, name) }

// admin executes a statement outside the databases of the tests.
func (s *Server) admin(t testing.TB, query string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startTimeout)
	defer cancel()
	c, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(ctx, query)
	if err = errors.Join(err, c.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start(t testing.TB) {
	t.Helper()
	s.once.Do(func() {
		if s.err = s.prepare(); s.err == nil {
			s.err = s.Start()
		}
	})
	switch {
	case errors.Is(s.err, errMissing) && os.Getenv("CI") == "":
		t.Skip("SKIPPED, NOT TESTED:", s.err)
	case s.err != nil:
		t.Fatal(s.err)
	}
}

// prepare finds the programs and makes the directory of a new server.
func (s *Server) prepare() (err error) {
	if s.bin, err = findPrograms(); err != nil {
		return err
	}
	// Not in TMPDIR: the path of a socket has at most 107 bytes.
	if s.dir, err = os.MkdirTemp("/tmp", "rote-postgres-"); err != nil {
		return err
	}
	s.user = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the terminal is for the tests
	if os.Getuid() == 0 {                        // as whom PostgreSQL does not run
		if s.user.Credential, err = unprivileged(); err != nil {
			return err
		}
		if err := os.Chown(s.dir, int(s.user.Credential.Uid), int(s.user.Credential.Gid)); err != nil {
			return err
		}
	}
	return s.command("initdb", "-D", s.data(), "-U", "rote", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command runs a program of PostgreSQL to its end.
func (s *Server) command(name string, args ...string) error {
	cmd := exec.Command(s.Program(name), args...)
	cmd.SysProcAttr, cmd.Dir = s.user, s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// runScript runs the server until its input is closed, which the kernel does when the test
// process dies, and removes the directory if it has been told so or the process has died.
const runScript = `"$0" -D "$1/data" -k "$1" -h '' -c fsync=off -c full_page_writes=off -c shared_buffers=16MB -c max_connections=60 \
	-c wal_level=minimal -c max_wal_senders=0 -c autovacuum=off -c log_min_messages=fatal </dev/null >>"$1/log" 2>&1 &
server=$!
read -r keep
kill -QUIT $server
wait $server
[ "$keep" = keep ] || rm -rf "$1"`

// Start starts the server again after [Server.Crash].
func (s *Server) Start() error {
	s.run = exec.Command("/bin/sh", "-c", runScript, s.Program("postgres"), s.dir)
	s.run.SysProcAttr, s.run.Dir = s.user, s.dir
	input, err := s.run.StdinPipe()
	if err != nil {
		return err
	}
	s.input = input
	if err := s.run.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("start PostgreSQL: %w\n%s", err, log)
		}
	}
}

// Crash ends the server at once, as in a power failure, and keeps its data.
func (s *Server) Crash() error {
	_, err := io.WriteString(s.input.(io.Writer), "keep\n")
	return errors.Join(err, s.run.Wait())
}

// close stops the server, if it was started, and removes its directory.
func (s *Server) close() error {
	if s.run == nil {
		return nil
	}
	return errors.Join(s.input.Close(), s.run.Wait())
}

// findPrograms returns the directory with the programs of the newest PostgreSQL.
func findPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		version := func(path string) int {
			n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
			return n
		}
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errMissing
	}
	return filepath.Dir(path), nil
}

// unprivileged returns a user who may run PostgreSQL.
func unprivileged() (*syscall.Credential, error) {
	var faults []error
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
	}
	return nil, errors.Join(faults...)
}
