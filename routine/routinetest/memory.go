package routinetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"rote/routine"
)

var _ routine.Store = (*Store)(nil)

// Store is a [routine.Store] in memory, for tests of what uses one. It keeps
// the contract that TestStore states; what it holds is gone with the process,
// so there is never anything to recover.
type Store struct {
	mu             sync.Mutex
	routines       map[string]*routine.Routine
	versions       map[string][]*routine.Version // by routine id, oldest first
	executions     map[string]*execution
	tokens         map[string]*routine.Token
	changes        routine.Changes
	keys           map[keyOf]madeBy
	webhooks       map[string]*webhook
	webhookSecrets map[string][]byte // by organization
	states         map[projectOf][]byte
	listeners      map[*listener]bool // of signals
	repeated       map[routine.JobKind]time.Time
	schedules      map[string]*schedule
	secrets        map[secretOf]*secret
	sessions       map[secretOf]*session
	secretUses     []routine.SecretUse
	codes          []code
	signIns        map[[32]byte]routine.SignIn
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{
		routines:       map[string]*routine.Routine{},
		versions:       map[string][]*routine.Version{},
		executions:     map[string]*execution{},
		tokens:         map[string]*routine.Token{},
		keys:           map[keyOf]madeBy{},
		webhooks:       map[string]*webhook{},
		webhookSecrets: map[string][]byte{},
		states:         map[projectOf][]byte{},
		listeners:      map[*listener]bool{},
		repeated:       map[routine.JobKind]time.Time{},
		schedules:      map[string]*schedule{},
		secrets:        map[secretOf]*secret{},
		sessions:       map[secretOf]*session{},
		signIns:        map[[32]byte]routine.SignIn{},
	}
}

// pageOf is a part of a list; limit 0 means the rest of it.
func pageOf[T any](list []T, limit, offset int) []T {
	list = list[min(max(offset, 0), len(list)):]
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list
}

func (s *Store) CreateToken(_ context.Context, t *routine.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.tokens {
		if other.ID == t.ID || other.Hash == t.Hash {
			return fmt.Errorf("create token: id or hash of %s is in use", t.ID)
		}
	}
	s.tokens[t.ID] = copyToken(t)
	return nil
}

func (s *Store) TokenByHash(_ context.Context, hash [32]byte) (*routine.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tokens {
		if t.Hash == hash {
			return copyToken(t), nil
		}
	}
	return nil, fmt.Errorf("token: %w", routine.ErrNotFound)
}

func (s *Store) TokenByID(_ context.Context, id string) (*routine.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tokens[id]; t != nil {
		return copyToken(t), nil
	}
	return nil, fmt.Errorf("token: %w", routine.ErrNotFound)
}

func (s *Store) Tokens(context.Context) ([]*routine.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Token{}
	for _, t := range s.tokens {
		list = append(list, copyToken(t))
	}
	slices.SortFunc(list, func(a, b *routine.Token) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

func (s *Store) OrganizationTokens(ctx context.Context, organizationID string, limit, offset int) ([]*routine.Token, int, error) {
	list, err := s.Tokens(ctx)
	list = slices.DeleteFunc(list, func(t *routine.Token) bool { return t.OrganizationID != organizationID })
	slices.Reverse(list)
	return pageOf(list, limit, offset), min(len(list), routine.MaxTotal+1), err
}

func (s *Store) RevokeToken(_ context.Context, id string, at time.Time) error {
	return s.changeToken(id, func(t *routine.Token) {
		s.changes.Tokens++
		s.signal(routine.Signal{Changed: true})
		if t.RevokedAt == nil {
			t.RevokedAt = copyTime(&at)
		}
	})
}

func (s *Store) UseToken(_ context.Context, id string, at time.Time) error {
	return s.changeToken(id, func(t *routine.Token) {
		if t.LastUsedAt == nil || t.LastUsedAt.Before(at) {
			t.LastUsedAt = copyTime(&at)
		}
	})
}

func (s *Store) changeToken(id string, change func(*routine.Token)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, there := s.tokens[id]
	if !there {
		return fmt.Errorf("token %s: %w", id, routine.ErrNotFound)
	}
	change(t)
	return nil
}

func (s *Store) Changes(context.Context) (routine.Changes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes, nil
}

func (s *Store) Ping(context.Context) error { return nil }

// Size is 0: nothing is on disk.
func (s *Store) Size() (int64, error) { return 0, nil }
