package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"rote/routine"
	"rote/routine/postgres"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// modelConnections is the number of connections of a replica for queries, which is rote's
// default.
const modelConnections = 4

// modelPage is what a run of the model program reads.
var modelPage = strings.Repeat("<p>a row of a page of results</p>", 70)

// startFloor makes a table and connections. A run is an INSERT before and an UPDATE after
// the time in the browser.
func startFloor(ctx context.Context, o modelOptions) (run contend, stop func(), err error) {
	var pools []*pgxpool.Pool
	stop = func() {
		if len(pools) > 0 {
			_, _ = pools[0].Exec(context.WithoutCancel(ctx), `DROP TABLE IF EXISTS model_floor`)
		}
		for _, p := range pools {
			p.Close()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	for range o.replicas {
		config, err := pgxpool.ParseConfig(o.db)
		if err != nil {
			return nil, nil, err
		}
		config.MaxConns = modelConnections
		p, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			return nil, nil, err
		}
		pools = append(pools, p)
	}
	_, err = pools[0].Exec(ctx, `
		CREATE TABLE model_floor (id text COLLATE "C" PRIMARY KEY, status text, created_at bigint, completed_at bigint, result text COMPRESSION lz4)`)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, replica int) (time.Duration, error) {
		id, began := uuid.Must(uuid.NewV7()).String(), time.Now()
		_, err := pools[replica].Exec(ctx, `INSERT INTO model_floor (id, status, created_at) VALUES ($1, 'running', $2)`, id, began.UnixMicro())
		if err != nil {
			return 0, err
		}
		inBrowser, err := o.browse(ctx)
		if err == nil {
			_, err = pools[replica].Exec(ctx, `UPDATE model_floor SET status = 'completed', completed_at = $2, result = $3 WHERE id = $1 AND status = 'running'`,
				id, time.Now().UnixMicro(), modelPage)
		}
		return time.Since(began) - inBrowser, err
	}, stop, nil
}

// startServices starts the services, with River and all their maintenance, and saves a
// routine. A run is a call of Execute.
func startServices(ctx context.Context, o modelOptions) (run contend, stop func(), err error) {
	var replicas []modelReplica
	stop = func() {
		for _, r := range replicas {
			err := r.stop()
			if err != nil {
				slog.Error("close a replica", "error", err)
			}
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	browser := &routinetest.Browser{Page: routinetest.Page{HTML: modelPage, Navigate: func(ctx context.Context, url string) (routine.Navigation, error) {
		_, err := o.browse(ctx)
		return routine.Navigation{URL: url, Status: 200}, err
	}}}
	for range o.replicas {
		r, err := newModelReplica(ctx, o, browser)
		if err != nil {
			return nil, nil, err
		}
		replicas = append(replicas, r)
	}
	p := routine.Principal{UserID: "model", OrganizationID: uuid.NewString(), ProjectID: "p", Scopes: routine.DefaultScopes}
	definition := json.RawMessage(`{"name": "model", "description": "Reads a page.",
		"operations": [{"type": "navigate", "url": "https://site.example/"}, {"type": "return_html"}]}`)
	saved, _, err := replicas[0].service.CreateRoutine(ctx, p, definition, service.Idempotency{})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, replica int) (time.Duration, error) {
		began := time.Now()
		e, err := replicas[replica].service.Execute(ctx, p, saved.ID, service.Call{})
		beyond := time.Since(began)
		if err == nil && e.Result != nil {
			for _, done := range e.Result.OperationsMetadata {
				beyond -= time.Duration(done.DurationSeconds * float64(time.Second))
			}
		}
		return beyond, err
	}, stop, nil
}

// modelReplica is a service with a store of its own, as a process of rote has it.
type modelReplica struct {
	service *service.Service
	stop    func() error
}

func newModelReplica(ctx context.Context, o modelOptions, browser routine.Browser) (modelReplica, error) {
	log := slog.New(slog.DiscardHandler)
	store, err := postgres.Open(ctx, postgres.Config{URL: o.db, Connections: modelConnections, Log: log})
	if err != nil {
		return modelReplica{}, err
	}
	s := service.New(service.Config{Store: store, Browser: browser, Concurrency: o.slots, Log: log, Jobs: store.JobQueue(),
		Retention: routine.Retention{Age: 24 * time.Hour}})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var maintenance sync.WaitGroup
	maintenance.Go(func() { s.Maintain(ctx) })
	return modelReplica{s, func() error {
		s.Close(ctx)
		cancel()
		maintenance.Wait()
		return store.Close()
	}}, nil
}
