package routinetest

import (
	"testing"
	"time"

	"rote/routine"
)

var keyPromises = []promise{
	{"what was made with a key is found by it", keyIsKept},
	{"nothing is made with a key that is taken", keyIsTaken},
	{"keys of different organizations, users, projects and reaches never meet", keysAreOfCallers},
	{"a key is free again after its time", keyExpires},
	{"of many that take a key at once one succeeds", keyRace},
	{"a key is not taken by what is not made", keyNeedsWhatIsMade},
}

func key(edits ...func(*routine.IdempotencyKey)) *routine.IdempotencyKey {
	k := &routine.IdempotencyKey{OrganizationID: "acme", UserID: "ann", ProjectID: "prices", Key: "k'%", Fingerprint: [32]byte{1, 0xff}, CreatedAt: Time}
	for _, edit := range edits {
		edit(k)
	}
	return k
}

func wantMade(t *testing.T, s routine.Store, k *routine.IdempotencyKey, want string) {
	t.Helper()
	id, fingerprint, err := s.FindByKey(t.Context(), k)
	if want == "" {
		wantErr(t, "FindByKey", err, routine.ErrNotFound)
		return
	}
	must(t, err)
	if id != want || fingerprint != key().Fingerprint {
		t.Errorf("made %s by %x, want %s", id, fingerprint, want)
	}
}

// makers make something with a key and give its id.
var makers = map[string]func(t *testing.T, s routine.Store, k *routine.IdempotencyKey) (string, error){
	"routine": func(t *testing.T, s routine.Store, k *routine.IdempotencyKey) (string, error) {
		r := Routine(t, func(r *routine.Routine) { r.Key = k })
		return r.ID, s.CreateRoutine(t.Context(), r)
	},
	"execution": func(t *testing.T, s routine.Store, k *routine.IdempotencyKey) (string, error) {
		e := Execution(t, func(e *routine.Execution) { e.Key = k })
		return e.ID, s.CreateExecution(t.Context(), e)
	},
	"schedule": func(t *testing.T, s routine.Store, k *routine.IdempotencyKey) (string, error) {
		sc := Schedule(t, func(sc *routine.Schedule) { sc.Key = k })
		return sc.ID, s.CreateSchedule(t.Context(), sc, 9)
	},
}

func keyIsKept(t *testing.T, s routine.Store) {
	wantMade(t, s, key(), "")
	for name, make := range makers {
		k := key(func(k *routine.IdempotencyKey) { k.Key = name })
		id, err := make(t, s, k)
		must(t, err)
		k.Fingerprint = [32]byte{} // whose it is decides, not what it was for
		wantMade(t, s, k, id)
	}
}

func keyIsTaken(t *testing.T, s routine.Store) {
	first, err := makers["execution"](t, s, key())
	must(t, err)
	for _, make := range makers {
		id, err := make(t, s, key(func(k *routine.IdempotencyKey) { k.Fingerprint = [32]byte{2} }))
		wantErr(t, "make", err, routine.ErrKeyTaken)
		_, err = s.Routine(t.Context(), id)
		wantErr(t, "Routine", err, routine.ErrNotFound)
		_, err = s.Execution(t.Context(), id)
		wantErr(t, "Execution", err, routine.ErrNotFound)
		_, err = s.Schedule(t.Context(), id)
		wantErr(t, "Schedule", err, routine.ErrNotFound)
	}
	wantMade(t, s, key(), first)
}

func keysAreOfCallers(t *testing.T, s routine.Store) {
	all := map[string]*routine.IdempotencyKey{}
	for _, edit := range []func(*routine.IdempotencyKey){
		func(*routine.IdempotencyKey) {},
		func(k *routine.IdempotencyKey) { k.UserID = "bob" },
		func(k *routine.IdempotencyKey) { k.OrganizationID = "globex" },
		func(k *routine.IdempotencyKey) { k.ProjectID = "stock" },
		func(k *routine.IdempotencyKey) { k.ProjectID = "" },
		func(k *routine.IdempotencyKey) { k.Reach = "a.example b.example" },
		func(k *routine.IdempotencyKey) { k.Reach = "a.example" },
		func(k *routine.IdempotencyKey) { k.Key = "K'%" },
	} {
		k := key(edit)
		id, err := makers["execution"](t, s, k)
		must(t, err)
		all[id] = k
	}
	for id, k := range all {
		wantMade(t, s, k, id)
	}
}

func keyExpires(t *testing.T, s routine.Store) {
	_, err := makers["routine"](t, s, key())
	must(t, err)
	later := func(d time.Duration) *routine.IdempotencyKey {
		return key(func(k *routine.IdempotencyKey) { k.CreatedAt = Time.Add(d) })
	}
	_, err = makers["routine"](t, s, later(routine.IdempotencyTime-time.Microsecond))
	wantErr(t, "make within the time", err, routine.ErrKeyTaken)
	wantMade(t, s, later(routine.IdempotencyTime), "")
	id, err := makers["execution"](t, s, later(routine.IdempotencyTime))
	must(t, err)
	wantMade(t, s, later(routine.IdempotencyTime), id)
}

func keyRace(t *testing.T, s routine.Store) {
	ids := make([]string, 32)
	errs := race(len(ids), func(i int) (err error) {
		ids[i], err = makers["execution"](t, s, key())
		return err
	})
	wantMade(t, s, key(), ids[onlyWinner(t, errs, routine.ErrKeyTaken)])
}

func keyNeedsWhatIsMade(t *testing.T, s routine.Store) {
	there := Routine(t)
	must(t, s.CreateRoutine(t.Context(), there))
	again := Routine(t, func(r *routine.Routine) { r.ToolName, r.Key = there.ToolName, key() })
	wantErr(t, "CreateRoutine", s.CreateRoutine(t.Context(), again), routine.ErrToolNameTaken)
	tooMany := Schedule(t, func(sc *routine.Schedule) { sc.Key = key() })
	wantErr(t, "CreateSchedule", s.CreateSchedule(t.Context(), tooMany, 0), routine.ErrScheduleLimit)
	wantMade(t, s, key(), "")
}
