package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"rote/routine"
	"rote/routine/service"
)

type secretTest struct {
	Name    string   `arg:"" help:"The name of a secret." placeholder:"NAME"`
	Routine string   `help:"Also run this stored routine, and list the hosts that it needs." placeholder:"NAME|ID" env:"-"`
	Param   []string `short:"p" help:"Parameter of the routine, as for rote run. Repeatable." placeholder:"NAME=VALUE" sep:"none" env:"-"`
}

// Run reads each value of a secret as a run does, and prints which can be read. With a routine
// it also runs that, and prints which hosts it needs and whether they are hosts of the secret.
func (c *secretTest) Run(ctx context.Context, g *globals, s streams) (err error) {
	if c.Routine == "" {
		return withDatabase(ctx, g, s, func(service *service.Service) error { return c.testValues(ctx, service, g, s) })
	}
	parameters, err := (&runCommand{Param: c.Param}).parameters(s.in, int64(g.MaxBody))
	if err != nil {
		return err
	}
	a, err := openApp(ctx, g, s, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := c.testValues(ctx, a.service, g, s); err != nil {
		return err
	}
	info, err := a.service.Secret(ctx, g.localPrincipal(), c.Name, nil)
	if err != nil {
		return err
	}
	r, err := findRoutine(ctx, a.service, g.localPrincipal(), c.Routine)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	hosts := map[string]bool{}
	call := service.Call{Via: routine.ViaCLI, Parameters: parameters, Reached: func(host string) {
		mu.Lock()
		defer mu.Unlock()
		hosts[host] = true
	}}
	_, failure := a.service.Execute(ctx, g.localPrincipal(), r.ID, call)
	mu.Lock()
	defer mu.Unlock()
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		said := "a host of the secret"
		if !info.Allows("https://" + host) {
			said = "no host of the secret: a confined run does not reach it"
		}
		fmt.Fprintf(s.out, "%s\t%s\n", host, said)
	}
	return failure
}

// testValues prints which values of the secret can be read. It is an error if one cannot.
func (c *secretTest) testValues(ctx context.Context, service *service.Service, g *globals, s streams) error {
	results, err := service.TestSecret(ctx, g.localPrincipal(), c.Name)
	if err != nil {
		return withSecretList(err)
	}
	failed := 0
	for _, result := range results {
		if result.Err != nil {
			failed++
			fmt.Fprintf(s.out, "%s\tfails: %s\n", result.Field, routine.AsError(result.Err).Message)
			continue
		}
		fmt.Fprintf(s.out, "%s\tok\n", result.Field)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d values cannot be read", failed, len(results))
	}
	return nil
}
