package postgres

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// remedies say what to do about a database that cannot be opened, by the server's code of the
// error.
var remedies = map[string]string{
	"28000": "check the user of --db, and what the server's pg_hba.conf lets it do",
	"28P01": "check the password in PGPASSWORD or ~/.pgpass",
	"3D000": "create it with createdb, or name another with --db",
	"42501": "give the user of --db the database (ALTER DATABASE … OWNER TO), or a schema of its own (CREATE SCHEMA … AUTHORIZATION, and ?search_path=…)",
}

// withRemedy adds to an error of Open what the user can do about it, if that is known and not
// part of the error already.
func withRemedy(err error) error {
	remedy := remedies[sqlState(err)]
	var (
		unreachable *net.OpError
		unknown     *net.DNSError
	)
	switch {
	case err == nil || remedy != "":
	case strings.Contains(err.Error(), "unsupported startup parameter"): // of PgBouncer
		remedy = "this is a connection pooler, which takes no settings: name the database itself with --db-direct, " +
			"and set a search_path with ALTER ROLE … SET search_path"
	case strings.Contains(err.Error(), "server refused TLS connection"):
		remedy = "turn ssl on at the server, or add sslmode=disable to the address if the network between is private"
	case errors.As(err, &unknown), errors.As(err, &unreachable):
		remedy = "check the host and the port of --db, and that the server runs"
	}
	if remedy == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, remedy)
}
