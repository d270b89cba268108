// Package mcp is the front end for agents: it publishes routines as tools of
// the Model Context Protocol. What a caller may do is [routine.Service]'s to
// say; here is only how routines look as tools and how messages travel.
package mcp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"rote/routine"
)

const (
	defaultRefreshInterval = time.Second
	defaultMaxMessage      = 4 << 20
)

// Config is what a Server is made of. Service is needed; the zero value of the
// rest means the default.
type Config struct {
	Service *routine.Service
	// Version is the program's own, told to clients.
	Version string
	Log     *slog.Logger
	// RefreshInterval is how often routines that other processes have changed
	// are looked for while a client listens, to tell it of them (1 s). Negative:
	// never. Every list and every call of tools looks by itself.
	RefreshInterval time.Duration
	// MaxMessage bounds one message of a client in bytes (4 MiB).
	MaxMessage int
}

// Server publishes the routines of each organization to its members. It serves
// any number of sessions at once, over any transport.
type Server struct {
	service         *routine.Service
	version         string
	log             *slog.Logger
	refreshInterval time.Duration
	maxMessage      int

	mu            sync.Mutex
	organizations map[string]*organization
}

// New makes a Server. It reads nothing yet: an organization's tools are loaded
// when its first session begins.
func New(c Config) (*Server, error) {
	if c.Service == nil {
		return nil, errors.New("mcp: a server needs a service")
	}
	s := &Server{service: c.Service, version: c.Version, log: c.Log, refreshInterval: c.RefreshInterval, maxMessage: c.MaxMessage,
		organizations: map[string]*organization{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.refreshInterval == 0 {
		s.refreshInterval = defaultRefreshInterval
	}
	if s.maxMessage <= 0 {
		s.maxMessage = defaultMaxMessage
	}
	return s, nil
}

// errAnonymous: tools are not for anonymous callers.
var errAnonymous = routine.Errorf(routine.CodeUnauthenticated, "MCP needs a service token: send it as Authorization: Bearer or X-Service-Token")

type principalKey struct{}

// withPrincipal says on whose behalf a message is handled.
func withPrincipal(ctx context.Context, p routine.Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// principalOf is the anonymous caller where nobody was named, to whom the
// service gives nothing.
func principalOf(ctx context.Context) routine.Principal {
	p, _ := ctx.Value(principalKey{}).(routine.Principal)
	return p
}
