package main

import (
	"context"
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/service"
)

type sessionLogin struct{ sessionName }

// Run logs in with the login routine of a session, and prints how much the login has left.
func (c *sessionLogin) Run(ctx context.Context, g *globals, s streams) (err error) {
	a, err := openApp(ctx, g, s, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	e, err := a.service.LoginSessionAndWait(ctx, g.localPrincipal(), c.Name, service.Call{Via: routine.ViaCLI, Progress: printProgress(s)})
	if e != nil {
		printEvidence(s.err, e.Evidence)
	}
	if err != nil {
		return withSessionList(err)
	}
	for _, w := range e.Result.Warnings {
		fmt.Fprintf(s.err, "warning: %s\n", w)
	}
	info, err := a.service.Session(ctx, g.localPrincipal(), c.Name)
	if err != nil {
		return withSessionList(err)
	}
	fmt.Fprintf(s.out, "logged in to session %s, version %d\n", info.Name, info.Version)
	return printCounts(s.out, "KEPT", info.State)
}
