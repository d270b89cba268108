package postgres

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
	"rote/routine/sqlite"
)

// sample is a SQLite store with something of everything.
type sample struct {
	*sqlite.Store
	key        rows.KeySource
	routines   []string // ids
	executions []string
	queued     string
	schedules  []string
}

func newSample(t *testing.T) *sample {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rote.db")
	store, err := sqlite.Open(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	s := &sample{Store: store, key: rows.KeyFile(path + ".key")}
	ctx, large := t.Context(), bytes.Repeat([]byte("0123456789abcdef"), 70_000)

	for _, name := range []string{"plain", "nul \x00 emoji 🙂"} {
		r := routinetest.Routine(t, func(r *routine.Routine) { r.Name, r.Tags = name, []string{name, "shared"} })
		must(t, s.CreateRoutine(ctx, r))
		r.Version, r.Status = 2, routine.StatusArchived
		must(t, s.UpdateRoutine(ctx, r, "bob"))
		s.routines = append(s.routines, r.ID)
	}
	k := routinetest.Token(t, func(k *routine.Token) { k.AllowedHosts = []string{"*.example"} })
	must(t, s.CreateToken(ctx, k))
	must(t, s.UseToken(ctx, k.ID, routinetest.Time))
	must(t, s.RevokeToken(ctx, k.ID, routinetest.Time))
	must(t, s.CreateSignIn(ctx, &routine.SignIn{Hash: sampleSignIn, TokenHash: k.Hash, CreatedAt: routinetest.Time, LastUsedAt: routinetest.Time}))
	routinetest.SaveState(t, s, "acme", "prices", "state")
	must(t, s.SaveSecret(ctx, routinetest.Secret(), 0))
	must(t, s.SaveSession(ctx, routinetest.Session(), []byte("cookies"), 0))
	_, err = s.TakeCodeStep(ctx, "acme", "p", "shop", "totp", 5)
	must(t, err)
	use := routine.SecretUse{At: routinetest.Time, OrganizationID: "acme", ProjectID: "p", Name: "shop", What: "saved", Outcome: "ok"}
	must(t, s.RecordSecretUses(ctx, []routine.SecretUse{use}))
	for _, schedule := range []*routine.Schedule{routinetest.Schedule(t), routinetest.Schedule(t, func(sc *routine.Schedule) {
		sc.Enabled, sc.NextAt, sc.Values = false, nil, nil
	})} {
		must(t, s.CreateSchedule(ctx, schedule, 9))
		s.schedules = append(s.schedules, schedule.ID)
	}
	_, err = s.CompareScheduleData(ctx, s.schedules[0], "e", [32]byte{1})
	must(t, err)
	_, err = s.WebhookSecret(ctx, "acme", []byte("secret"))
	must(t, err)

	for _, end := range []func(*routine.Execution) *routine.Execution{routinetest.Ended, routinetest.Failed, func(e *routine.Execution) *routine.Execution {
		e = routinetest.Ended(e)
		e.Result.Data = append(append([]byte(`"`), large...), '"') // kept in a file by SQLite
		return e
	}} {
		e := routinetest.Execution(t, func(e *routine.Execution) {
			e.Callback = &routine.Callback{URL: "https://receiver.example/", AllowedHosts: []string{"10.0.0.0/8"}}
		})
		e.Key = sampleKey(e.ID)
		must(t, s.CreateExecution(ctx, e))
		for name, data := range map[string][]byte{"small \x00": []byte("x"), "large": large, "empty": {}} {
			must(t, s.PutFile(ctx, e.ID, &routine.File{FileInfo: routine.FileInfo{Name: name, ContentType: "text/plain", Size: int64(len(data))}, Data: data}))
		}
		must(t, s.FinishExecution(ctx, end(e)))
		s.executions = append(s.executions, e.ID)
	}
	queued := routinetest.Execution(t, func(e *routine.Execution) { e.QueuedCall = []byte("the call") })
	must(t, s.CreateExecution(ctx, queued))
	s.queued = queued.ID
	return s
}

// sampleSignIn is the hash of the sample's sign-in.
var sampleSignIn = [32]byte{1, 2, 3}

func sampleKey(key string) *routine.IdempotencyKey {
	return &routine.IdempotencyKey{OrganizationID: "acme", UserID: "ann", ProjectID: "prices", Reach: "*.example", Key: key,
		Fingerprint: [32]byte{1}, CreatedAt: routinetest.Time}
}

// reads returns all that the contract lets a caller read of a store.
func (s *sample) reads(t *testing.T, store routine.Store) map[string]any {
	t.Helper()
	ctx, all := t.Context(), map[string]any{}
	add := func(name string, value any, err error) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all[name] = value
	}
	statuses := []routine.Status{routine.StatusActive, routine.StatusArchived}
	for _, f := range []routine.RoutineFilter{{OrganizationID: "acme", Statuses: statuses}, {OrganizationID: "acme", Statuses: statuses, Tag: "shared"},
		{OrganizationID: "acme", Statuses: statuses, Words: []string{"\x00"}}, {OrganizationID: "acme", Statuses: statuses, Name: "plain"}} {
		list, total, err := store.Routines(ctx, f)
		add("routines "+f.Tag+f.Name+strings.Join(f.Words, ""), list, err)
		if total == 0 {
			t.Errorf("no routine for %+v", f)
		}
	}
	for _, id := range s.routines {
		versions, _, err := store.Versions(ctx, id, 10, 0)
		add("versions "+id, versions, err)
		version, err := store.Version(ctx, id, 1)
		add("version "+id, version, err)
	}
	tokens, err := store.Tokens(ctx)
	add("tokens", tokens, err)
	in, err := store.SignInByHash(ctx, sampleSignIn)
	add("sign-in", in, err)
	list, total, err := store.Executions(ctx, routine.ExecutionFilter{OrganizationID: "acme"})
	add("executions", list, err)
	add("total", total, nil)
	for _, id := range s.executions {
		e, err := store.Execution(ctx, id)
		add("execution "+id, e, err)
		for _, name := range []string{"small \x00", "large", "empty"} {
			f, err := store.File(ctx, id, name)
			add("file "+id+name, f, err)
		}
		made, _, err := store.FindByKey(ctx, sampleKey(id))
		add("key "+id, made, err)
	}
	for _, id := range s.schedules {
		schedule, err := store.Schedule(ctx, id)
		add("schedule "+id, schedule, err)
		values, err := store.ScheduleValues(ctx, id)
		add("values of "+id, string(values), err)
		changed, err := store.CompareScheduleData(ctx, id, "f", [32]byte{2})
		add("data of "+id, changed, err)
	}
	state, err := store.ProjectState(ctx, "acme", "prices")
	add("state", state, err)
	secret, err := store.WebhookSecret(ctx, "acme", nil)
	add("secret", secret, err)
	due, err := store.ClaimWebhooks(ctx, routine.WebhookClaim{Now: routinetest.Time.Add(time.Hour), Until: routinetest.Time.Add(2 * time.Hour),
		Limit: 10, PerOrganization: 10, PerHost: 10})
	add("webhooks", len(due), err)
	secrets, err := store.Secrets(ctx, "acme", "p")
	add("secrets", secrets, err)
	password, err := routinetest.SecretValue(ctx, store, "acme", "p", "shop", "password")
	add("password", string(password), err)
	session, cookies, err := store.SessionState(ctx, "acme", "p", "shop")
	add("session", session, err)
	add("cookies", string(cookies), err)
	uses, _, err := store.SecretUses(ctx, "acme", "p", "shop", 0, 0)
	add("uses of secrets", uses, err)
	taken, err := store.TakeCodeStep(ctx, "acme", "p", "shop", "totp", 5)
	add("step", taken, err)
	return all
}

func (s *sample) importInto(t *testing.T, url string, key rows.KeySource) error {
	t.Helper()
	return s.Export(t.Context(), func(read rows.Reader) error {
		_, err := Import(t.Context(), Config{URL: url, Key: key}, read)
		return err
	})
}

func TestImport(t *testing.T) {
	url, from := emptyDatabase(t), newSample(t)
	wantError := func(err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("import: %v, want %q", err, part)
		}
		var n int
		must(t, open(t, url, func(c *Config) { c.Key = nil }).queryRow(t.Context(),
			`SELECT (SELECT count(*) FROM routines) + (SELECT count(*) FROM state_key)`).Scan(&n))
		if n != 0 {
			t.Errorf("%d rows after a failed import", n)
		}
	}
	wantError(from.importInto(t, url, nil), "name theirs with --state-key")
	wantError(from.importInto(t, url, func(bool) (rows.Ring, error) { return rows.Ring{testKey}, nil }), "name theirs with --state-key")
	ctx, cancel := context.WithCancel(t.Context()) // in the middle of a table
	err := from.Export(ctx, func(read rows.Reader) error {
		_, err := Import(ctx, Config{URL: url, Key: from.key}, func(table rows.Table) iter.Seq2[[]any, error] {
			return func(yield func([]any, error) bool) {
				for row, err := range read(table) {
					if table.Name == "executions" {
						cancel()
					}
					if !yield(row, err) {
						return
					}
				}
			}
		})
		return err
	})
	wantError(err, "table executions")
	running := routinetest.Execution(t)
	must(t, from.CreateExecution(t.Context(), running))
	wantError(from.importInto(t, url, from.key), sqlite.ErrInUse.Error())
	must(t, from.FinishExecution(t.Context(), routinetest.Failed(running)))

	execute(t, url, `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.user_id = 'other'; RETURN NEW; END $$;
		CREATE TRIGGER spoil BEFORE INSERT ON tokens FOR EACH ROW EXECUTE FUNCTION spoil()`)
	defer func() {
		c := open(t, url, func(c *Config) { c.Key = from.key })
		_, err := c.pool.Exec(context.WithoutCancel(t.Context()), `DROP FUNCTION IF EXISTS spoil CASCADE`)
		must(t, err)
	}()
	wantError(from.importInto(t, url, from.key), "table tokens: the 1 rows that the database has are not the 1 that were sent")
	execute(t, url, `DROP FUNCTION spoil CASCADE`)

	must(t, from.importInto(t, url, from.key))
	to := open(t, url, func(c *Config) { c.Key = from.key })
	want, got := from.reads(t, from), from.reads(t, to)
	same := cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b routine.Operation) bool { return a.Type() == b.Type() }),
		// Byte by byte, a large file would take seconds.
		cmp.FilterValues(func(a, b []byte) bool { return len(a)+len(b) > 0 }, cmp.Comparer(bytes.Equal))}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("the copy differs (-original +copy):\n%s", diff)
	}
	if _, call, err := to.ClaimExecution(t.Context(), from.queued, routinetest.Time, routinetest.QueueTime); err != nil || string(call) != "the call" {
		t.Errorf("the queued call %q, %v", call, err)
	}
	err = from.importInto(t, url, from.key)
	if err == nil || !strings.Contains(err.Error(), "it is not empty: name a new database") {
		t.Errorf("a second import: %v", err)
	}
}

// All columns of the schema are copied, except those of one process or server.
func TestTablesAreComplete(t *testing.T) {
	s := open(t, emptyDatabase(t))
	found, err := collect(t.Context(), s.pool, func(scan rows.Scan) (c [2]string, err error) { err = scan(&c[0], &c[1]); return c, err },
		`SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = current_schema()`)
	must(t, err)
	copied := map[[2]string]bool{}
	for _, table := range rows.Tables {
		for _, column := range table.Columns {
			copied[[2]string{table.Name, column}] = true
		}
	}
	own := map[string]bool{"owners": true, "changes": true, "state_key": true, "compatibility": true, "repeated_jobs": true, "session_leases": true,
		"ledger_sizes": true, versionTable: true}
	// Queued executions that are copied begin to wait anew.
	copied[[2]string{"execution_calls", "queued_at"}] = true
	for _, c := range found {
		if !own[c[0]] && !strings.HasPrefix(c[0], "river_") && !copied[c] {
			t.Errorf("column %s of table %s is not copied", c[1], c[0])
		}
		delete(copied, c)
	}
	if len(copied) > 0 {
		t.Errorf("the schema does not have %v", copied)
	}
}
