package postgrestest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// errNoPooler means that this machine has no PgBouncer.
var errNoPooler = errors.New("there is no pgbouncer in PATH or /usr/sbin: install it (Debian: apt-get install pgbouncer)")

// PoolerLimits are the limits of a [Pooler].
type PoolerLimits struct {
	// Connections is how many connections to the server it has for each database;
	// Clients is how many clients may be connected to it.
	Connections, Clients int
}

// Pooler is a PgBouncer in transaction mode in front of a [Server].
type Pooler struct {
	server *Server
	port   int64
}

// StartPooler starts a PgBouncer, which ends with the test. Without PgBouncer on the
// machine, it skips the test, or fails it if CI is set.
func (s *Server) StartPooler(t testing.TB, limits PoolerLimits) *Pooler {
	t.Helper()
	s.start(t)
	program, err := findPooler()
	switch {
	case err != nil && os.Getenv("CI") == "":
		t.Skip("SKIPPED, NOT TESTED:", err)
	case err != nil:
		t.Fatal(err)
	}
	p := &Pooler{s, firstPoolerPort + s.poolers.Add(1)}
	settings := filepath.Join(s.dir, fmt.Sprintf("pgbouncer-%d.ini", p.port))
	text := fmt.Sprintf(`[databases]
* = host=%[1]s user=rote
[pgbouncer]
listen_addr =
listen_port = %[2]d
unix_socket_dir = %[1]s
auth_type = any
pool_mode = transaction
default_pool_size = %[3]d
max_client_conn = %[4]d
`, s.dir, p.port, limits.Connections, limits.Clients)
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil { //nolint:gosec // the server's user reads it
		t.Fatal(err)
	}
	// As the server, it ends when the test process dies, and its input is closed.
	run := exec.Command("/bin/sh", "-c", `"$0" "$1" </dev/null >"$1.log" 2>&1 &
pooler=$!
read -r ended
kill -INT $pooler
wait $pooler`, program, settings)
	run.SysProcAttr, run.Dir = s.user, s.dir
	input, err := run.StdinPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = run.Wait()
	})
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		c, err := pgx.Connect(t.Context(), p.URL("postgres"))
		if err == nil {
			if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			return p
		}
		if time.Since(began) > startTimeout {
			log, _ := os.ReadFile(settings + ".log")
			t.Fatalf("start PgBouncer: %v\n%s", err, log)
		}
	}
}

// firstPoolerPort is before the port in the name of the first pooler's socket.
const firstPoolerPort = 6400

// URL returns the address of a database through the pooler.
func (p *Pooler) URL(database string) string {
	return fmt.Sprintf("postgres://rote@/%s?host=%s&port=%d", database, url.QueryEscape(p.server.dir), p.port)
}

func findPooler() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	if _, err := os.Stat("/usr/sbin/pgbouncer"); err != nil {
		return "", errNoPooler
	}
	return "/usr/sbin/pgbouncer", nil
}
