// Package service has the use cases that both front ends and the command line call: routines
// and their versions, executions and their queue, tools, tokens and webhooks. It decides what
// callers may do. The Store and the Browser are given to it.
package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/definition"
	"rote/routine/jobs"
	"rote/routine/tracing"
)

// Service has everything that a front end can do. It alone applies the rules about who may
// do what.
type Service struct {
	store     routine.Store
	browser   routine.Browser
	sender    routine.Sender
	jobs      routine.JobQueue
	providers []routine.SecretProvider
	observer  routine.Observer
	tracer    *tracing.Tracer
	retention routine.Retention
	schedules bool // Config.Schedules
	liveView  bool // Config.LiveView
	log       *slog.Logger
	audit     *audit.Log
	now       func() time.Time

	adminToken [32]byte // the hash; hasAdmin reports whether there is one
	hasAdmin   bool

	// What limits work that runs at the same time.
	maxResult    int64
	queue        *queue        // of executions
	storeQueue   storeQueue    // of executions that processes share
	parseLimiter *parseLimiter // of calls that parse definitions
	largeTexts   *turns        // of runs whose sanitizers work on a large text
	transfers    *turns        // of runs that move large data out of their pages

	routines      cache[string, routine.Routine] // by id
	tokens        cache[[32]byte, routine.Token] // by hash
	sessionLines  sessionLines                   // of runs that wait for exclusive sessions
	browserHealth browserHealth
	changes       changeSignals

	mu      sync.Mutex
	running map[string]*activeRun         // by execution id
	logins  map[sessionOf]*sharedLogin    // that runs of this process wait for
	claims  map[*atomic.Bool]string       // ids of the executions that are being claimed; see awaitCancel
	unsaved map[string]*routine.Execution // ended executions that are not saved yet, by id
	used    map[string]time.Time          // when the last use of a token was recorded, by token id
	// done counts the active runs and the records of token uses, for which Close waits.
	done sync.WaitGroup

	stopping chan struct{} // closed when no more calls are taken

	shareRuns bool
	async     int
	queueTime time.Duration
	runMade   chan struct{} // receives after this process has queued an execution
}

// Config has the parts and settings of a Service. Store and Browser are required; the zero
// value of any other field means its default.
type Config struct {
	Store   routine.Store
	Browser routine.Browser
	// Log is the logger; nil discards what is logged.
	Log *slog.Logger
	// Audit gets what is changed and refused; nil: nothing is written.
	Audit *audit.Log
	// Concurrency is how many executions run at the same time (default 1), Queue how many
	// more may wait (default none).
	Concurrency, Queue int
	// ShareRuns makes Start save runs in the queue of the store, from which each process
	// takes them that has Async. Otherwise Start runs them in this process, and they end
	// with it.
	ShareRuns bool
	// Async is how many runs from the queue of the store this process does at once, of its
	// Concurrency; 0: none.
	Async int
	// QueueTime is how long the runs of Start may wait for a place; 0 means an hour.
	QueueTime time.Duration
	// MaxResult limits the bytes of one run's data before encoding; 0 means no limit.
	MaxResult int64
	// Sender sends webhooks; nil means that calls with a callback URL are refused.
	Sender routine.Sender
	// Jobs hands out the work that the store keeps for later; nil means that the store is
	// asked for it at intervals.
	Jobs routine.JobQueue
	// Providers have the values of secrets that are not in the store.
	Providers []routine.SecretProvider
	// Observer is called for executions and webhooks; nil means no observer.
	Observer routine.Observer
	// Tracer traces runs; nil means that there are no traces.
	Tracer *tracing.Tracer
	// Retention says which executions Maintain keeps.
	Retention routine.Retention
	// Schedules makes Maintain start the runs of the schedules that are due.
	Schedules bool
	// LiveView lets people see the pages of running executions.
	LiveView bool
	// AdminToken is the secret of a token for the user admin of the organization and
	// project default, with every scope; empty means that there is no such token.
	AdminToken string
	// Now is the clock. It must return UTC in whole microseconds, as times are stored; nil
	// means the system's clock.
	Now func() time.Time
}

// New returns a Service. It must be closed before its Store and Browser.
func New(c Config) *Service {
	s := &Service{store: traceStore(c.Store, c.Tracer), browser: c.Browser, sender: c.Sender, jobs: c.Jobs, providers: c.Providers, observer: c.Observer,
		tracer:    c.Tracer,
		retention: c.Retention, schedules: c.Schedules, liveView: c.LiveView, log: c.Log, audit: c.Audit, now: c.Now,
		maxResult:    c.MaxResult,
		queue:        newQueue(max(c.Concurrency, 1), max(c.Queue, 0)),
		parseLimiter: newParseLimiter(),
		largeTexts:   newTurns(1),
		transfers:    newTurns(maxTransfers()),
		routines:     newCache[string, routine.Routine](),
		tokens:       newCache[[32]byte, routine.Token](),
		running:      map[string]*activeRun{},
		logins:       map[sessionOf]*sharedLogin{},
		claims:       map[*atomic.Bool]string{},
		unsaved:      map[string]*routine.Execution{},
		used:         map[string]time.Time{},
		stopping:     make(chan struct{}),
		shareRuns:    c.ShareRuns, async: c.Async, queueTime: cmp.Or(c.QueueTime, defaultQueueTime),
		runMade: make(chan struct{}, 1)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.observer == nil {
		s.observer = routine.NoObserver{}
	}
	if s.now == nil {
		// As times are stored, so that an answer has the same times each time.
		s.now = func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
	}
	if s.jobs == nil {
		s.jobs = &jobs.Poller{Store: s.store, Log: s.log, Now: s.now}
	}
	if c.AdminToken != "" {
		s.adminToken, s.hasAdmin = hashToken(c.AdminToken), true
	}
	return s
}

// Recover ends the executions that processes left open that no longer run. It is called
// once before the first execution; Maintain repeats it. CodeStoreUnavailable.
func (s *Service) Recover(ctx context.Context) error {
	if err := s.endAbandonedExecutions(ctx); err != nil {
		return storeError(ctx, "recover executions", err)
	}
	return nil
}

// endAbandonedExecutions is Recover with the error of the store.
func (s *Service) endAbandonedExecutions(ctx context.Context) error {
	n, err := s.store.RecoverExecutions(ctx, s.now())
	if n > 0 {
		s.log.WarnContext(ctx, "ended executions that a crash had left open", "count", n)
	}
	return err
}

// stopped reports whether Close was called.
func (s *Service) stopped() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// closeTimeout is how long Close waits for the executions that it has ended. It is longer
// than saveTimeout, so that their ends can be saved.
const closeTimeout = saveTimeout + 2*time.Second

// Close refuses new executions, lets the active ones continue until ctx ends, and then ends
// them with CodeInterrupted. It waits at most closeTimeout for that and logs the executions
// that still run then. They stay open in the store until Recover or Maintain of another
// process ends them.
func (s *Service) Close(ctx context.Context) {
	s.mu.Lock() // no execution may begin after this and before its done.Add
	if !s.stopped() {
		close(s.stopping)
	}
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() { s.done.Wait(); close(idle) }()
	select {
	case <-idle:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	for _, run := range s.running {
		run.cancel(&routine.Error{Code: routine.CodeInterrupted, Message: "the service was stopped"})
	}
	s.mu.Unlock()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log.ErrorContext(ctx, "executions did not end and are left behind", "executions", slices.Sorted(maps.Keys(s.running)), "waited", closeTimeout)
	}
}

// Validate checks the body of a validate call of p, which has one of the forms of
// definition.ParseBody, and saves nothing. CodeInvalid with problems, CodeTooLarge, CodeBusy.
func (s *Service) Validate(ctx context.Context, p routine.Principal, body []byte) (*routine.Definition, []routine.Problem, error) {
	done, err := s.parseLimiter.admit(ctx, p, len(body))
	if err != nil {
		return nil, nil, err
	}
	defer done()
	d, warnings, err := definition.ParseBody(body)
	if err != nil {
		return d, warnings, err
	}
	return d, s.withUnknown(ctx, p, d, warnings), nil
}

// withUnknown adds warnings for the secrets and the session of a definition that p's project
// does not have.
func (s *Service) withUnknown(ctx context.Context, p routine.Principal, d *routine.Definition, warnings []routine.Problem) []routine.Problem {
	return s.withUnknownSession(ctx, p, d, s.withUnknownSecrets(ctx, p, d, warnings))
}

// parse is definition.Parse as soon as p is admitted. CodeBusy too.
func (s *Service) parse(ctx context.Context, p routine.Principal, text []byte) (*routine.Definition, []routine.Problem, error) {
	done, err := s.parseLimiter.admit(ctx, p, len(text))
	if err != nil {
		return nil, nil, err
	}
	defer done()
	d, warnings, err := definition.Parse(text)
	if err != nil {
		return d, warnings, err
	}
	return d, s.withUnknown(ctx, p, d, warnings), nil
}

// Ready returns nil if calls are accepted, the store answers and the browser opens pages. It
// starts a browser if none runs. CodeShuttingDown, CodeStoreUnavailable,
// CodeBrowserUnavailable.
func (s *Service) Ready(ctx context.Context) error {
	if s.stopped() {
		return errStopping
	}
	if err := s.store.Ping(ctx); err != nil {
		return storeError(ctx, "ping", err)
	}
	if b, ok := s.browser.(interface{ Ready(context.Context) error }); ok {
		if err := b.Ready(ctx); err != nil {
			return hideBrowserFault(err)
		}
	}
	return s.browserHealth.check(s.now())
}

// storeError returns an error of the store as CodeStoreUnavailable, or as the cause of ctx if
// that has ended. Its message hides the details; they are its cause, which front ends log.
func storeError(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil { // the store gave up because its caller did
		return routine.CauseOf(ctx)
	}
	return &routine.Error{Code: routine.CodeStoreUnavailable, Message: "the database did not answer: try again", RetryAfter: time.Second,
		Cause: fmt.Errorf("%s: %w", doing, err)}
}
