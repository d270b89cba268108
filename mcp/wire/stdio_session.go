package wire

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var (
	_ server.SessionWithClientInfo      = (*session)(nil)
	_ server.SessionWithProtocolVersion = (*session)(nil)
)

// session is what mcp-go knows of one client over stdio or SSE.
type session struct {
	id            string
	initialized   atomic.Bool
	notifications chan mcp.JSONRPCNotification

	mu           sync.Mutex
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
}

func newSession(idPrefix string) *session {
	return &session{id: idPrefix + uuid.NewString(), notifications: make(chan mcp.JSONRPCNotification, 16)}
}

func (s *session) SessionID() string                                   { return s.id }
func (s *session) Initialize()                                         { s.initialized.Store(true) }
func (s *session) Initialized() bool                                   { return s.initialized.Load() }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }

func (s *session) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

func (s *session) SetClientInfo(info mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info
}

func (s *session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities
}

func (s *session) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.capabilities = c
}

// ProtocolVersion is what initialize agreed on; empty before, and for clients
// that say it with each request.
func (s *session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// SetProtocolVersion is called by initialize.
func (s *session) SetProtocolVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// forwardNotifications writes what mcp-go tells the session, such as a changed
// list of tools.
func (c *conversation) forwardNotifications(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-c.session.notifications:
			_ = c.out.write(n) // a broken out ends the session
		}
	}
}
