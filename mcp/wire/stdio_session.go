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
	_ server.SessionWithClientInfo      = (*stdioSession)(nil)
	_ server.SessionWithProtocolVersion = (*stdioSession)(nil)
)

// stdioSession is the session of one client over stdio or SSE, as mcp-go needs it.
type stdioSession struct {
	id            string
	initialized   atomic.Bool
	notifications chan mcp.JSONRPCNotification

	mu           sync.Mutex
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
}

func newSession(idPrefix string) *stdioSession {
	return &stdioSession{id: idPrefix + uuid.NewString(), notifications: make(chan mcp.JSONRPCNotification, 16)}
}

func (s *stdioSession) SessionID() string                                   { return s.id }
func (s *stdioSession) Initialize()                                         { s.initialized.Store(true) }
func (s *stdioSession) Initialized() bool                                   { return s.initialized.Load() }
func (s *stdioSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }

func (s *stdioSession) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

func (s *stdioSession) SetClientInfo(info mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info
}

func (s *stdioSession) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities
}

func (s *stdioSession) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.capabilities = c
}

// ProtocolVersion returns the revision that initialize agreed on. It is empty
// before that, and for clients that name the revision in each request.
func (s *stdioSession) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// SetProtocolVersion stores the revision that initialize agreed on.
func (s *stdioSession) SetProtocolVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// forwardNotifications writes the notifications that mcp-go sends to the session,
// such as that the list of tools has changed, until ctx ends.
func (c *conversation) forwardNotifications(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-c.session.notifications:
			_ = c.out.write(n) // a write error ends the session elsewhere
		}
	}
}
