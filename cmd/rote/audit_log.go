package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"

	"rote/routine"
	"rote/routine/audit"
)

// openAuditLog returns s with the log of --audit-log, which is created if it is not there, and
// the function that closes it. Several processes may write to one file.
func (g *globals) openAuditLog(s streams) (streams, func() error, error) {
	keepOpen := func() error { return nil }
	switch g.AuditLog {
	case "":
		return s, keepOpen, nil
	case "stderr":
		s.audit = audit.New(s.err, s.logger())
		return s, keepOpen, nil
	}
	f, err := os.OpenFile(g.AuditLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return s, nil, fmt.Errorf("--audit-log: %w: name a file that can be written to, or stderr", err)
	}
	s.audit = audit.New(f, s.logger())
	return s, f.Close, nil
}

// auditedAsCLI returns a context whose changes are made by the user of the operating system.
func auditedAsCLI(ctx context.Context) context.Context {
	name := "uid " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return audit.WithRequest(ctx, audit.Request{Via: routine.ViaCLI, Client: name})
}
