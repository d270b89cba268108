package postgres

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	defaultConnections = 4
	// connectTimeout limits the attempt to connect to one host.
	connectTimeout = 5 * time.Second
	// statementTimeout limits one statement on the server; operationTimeout limits an
	// operation of the Store with all its attempts. Callers get an error within it.
	statementTimeout = 10 * time.Second
	operationTimeout = 10 * time.Second
	// idleTransactionTimeout ends the transaction of a process that was frozen in it.
	idleTransactionTimeout = 30 * time.Second
	// cancelTimeout is how long the server may take to end a statement whose caller has
	// gone. Then the connection is closed.
	cancelTimeout = time.Second
)

// parse reads an address.
func parse(address string) (*pgxpool.Config, error) {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && strings.Contains(rest[i:], "@") {
		return nil, errAddress // a password with one of these, which would be read as a part of what follows
	}
	c, err := pgxpool.ParseConfig(address)
	if err != nil || !IsURL(address) {
		return nil, errAddress
	}
	return c, nil
}

// IsURL reports whether a --db value is the address of a PostgreSQL database.
func IsURL(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// errAddress does not contain the address, which may have a password.
var errAddress = errors.New("it is no address of a Postgres database: write postgres://USER@HOST:PORT/DATABASE, " +
	"with the password in PGPASSWORD or percent-encoded after the user")

// Name returns an address for messages: without password, and without parameters except
// the search_path, which decides what is in the database.
func Name(address string) string {
	c, err := parse(address)
	if err != nil {
		return "the Postgres database"
	}
	return nameOf(c.ConnConfig)
}

func nameOf(c *pgx.ConnConfig) string {
	u, query := url.URL{Scheme: "postgres", User: url.User(c.User), Host: net.JoinHostPort(c.Host, fmt.Sprint(c.Port)), Path: "/" + c.Database}, url.Values{}
	if strings.HasPrefix(c.Host, "/") { // the directory of a socket
		u.Host = ""
		query.Set("host", c.Host)
		query.Set("port", fmt.Sprint(c.Port))
	}
	if schema := c.RuntimeParams[searchPath]; schema != "" {
		query.Set(searchPath, schema)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// searchPath is the parameter of an address that names the schema.
const searchPath = "search_path"

// DumpSource returns the address of a database as the programs of PostgreSQL take it,
// without a password, and the schema; "" for the default one.
func DumpSource(address string) (dumped, schema string) {
	c, err := parse(address)
	if err != nil {
		return Name(address), ""
	}
	schema, _, _ = strings.Cut(c.ConnConfig.RuntimeParams[searchPath], ",")
	delete(c.ConnConfig.RuntimeParams, searchPath)
	u, err := url.Parse(nameOf(c.ConnConfig))
	original, originalErr := url.Parse(address)
	if err != nil || originalErr != nil {
		return nameOf(c.ConnConfig), schema
	}
	query := u.Query()
	for _, name := range []string{"sslmode", "sslrootcert", "sslcert", "sslkey"} {
		if value := original.Query().Get(name); value != "" {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String(), schema
}

// poolConfig returns the settings of the connections for queries.
func (s *Store) poolConfig() (*pgxpool.Config, error) {
	c, err := parse(s.config.URL)
	if err != nil {
		return nil, err
	}
	s.prepareConnection(c.ConnConfig)
	// Without this, a caller who leaves would close a connection that others can use.
	c.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelTimeout}
	}
	if s.config.DirectURL == "" {
		limitStatements(c.ConnConfig)
	} else if c.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		// A prepared statement belongs to one connection of the server.
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	c.MaxConns = int32(defaultConnections)
	if s.config.Connections > 0 {
		c.MaxConns = int32(s.config.Connections)
	}
	c.MaxConnIdleTime = 5 * time.Minute
	return c, nil
}

// limitStatements makes the server limit what is done on a connection. A pooler passes such
// settings on to no connection. Then callers are limited by operationTimeout, after which
// they cancel their statement, and transactions by beginQuery.
func limitStatements(c *pgx.ConnConfig) {
	c.RuntimeParams["statement_timeout"] = milliseconds(statementTimeout)
	c.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(idleTransactionTimeout)
}

// beginQuery begins a transaction that the server limits, in one round trip.
func beginQuery(mode string, timeout time.Duration) string {
	return "BEGIN" + mode + "; SET LOCAL statement_timeout = " + milliseconds(timeout) +
		"; SET LOCAL idle_in_transaction_session_timeout = " + milliseconds(idleTransactionTimeout)
}

// directConfig returns the settings of a connection for migrations or notifications.
func (s *Store) directConfig() (*pgx.ConnConfig, error) {
	c, err := parse(cmp.Or(s.config.DirectURL, s.config.URL))
	if err != nil {
		return nil, fmt.Errorf("--db-direct: %w", err)
	}
	s.prepareConnection(c.ConnConfig)
	return c.ConnConfig, nil
}

// prepareConnection sets what all connections have in common.
func (s *Store) prepareConnection(c *pgx.ConnConfig) {
	if c.ConnectTimeout == 0 || c.ConnectTimeout > connectTimeout {
		c.ConnectTimeout = connectTimeout
	}
	c.RuntimeParams["application_name"] = strings.TrimSuffix("rote/"+s.config.Version, "/")
	if s.config.dial != nil {
		c.DialFunc = s.config.dial(c.DialFunc)
	}
}

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// warnOfUnverifiedConnections warns if somebody between this process and the database could
// read along or take the place of the database.
func (s *Store) warnOfUnverifiedConnections(c *pgx.ConnConfig) {
	unverified := !isVerified(c.Host, c.TLSConfig)
	for _, f := range c.Fallbacks {
		unverified = unverified || !isVerified(f.Host, f.TLSConfig)
	}
	if unverified {
		s.config.Log.Warn("the connection to the database may be unencrypted, or lead to another server, because the name and certificate of the server "+
			"are not verified: add sslmode=verify-full to its address", "database", nameOf(c))
	}
}

// isVerified reports whether a connection stays on this machine, or checks the certificate
// and the name of the server.
func isVerified(host string, c *tls.Config) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" {
		return true
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return true
	}
	return c != nil && !c.InsecureSkipVerify // sslmode=require and verify-ca have it set
}

// hostName returns the name of this machine for the table of owners.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
