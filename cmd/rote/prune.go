package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dustin/go-humanize/english"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/service"
)

// retentionFlags say how long executions and uses of secrets are kept.
type retentionFlags struct {
	KeepAge  days `help:"How long executions are kept." default:"30d"`
	AuditAge days `help:"How long uses of secrets are kept: at least 90d, and as long as executions." default:"90d"`
	KeepSize size `help:"Bytes of results and files that are kept; the oldest executions are deleted first." default:"10GiB"`
}

func (f *retentionFlags) retention() routine.Retention {
	return routine.Retention{Age: time.Duration(f.KeepAge), Size: int64(f.KeepSize), SecretUses: time.Duration(f.AuditAge)}
}

func (f *retentionFlags) check() error {
	if time.Duration(f.AuditAge) < service.MinSecretUseAge {
		return errors.New("--audit-age: uses of secrets are kept for at least 90d: write 90d or more")
	}
	return nil
}

// pruneCommand does at once what a server does every ten minutes.
type pruneCommand struct{ retentionFlags }

func (c *pruneCommand) Run(ctx context.Context, g *globals, s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	return g.withDatabase(ctx, s, func(store database) error {
		executions, uses, err := service.New(service.Config{Store: store, Retention: c.retention(), Log: s.logger()}).Prune(ctx)
		if executions+uses > 0 {
			s.audit.Changed(ctx, routine.Principal{}, audit.ExecutionsDeleted, slog.Int("executions", executions), slog.Int("secret_uses", uses))
		}
		fmt.Fprintf(s.err, "rote: deleted %s and %s of secrets\n", english.Plural(executions, "execution", ""), english.Plural(uses, "use", ""))
		return err
	})
}
