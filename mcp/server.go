// Package mcp is the front end for agents: it publishes routines as tools of
// the Model Context Protocol. What a caller may do is [routine.Service]'s to
// say; here is only how routines look as tools and how messages travel.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"rote/mcp/wire"
	"rote/routine"
)

const (
	defaultRefreshInterval = 250 * time.Millisecond
	defaultMaxMessage      = 4 << 20
	defaultSoftDeadline    = 45 * time.Second
	defaultMaxListed       = 40
)

// Config is what a Server is made of. Service is needed; the zero value of the
// rest means the default.
type Config struct {
	Service *routine.Service
	// Version is the program's own, told to clients.
	Version string
	Log     *slog.Logger
	// RefreshInterval is how often changes of routines are looked for while a
	// client listens, to tell it of them (250 ms). Negative: never. Every list
	// and every call of tools looks by itself.
	RefreshInterval time.Duration
	// MaxMessage bounds one message of a client in bytes (4 MiB).
	MaxMessage int
	// SoftDeadline is how long a call waits for its run (45 s). Then it answers
	// that the run goes on, and how to get its result.
	SoftDeadline time.Duration
	// MaxListed bounds how many routines are listed as tools of their own (40);
	// the others are found with search_routines.
	MaxListed int
	// Authoring adds the tools that write routines.
	Authoring bool
	// ReadOnly leaves out what changes anything, here or on a site.
	ReadOnly bool
	// DetachOnCancel lets the run of a call go on whose client no longer wants
	// the answer; otherwise it is cancelled.
	DetachOnCancel bool
	// EmbedFiles puts files of up to 1 MiB into answers, which not every client
	// takes; otherwise they are read as resources.
	EmbedFiles bool
	// FileDir gives a directory in which files of results are put, for clients
	// that run on this machine as this user: answers name their paths. It is
	// asked with each file, and the maker of the server removes it in the end; at
	// most 1 GiB lies in it. nil: answers name no paths.
	FileDir func() (string, error)
	// AddCommand is the command line with which the operator stores a routine,
	// shown to clients that have none ("rote add FILE"). It names a path only for
	// clients on this machine.
	AddCommand string
}

// Server publishes the routines of each organization to its members. It serves
// any number of sessions at once, over any transport.
type Server struct {
	service         *routine.Service
	version         string
	log             *slog.Logger
	refreshInterval time.Duration
	reportInterval  time.Duration
	transport       wire.Options
	softDeadline    time.Duration
	maxListed       int
	authoring       bool
	readOnly        bool
	detach          bool
	embedFiles      bool
	local           *localFiles // nil without FileDir
	addCommand      string
	// ownTools are the service's own tools; no routine is published under the name
	// of one, listed or not.
	ownTools map[string]builtin

	mu            sync.Mutex
	organizations map[string]*organization
}

// New makes a Server. It reads nothing yet: an organization's tools are loaded
// when its first session begins.
func New(c Config) (*Server, error) {
	if c.Service == nil {
		return nil, errors.New("mcp: a server needs a service")
	}
	s := &Server{service: c.Service, version: c.Version, log: c.Log, refreshInterval: c.RefreshInterval, reportInterval: reportInterval,
		softDeadline: c.SoftDeadline, maxListed: c.MaxListed, authoring: c.Authoring, readOnly: c.ReadOnly,
		detach: c.DetachOnCancel, embedFiles: c.EmbedFiles, addCommand: c.AddCommand, ownTools: map[string]builtin{}, organizations: map[string]*organization{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.transport = wire.Options{Peer: s.peer, Log: s.log, MaxMessage: cmp.Or(c.MaxMessage, defaultMaxMessage)}
	if c.FileDir != nil {
		s.local = &localFiles{dir: c.FileDir, limit: maxLocal}
	}
	setDefault(&s.refreshInterval, defaultRefreshInterval)
	setDefault(&s.softDeadline, defaultSoftDeadline)
	setDefault(&s.maxListed, defaultMaxListed)
	setDefault(&s.addCommand, "rote add FILE")
	for _, b := range append(runTools(), authoringTools()...) {
		s.ownTools[b.name] = b
	}
	return s, nil
}

func setDefault[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// errAnonymous: tools are not for anonymous callers.
var errAnonymous = routine.Errorf(routine.CodeUnauthenticated, "MCP needs a service token: send it as Authorization: Bearer or X-Service-Token")

// NewHTTP returns the handler of the protocol's paths below basePath, which is
// empty or as "/rote". Close it to end the streams.
func (s *Server) NewHTTP(a wire.Admission, basePath string) *wire.HTTP {
	return wire.NewHTTP(s.transport, a, basePath)
}

// ServeStdio serves one client on behalf of p, as [wire.ServeStdio] describes.
func (s *Server) ServeStdio(ctx context.Context, p routine.Principal, in io.Reader, out io.Writer) error {
	return wire.ServeStdio(ctx, s.transport, p, in, out)
}
