package postgres

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
	"rote/routine/sqlite"
)

// keyedStore is what both stores on databases can do with keys.
type keyedStore interface {
	routine.Store
	StateKeys(ctx context.Context) ([]rows.KeyUse, error)
	Reseal(ctx context.Context) (int, error)
	RemoveKey(ctx context.Context, id string) error
	RotateDataKey(ctx context.Context, organizationID string, at time.Time) (int, error)
}

// onBothStores calls test with a function that opens a Store on one empty database, for each
// kind of database.
func onBothStores(t *testing.T, test func(t *testing.T, open func(key rows.KeySource) keyedStore)) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "rote.db")
		test(t, func(key rows.KeySource) keyedStore {
			s, err := sqlite.Open(t.Context(), path, sqlite.Key(key))
			must(t, err)
			t.Cleanup(func() { must(t, s.Close()) })
			return s
		})
	})
	t.Run("postgres", func(t *testing.T) {
		url := emptyDatabase(t)
		test(t, func(key rows.KeySource) keyedStore { return open(t, url, func(c *Config) { c.Key = key }) })
	})
}

// newRing returns the text of n new keys, and their ring.
func newRing(t *testing.T, n int) rows.Ring {
	t.Helper()
	var lines []string
	for range n {
		key, err := rows.NewKey()
		must(t, err)
		lines = append(lines, key)
	}
	ring, err := rows.ParseKeys(strings.Join(lines, "\n"))
	must(t, err)
	return ring
}

// sealedSample is a store with something of every kind that is encrypted: more values of
// secrets than are encrypted again in one transaction.
type sealedSample struct {
	secrets  []*routine.Secret
	schedule string
}

const projectsOfSample = 3

func fillSealed(t *testing.T, s routine.Store) *sealedSample {
	t.Helper()
	sample := &sealedSample{}
	for i := range 6 {
		secret := routinetest.Secret(func(s *routine.Secret) {
			s.Name, s.Fields = fmt.Sprint("secret", i), nil
			if i == 5 {
				s.OrganizationID, s.ProjectID = "other", ""
			}
			for n := range 21 {
				s.Fields = append(s.Fields, routine.SecretField{Name: fmt.Sprintf("field%02d", n), Value: routine.Hidden(fmt.Sprint(i, n))})
			}
		})
		must(t, s.SaveSecret(t.Context(), secret, 0))
		sample.secrets = append(sample.secrets, secret)
	}
	for i := range projectsOfSample {
		state := &routine.BrowserState{ProjectID: fmt.Sprint(i), Data: fmt.Append(nil, "state ", i)}
		must(t, s.SaveProjectState(t.Context(), "acme", state, routinetest.Time))
		must(t, s.CreateExecution(t.Context(), routinetest.Execution(t, func(e *routine.Execution) { e.QueuedCall = []byte("call") })))
	}
	must(t, s.SaveSession(t.Context(), routinetest.Session(), []byte("cookies"), 0))
	must(t, s.SaveCode(t.Context(), sample.secrets[0], "123456", time.Hour))
	schedule := routinetest.Schedule(t)
	must(t, s.CreateSchedule(t.Context(), schedule, 9))
	sample.schedule = schedule.ID
	return sample
}

// check reads all that is encrypted, except the queued calls, which can be read once.
func (sample *sealedSample) check(t *testing.T, s keyedStore) {
	t.Helper()
	for _, secret := range sample.secrets {
		for _, f := range secret.Fields {
			if got, err := routinetest.SecretValue(t.Context(), s, secret.OrganizationID, secret.ProjectID, secret.Name, f.Name); got != f.Value || err != nil {
				t.Fatalf("field %s of %s: %q, %v", f.Name, secret.Name, string(got), err)
			}
		}
	}
	for i := range projectsOfSample {
		if got, err := s.ProjectState(t.Context(), "acme", fmt.Sprint(i)); string(got) != fmt.Sprint("state ", i) || err != nil {
			t.Fatalf("state %d: %q, %v", i, got, err)
		}
	}
	if _, cookies, err := s.SessionState(t.Context(), "acme", "p", "shop"); string(cookies) != "cookies" || err != nil {
		t.Fatalf("session: %q, %v", cookies, err)
	}
	if values, err := s.ScheduleValues(t.Context(), sample.schedule); len(values) == 0 || err != nil {
		t.Fatalf("values of schedule: %s, %v", values, err)
	}
}

// sealedCount returns how many rows are encrypted with state keys.
func sealedCount(t *testing.T, s keyedStore) (n int) {
	t.Helper()
	uses, err := s.StateKeys(t.Context())
	must(t, err)
	for _, u := range uses {
		n += u.Rows
	}
	return n
}

// A rotation that is stopped at any point leaves every row readable, and the next call
// completes it. Stops are simulated by keys of another database from some use on, which also
// shows that nothing is encrypted with those.
func TestKeyRotationIsStopped(t *testing.T) {
	onBothStores(t, func(t *testing.T, open func(rows.KeySource) keyedStore) {
		ring, left := newRing(t, 1), -1 // uses of keys until the stop; negative: none
		strange := newRing(t, 1)
		s := open(func(bool) (rows.Ring, error) {
			if left == 0 {
				return strange, nil
			}
			left--
			return ring, nil
		})
		sample := fillSealed(t, s)
		count := sealedCount(t, s)
		stopped := 0
		points := 25
		if _, slow := s.(*Store); slow {
			points = 5
		}
		for point := range points {
			ring = append(newRing(t, 1), ring...)
			for i, rotate := range []func() error{
				func() error { _, err := s.Reseal(t.Context()); return err },
				func() error { _, err := s.RotateDataKey(t.Context(), "acme", routinetest.Time); return err },
			} {
				if left = 1 + (37*point+23*i)%60; point%5 == 0 {
					left = 1 + (97*point+41*i)%500
				}
				if err := rotate(); err != nil {
					stopped++
				}
				left = -1
				if n := sealedCount(t, s); n < count || n > count+1 { // a data key may have two rows
					t.Fatalf("%d rows are encrypted, want %d", n, count)
				}
			}
			if point%5 == 4 {
				sample.check(t, s)
			}
		}
		if stopped < points {
			t.Errorf("%d rotations were stopped", stopped)
		}
		_, err := s.RotateDataKey(t.Context(), "acme", routinetest.Time)
		must(t, err)
		_, err = s.Reseal(t.Context())
		must(t, err)
		for _, key := range ring[1:] {
			if err := s.RemoveKey(t.Context(), rows.KeyID(key)); !errors.Is(err, rows.ErrKeyNotUsed) { // a stop came before its first use
				must(t, err)
			}
		}
		if ring = ring[:1]; sealedCount(t, s) != count {
			t.Errorf("%d rows are encrypted, want %d", sealedCount(t, s), count)
		}
		sample.check(t, s)
		if code, err := s.TakeCode(t.Context(), sample.secrets[0]); code != "123456" || err != nil {
			t.Errorf("one-time code %q, %v", string(code), err)
		}
		queued, err := s.QueuedExecutions(t.Context(), 9)
		must(t, err)
		for _, q := range queued {
			if _, call, err := s.ClaimExecution(t.Context(), q.ID, routinetest.Time, routinetest.QueueTime); string(call) != "call" || err != nil {
				t.Errorf("queued call %q, %v", call, err)
			}
		}
		if len(queued) != projectsOfSample {
			t.Errorf("%d executions are queued", len(queued))
		}
	})
}

// Codes that have expired are deleted with what else is no longer kept.
func TestCodesArePruned(t *testing.T) {
	onBothStores(t, func(t *testing.T, open func(rows.KeySource) keyedStore) {
		ring := newRing(t, 1)
		s := open(func(bool) (rows.Ring, error) { return ring, nil })
		secret := routinetest.Secret()
		must(t, s.SaveSecret(t.Context(), secret, 0))
		must(t, s.SaveCode(t.Context(), secret, "111111", 0))
		must(t, s.SaveCode(t.Context(), secret, "222222", time.Hour))
		before := sealedCount(t, s)
		_, err := s.Prune(t.Context(), routine.Retention{}, time.Now())
		must(t, err)
		if n := sealedCount(t, s); n != before-1 {
			t.Errorf("%d encrypted rows before, %d after, want one less", before, n)
		}
		if code, err := s.TakeCode(t.Context(), secret); code != "222222" || err != nil {
			t.Errorf("%q, %v", string(code), err)
		}
	})
}

// A key with which something is encrypted is not removed, and nothing is encrypted with one
// that was.
func TestRemovedKey(t *testing.T) {
	onBothStores(t, func(t *testing.T, open func(rows.KeySource) keyedStore) {
		file := filepath.Join(t.TempDir(), "key")
		key, err := rows.NewKey()
		must(t, err)
		must(t, os.WriteFile(file, []byte(key), 0o600))
		old, err := rows.ReadKeyFile(file)
		must(t, err)
		s, stale := open(rows.KeyFile(file)), open(func(bool) (rows.Ring, error) { return old, nil })
		must(t, stale.SaveProjectState(t.Context(), "acme", &routine.BrowserState{ProjectID: "p", Data: []byte("x")}, routinetest.Time))
		must(t, s.SaveSecret(t.Context(), routinetest.Secret(), 0))
		added := newRing(t, 1)[0]
		must(t, rows.EditKeyFile(file, func(ring rows.Ring) (rows.Ring, error) { return append(rows.Ring{added}, ring...), nil }))
		if err := s.RemoveKey(t.Context(), rows.KeyID(old[0])); !errors.Is(err, rows.ErrKeyInUse) {
			t.Errorf("a key in use was removed: %v", err)
		}
		n, err := s.Reseal(t.Context())
		if n != 2 || err != nil {
			t.Errorf("%d rows were encrypted again, %v", n, err)
		}
		if _, err := stale.ProjectState(t.Context(), "acme", "p"); !errors.Is(err, routine.ErrSealed) || !strings.Contains(err.Error(), rows.KeyID(added)) {
			t.Errorf("a process without the key: %v", err)
		}
		must(t, s.RemoveKey(t.Context(), rows.KeyID(old[0])))
		err = stale.SaveProjectState(t.Context(), "acme", &routine.BrowserState{ProjectID: "q", Data: []byte("x")}, routinetest.Time)
		if !errors.Is(err, routine.ErrStateKey) {
			t.Errorf("something was encrypted with a key that was removed: %v", err)
		}
		err = stale.SaveSecret(t.Context(), routinetest.Secret(func(s *routine.Secret) { s.OrganizationID = "other" }), 0)
		if !errors.Is(err, routine.ErrStateKey) || !strings.Contains(err.Error(), "rote key prune") {
			t.Errorf("a secret was encrypted with a key that was removed: %v", err)
		}
		if value, err := routinetest.SecretValue(t.Context(), s, "acme", "p", "shop", "password"); value != "correct horse" || err != nil {
			t.Errorf("%q, %v", string(value), err)
		}
	})
}

// What an earlier version has encrypted can be read, and names its key when it is saved again
// or the key is rotated. Another key is refused.
func TestMigrationNamesKeys(t *testing.T) {
	ring := newRing(t, 2)
	source := func(bool) (rows.Ring, error) { return ring[1:], nil }
	sealer, url := rows.Sealer{Keys: source}, databaseOfSchema(t, 7)
	for _, project := range []string{"p", "q"} {
		sealed, err := sealer.SealState([]byte("state of "+project), "acme", project, false)
		must(t, err)
		execute(t, url, fmt.Sprintf(`INSERT INTO project_states (organization_id, project_id, sealed, saved_at)
			VALUES ('acme', '%s', '\x%x', 1)`, project, sealed.Text))
	}
	execute(t, url, `INSERT INTO state_key (key_id, created_at) VALUES ('`+keyID(ring[1])+`', 1)`)
	wantRefusal(t, Config{URL: url, Key: func(bool) (rows.Ring, error) { return ring[:1], nil }}, "encrypted with the key "+keyID(ring[1]))
	s := open(t, url, func(c *Config) { c.Key = source })
	must(t, s.SaveProjectState(t.Context(), "acme", &routine.BrowserState{ProjectID: "p", Data: []byte("new")}, routinetest.Time))
	want := func(unnamed, of int, id string) {
		t.Helper()
		uses, err := s.StateKeys(t.Context())
		must(t, err)
		got := map[string]int{}
		for _, u := range uses {
			got[u.ID] = u.Rows
		}
		if got[""] != unnamed || got[id] != of {
			t.Errorf("keys %v, want %d rows without a name and %d of %s", got, unnamed, of, id)
		}
		for project, text := range map[string]string{"p": "new", "q": "state of q"} {
			if state, err := s.ProjectState(t.Context(), "acme", project); string(state) != text || err != nil {
				t.Errorf("%q, %v", state, err)
			}
		}
	}
	want(1, 1, rows.KeyID(ring[1]))
	if err := s.RemoveKey(t.Context(), rows.KeyID(ring[1])); !errors.Is(err, rows.ErrKeyInUse) {
		t.Errorf("removed: %v", err)
	}
	source = func(bool) (rows.Ring, error) { return ring, nil }
	s = open(t, url, func(c *Config) { c.Key = source })
	_, err := s.Reseal(t.Context())
	must(t, err)
	want(0, 2, rows.KeyID(ring[0]))
}

// A dump of the database has the value of a secret in no spelling.
func TestDumpHasNoSecrets(t *testing.T) {
	url := emptyDatabase(t)
	s := open(t, url)
	const value = "vX9 correct&horse battery"
	secret := routinetest.Secret(func(s *routine.Secret) { s.Fields[0].Value = value })
	must(t, s.SaveSecret(t.Context(), secret, 0))
	must(t, s.SaveCode(t.Context(), secret, value, time.Hour))
	must(t, s.SaveSession(t.Context(), routinetest.Session(), []byte(value), 0))
	must(t, s.SaveProjectState(t.Context(), "acme", &routine.BrowserState{ProjectID: "p", Data: []byte(value)}, routinetest.Time))
	dump, err := exec.CommandContext(t.Context(), server.Program("pg_dump"), "-d", url).Output()
	must(t, err)
	if !bytes.Contains(dump, []byte("shop.example")) {
		t.Error("the dump does not have the secret's hosts")
	}
	for _, spelling := range []string{value, value[:9], hex.EncodeToString([]byte(value[:9])), base64.StdEncoding.EncodeToString([]byte(value))[:12]} {
		if bytes.Contains(dump, []byte(spelling)) {
			t.Errorf("the dump has the value as %q", spelling)
		}
	}
}
