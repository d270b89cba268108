// Package mcp is the front end for agents: it publishes routines as tools of the
// Model Context Protocol. [service.Service] decides what a caller may do. This
// package turns routines into tools, resources and prompts, and results into
// texts; package wire carries the messages.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/audit"
	"rote/routine/service"
	"rote/routine/tracing"
)

const (
	defaultRefreshInterval = 250 * time.Millisecond
	defaultMaxMessage      = 4 << 20
	defaultSoftDeadline    = 45 * time.Second
	defaultMaxListed       = 40
)

// Config configures a Server. Service is required; the zero value of any other
// field means its default.
type Config struct {
	Service *service.Service
	// Version is the version of the program that clients get.
	Version string
	Log     *slog.Logger
	// Audit gets the requests that are refused; nil: nothing is written.
	Audit *audit.Log
	// Tracer traces requests; nil: there are no traces.
	Tracer *tracing.Tracer
	// RefreshInterval is how often routines are checked for changes while a client
	// listens for notifications (250 ms). Negative: never. Every list and every call
	// of tools checks in any case.
	RefreshInterval time.Duration
	// MaxMessage limits one message of a client, in bytes (4 MiB).
	MaxMessage int
	// SoftDeadline is how long a call waits for its run (45 s). Then it answers that
	// the run continues, and how to get its result.
	SoftDeadline time.Duration
	// MaxListed limits how many routines are listed as tools of their own (40). The
	// others are found with search_routines.
	MaxListed int
	// Lessons, if not nil, adds the tools that make routines on a live page. ReadOnly
	// leaves them out.
	Lessons Lessons
	// Authoring adds the tools that write routines.
	Authoring bool
	// ReadOnly leaves out all tools that change anything, here or on a site.
	ReadOnly bool
	// DetachOnCancel lets a run continue when the client cancels its call. Otherwise
	// the run is cancelled.
	DetachOnCancel bool
	// EmbedFiles puts files of up to 1 MiB into results, which not every client
	// accepts. Otherwise they are read as resources.
	EmbedFiles bool
	// FileDir returns a directory for the files of results, for clients that run on
	// this machine as this user: results name the paths. It is called for each file.
	// The files take at most 1 GiB; the caller of New removes the directory in the
	// end. nil: results name no paths.
	FileDir func() (string, error)
	// AddCommand is the command line with which the operator adds a routine, for
	// clients that find none ("rote add FILE"). It names a path only for clients on
	// this machine.
	AddCommand string
}

// Server publishes the routines of each organization to its members. It serves any
// number of clients at the same time, over any transport.
type Server struct {
	service         *service.Service
	version         string
	log             *slog.Logger
	refreshInterval time.Duration
	reportInterval  time.Duration
	transport       wire.Options
	softDeadline    time.Duration
	maxListed       int
	lessons         Lessons // nil without its tools
	authoring       bool
	readOnly        bool
	detach          bool
	embedFiles      bool
	local           *localFiles // nil without FileDir
	addCommand      string
	// ownTools has all of the service's own tools, by name. No routine is published
	// under one of these names, even if the toolset is off.
	ownTools map[string]builtin

	mu            sync.Mutex
	organizations map[string]*organization
}

// New returns a Server. An organization's tools are loaded when its first client
// connects.
func New(c Config) (*Server, error) {
	if c.Service == nil {
		return nil, errors.New("mcp: a server needs a service")
	}
	s := &Server{service: c.Service, version: c.Version, log: cmp.Or(c.Log, slog.New(slog.DiscardHandler)),
		refreshInterval: cmp.Or(c.RefreshInterval, defaultRefreshInterval), reportInterval: reportInterval,
		softDeadline: cmp.Or(c.SoftDeadline, defaultSoftDeadline), maxListed: cmp.Or(c.MaxListed, defaultMaxListed),
		lessons: c.Lessons, authoring: c.Authoring, readOnly: c.ReadOnly, detach: c.DetachOnCancel, embedFiles: c.EmbedFiles,
		addCommand: cmp.Or(c.AddCommand, "rote add FILE"), ownTools: map[string]builtin{}, organizations: map[string]*organization{}}
	s.transport = wire.Options{Peer: s.peer, Log: s.log, Audit: c.Audit, Tracer: c.Tracer, MaxMessage: cmp.Or(c.MaxMessage, defaultMaxMessage)}
	if c.FileDir != nil {
		s.local = &localFiles{dir: c.FileDir, limit: maxLocal}
	}
	for _, b := range slices.Concat(runTools(), lessonTools(), authoringTools()) {
		s.ownTools[b.name] = b
	}
	return s, nil
}

// errAnonymous refuses callers without a token.
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
