package routinetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// Secret returns a secret of acme's project p with a password and a key of one-time codes.
func Secret(edits ...func(*routine.Secret)) *routine.Secret {
	s := &routine.Secret{OrganizationID: "acme", ProjectID: "p", Name: "shop", Kind: routine.SecretOfLogin, Description: "for NUL \x00 and emoji 🙂",
		SecretRules: routine.SecretRules{Hosts: []string{"shop.example", "*.shop.example:8443"}, Field: routine.FieldPassword, Requests: true,
			Routines: []string{"Routine_1"}},
		Fields: []routine.SecretField{{Name: "password", Value: "correct horse"}, {Name: "totp", TOTP: true, Value: "otpauth://totp/x"},
			{Name: "username", Value: "ann"}},
		CreatedAt: Time, UpdatedAt: Time, CreatedBy: "ann", UpdatedBy: "ann"}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func wantSecret(t *testing.T, s routine.Store, want *routine.Secret) {
	t.Helper()
	got, err := s.Secret(t.Context(), want.OrganizationID, want.ProjectID, want.Name)
	must(t, err)
	equal(t, "secret", got, copySecret(want))
}

// SecretValue returns the value of a field of a secret as it is now.
func SecretValue(ctx context.Context, s routine.SecretStore, organizationID, projectID, name, field string) (routine.Hidden, error) {
	of, err := s.Secret(ctx, organizationID, projectID, name)
	if err != nil {
		return "", err
	}
	return s.SecretValue(ctx, of, field)
}

func wantValue(t *testing.T, s routine.Store, of *routine.Secret, field, want string) {
	t.Helper()
	got, err := SecretValue(t.Context(), s, of.OrganizationID, of.ProjectID, of.Name, field)
	if string(got) != want || err != nil {
		t.Errorf("field %s: %.40q %v, want %.40q", field, string(got), err, want)
	}
}

var secretPromises = []promise{
	{"a secret is kept whole, and its values apart", storedSecretIsKept},
	{"a new version keeps the fields without a value, and deletes those that it does not have", secretKeepsFields},
	{"only who has read the last version changes a secret", secretVersions},
	{"a value that is not there cannot be kept", secretWithoutValue},
	{"a secret is its project's own, and lists have those of the organization", secretsOfProjects},
	{"a deleted secret is gone with its values", secretIsDeleted},
	{"a field has a value or a reference", secretReference},
	{"a time step of one-time codes is taken once, and no earlier one afterwards", codeStepIsTakenOnce},
	{"a code is given to one run, the newest first, until it expires or its secret is deleted", codeIsTakenOnce},
	{"a secret keeps a limited number of codes", codesAreLimited},
	{"long values and those of any bytes are kept", longSecretValues},
	{"uses are listed newest first, and pruned", secretUses},
	{"uses are saved with the end of their execution, or not at all", secretUsesOfExecution},
}

func storedSecretIsKept(t *testing.T, s routine.Store) {
	for _, secret := range []*routine.Secret{Secret(), Secret(func(s *routine.Secret) {
		s.Name, s.Kind, s.Hosts, s.Field = "key", routine.SecretOfValue, []string{"http://a.example"}, routine.FieldNone
		s.Requests, s.Confine, s.Routines = false, true, nil
		s.Fields = []routine.SecretField{{Name: routine.ValueField, Value: "x"}}
	})} {
		must(t, s.SaveSecret(t.Context(), secret, 0))
		if secret.Version != 1 {
			t.Errorf("version %d", secret.Version)
		}
		wantSecret(t, s, secret)
		for _, f := range secret.Fields {
			wantValue(t, s, secret, f.Name, string(f.Value))
		}
	}
}

func secretKeepsFields(t *testing.T, s routine.Store) {
	secret := Secret()
	must(t, s.SaveSecret(t.Context(), secret, 0))
	next := Secret(func(s *routine.Secret) {
		s.Hosts, s.Description, s.UpdatedAt, s.UpdatedBy = []string{"shop.example"}, "", Time.Add(time.Hour), "bob"
		s.CreatedAt, s.CreatedBy = s.UpdatedAt, "bob" // not those of a new version
		s.Fields = []routine.SecretField{{Name: "password"}, {Name: "pin", Value: "1234"}, {Name: "totp", TOTP: true}}
	})
	must(t, s.SaveSecret(t.Context(), next, 1))
	if next.Version != 2 || !next.CreatedAt.Equal(Time) || next.CreatedBy != "ann" {
		t.Errorf("%+v", next)
	}
	wantSecret(t, s, next)
	_, err := s.SecretValue(t.Context(), secret, "password")
	wantErr(t, "value of the version before", err, routine.ErrChanged)
	wantValue(t, s, next, "password", "correct horse")
	wantValue(t, s, next, "pin", "1234")
	wantValue(t, s, next, "totp", "otpauth://totp/x")
	_, err = s.SecretValue(t.Context(), next, "username")
	wantErr(t, "value of a deleted field", err, routine.ErrNotFound)
}

func secretVersions(t *testing.T, s routine.Store) {
	const attempts = 4
	errs := race(attempts, func(i int) error {
		return s.SaveSecret(t.Context(), Secret(func(s *routine.Secret) { s.Description = fmt.Sprint(i) }), 0)
	})
	onlyWinner(t, errs, routine.ErrChanged)
	errs = race(attempts, func(i int) error {
		return s.SaveSecret(t.Context(), Secret(func(s *routine.Secret) { s.Fields[0].Value = routine.Hidden(fmt.Sprint(i)) }), 1)
	})
	winner := onlyWinner(t, errs, routine.ErrChanged)
	wantValue(t, s, Secret(), "password", fmt.Sprint(winner))
	for _, before := range []int{0, 1, 3} {
		wantErr(t, "save with another version", s.SaveSecret(t.Context(), Secret(), before), routine.ErrChanged)
	}
	must(t, s.DeleteSecret(t.Context(), "acme", "p", "shop"))
	wantErr(t, "save of a deleted secret", s.SaveSecret(t.Context(), Secret(), 2), routine.ErrChanged)
	must(t, s.SaveSecret(t.Context(), Secret(), 0))
}

func secretWithoutValue(t *testing.T, s routine.Store) {
	without := Secret(func(s *routine.Secret) { s.Fields[0].Value = "" })
	wantErr(t, "save", s.SaveSecret(t.Context(), without, 0), routine.ErrNotFound)
	if without.Version != 0 {
		t.Errorf("version %d of a secret that was not saved", without.Version)
	}
	_, err := s.Secret(t.Context(), "acme", "p", "shop")
	wantErr(t, "read", err, routine.ErrNotFound)
	must(t, s.SaveSecret(t.Context(), Secret(), 0))
	other := Secret(func(s *routine.Secret) { s.Fields = append(s.Fields, routine.SecretField{Name: "pin"}) })
	wantErr(t, "save", s.SaveSecret(t.Context(), other, 1), routine.ErrNotFound)
	wantSecret(t, s, Secret(func(s *routine.Secret) { s.Version = 1 }))
}

func secretsOfProjects(t *testing.T, s routine.Store) {
	of := func(organization, project, name string) func(*routine.Secret) {
		return func(s *routine.Secret) {
			s.OrganizationID, s.ProjectID, s.Name, s.Fields[0].Value = organization, project, name, routine.Hidden(organization+"/"+project+"/"+name)
		}
	}
	var mine []*routine.Secret
	for _, w := range [][3]string{{"acme", "p", "a"}, {"acme", "", "a"}, {"acme", "", "b"}, {"acme", "p", "c"}, {"acme", "q", "b"},
		{"other", "p", "a"}, {"other", "", "b"}} {
		secret := Secret(of(w[0], w[1], w[2]))
		must(t, s.SaveSecret(t.Context(), secret, 0))
		wantValue(t, s, secret, "password", w[0]+"/"+w[1]+"/"+w[2])
		if w[0] == "acme" && w[1] != "q" {
			mine = append(mine, copySecret(secret))
		}
	}
	list, err := s.Secrets(t.Context(), "acme", "p")
	must(t, err)
	equal(t, "secrets", list, mine)
	list, err = s.Secrets(t.Context(), "nobody", "p")
	if len(list) != 0 || list == nil || err != nil {
		t.Errorf("secrets of an organization without: %v, %v", list, err)
	}
	for _, w := range [][3]string{{"acme", "q", "a"}, {"acme", "q", "c"}, {"", "p", "a"}, {"acme", "p", "A"}} {
		_, err := s.Secret(t.Context(), w[0], w[1], w[2])
		wantErr(t, "secret", err, routine.ErrNotFound)
		_, err = s.SecretValue(t.Context(), &routine.Secret{OrganizationID: w[0], ProjectID: w[1], Name: w[2]}, "password")
		wantErr(t, "value", err, routine.ErrNotFound)
	}
}

func secretIsDeleted(t *testing.T, s routine.Store) {
	secret := Secret()
	must(t, s.SaveSecret(t.Context(), secret, 0))
	must(t, s.DeleteSecret(t.Context(), "acme", "p", "shop"))
	wantErr(t, "delete again", s.DeleteSecret(t.Context(), "acme", "p", "shop"), routine.ErrNotFound)
	_, err := s.SecretValue(t.Context(), secret, "password")
	wantErr(t, "value", err, routine.ErrNotFound)
	_, err = s.TakeCodeStep(t.Context(), "acme", "p", "shop", "totp", 1)
	wantErr(t, "step", err, routine.ErrNotFound)
}

func secretReference(t *testing.T, s routine.Store) {
	secret := Secret(func(s *routine.Secret) { s.Fields[0].Value, s.Fields[0].Reference = "", "vault:shop#password" })
	must(t, s.SaveSecret(t.Context(), secret, 0))
	wantSecret(t, s, secret)
	_, err := s.SecretValue(t.Context(), secret, "password")
	wantErr(t, "value of a reference", err, routine.ErrNotFound)
	next := Secret(func(s *routine.Secret) {
		s.Fields[0].Value, s.Fields[1].Value, s.Fields[1].Reference = "", "", "env:TOTP"
	})
	must(t, s.SaveSecret(t.Context(), next, 1))
	next.Fields[0].Reference = "vault:shop#password" // is kept
	wantSecret(t, s, next)
	must(t, s.SaveSecret(t.Context(), Secret(), 2))
	wantValue(t, s, Secret(), "password", "correct horse")
}

func codeStepIsTakenOnce(t *testing.T, s routine.Store) {
	must(t, s.SaveSecret(t.Context(), Secret(), 0))
	take := func(step int64) bool {
		t.Helper()
		taken, err := s.TakeCodeStep(t.Context(), "acme", "p", "shop", "totp", step)
		must(t, err)
		return taken
	}
	taken := make(chan bool, 8)
	errs := race(cap(taken), func(int) error {
		mine, err := s.TakeCodeStep(t.Context(), "acme", "p", "shop", "totp", 10)
		taken <- mine
		return err
	})
	n := 0
	for _, err := range errs {
		must(t, err)
		if <-taken {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d callers took the same step", n)
	}
	if take(9) || take(10) || !take(11) {
		t.Error("an earlier step was taken, or a later one was not")
	}
	if take(11 - routine.MaxStepsAhead) {
		t.Error("an earlier step was taken")
	}
	if !take(1000) || !take(11) || take(11) || take(10) {
		t.Error("a step that a clock was far ahead has taken does not make room for the right ones, each once")
	}
	kept := Secret(func(s *routine.Secret) { s.Fields[1].Value = "" })
	must(t, s.SaveSecret(t.Context(), kept, 1))
	if take(11) {
		t.Error("a step was taken again after the secret was changed")
	}
	_, err := s.TakeCodeStep(t.Context(), "acme", "p", "shop", "none", 1)
	wantErr(t, "step of no field", err, routine.ErrNotFound)
}

func takeCode(t *testing.T, s routine.Store, of *routine.Secret, want routine.Hidden) {
	t.Helper()
	got, err := s.TakeCode(t.Context(), of)
	must(t, err)
	if got != want {
		t.Errorf("took %q, want %q", string(got), string(want))
	}
}

func codeIsTakenOnce(t *testing.T, s routine.Store) {
	secret, other := Secret(), Secret(func(s *routine.Secret) { s.ProjectID = "" })
	wantErr(t, "save a code of no secret", s.SaveCode(t.Context(), secret, "1", time.Hour), routine.ErrNotFound)
	must(t, s.SaveSecret(t.Context(), secret, 0))
	must(t, s.SaveSecret(t.Context(), other, 0))
	none := func(of *routine.Secret) {
		t.Helper()
		_, err := s.TakeCode(t.Context(), of)
		wantErr(t, "take", err, routine.ErrNotFound)
	}
	none(secret)
	must(t, s.SaveCode(t.Context(), secret, "expired", 0))
	none(secret)
	for _, code := range []routine.Hidden{"111111", "222222"} {
		must(t, s.SaveCode(t.Context(), secret, code, time.Hour))
	}
	none(other)
	takeCode(t, s, secret, "222222")
	taken := make(chan routine.Hidden, 8)
	for _, err := range race(cap(taken), func(int) error {
		code, err := s.TakeCode(t.Context(), secret)
		taken <- code
		return err
	}) {
		if err == nil {
			continue
		}
		wantErr(t, "take at the same time", err, routine.ErrNotFound)
	}
	close(taken)
	n := 0
	for code := range taken {
		if code != "" {
			n++
			equal(t, "code", string(code), "111111")
		}
	}
	equal(t, "takers of one code", n, 1)
	must(t, s.SaveCode(t.Context(), secret, "333333", time.Hour))
	must(t, s.SaveSecret(t.Context(), Secret(func(s *routine.Secret) { s.Description = "changed" }), 1))
	takeCode(t, s, secret, "333333")
	must(t, s.SaveCode(t.Context(), secret, "444444", time.Hour))
	must(t, s.DeleteSecret(t.Context(), "acme", "p", "shop"))
	must(t, s.SaveSecret(t.Context(), secret, 0))
	none(secret)
}

func codesAreLimited(t *testing.T, s routine.Store) {
	secret := Secret()
	must(t, s.SaveSecret(t.Context(), secret, 0))
	for i := range routine.MaxCodes + 2 {
		must(t, s.SaveCode(t.Context(), secret, routine.Hidden(fmt.Sprint(i)), time.Hour))
	}
	for i := range routine.MaxCodes {
		takeCode(t, s, secret, routine.Hidden(fmt.Sprint(routine.MaxCodes+1-i)))
	}
	_, err := s.TakeCode(t.Context(), secret)
	wantErr(t, "take one more", err, routine.ErrNotFound)
}

func longSecretValues(t *testing.T, s routine.Store) {
	for i, value := range []string{strings.Repeat("long ", routine.MaxSecretBytes/5), "NUL \x00, no UTF-8 \xff", "🙂"} {
		secret := Secret(func(s *routine.Secret) { s.Fields[0].Value = routine.Hidden(value) })
		must(t, s.SaveSecret(t.Context(), secret, i))
		wantValue(t, s, secret, "password", value)
	}
}

// secretUse returns a use of the secret of Secret, n hours after Time.
func secretUse(n int) routine.SecretUse {
	return routine.SecretUse{At: Time.Add(time.Duration(n) * time.Hour), OrganizationID: "acme", ProjectID: "p", What: "typed", Name: "shop", Field: "password",
		Outcome: "ok", Reason: "NUL \x00", Host: "shop.example", ExecutionID: "e", RoutineID: "Routine_1", RoutineVersion: 2, Operation: n,
		UserID: "ann", TokenID: "t", Via: routine.ViaMCP}
}

func wantUses(t *testing.T, s routine.Store, limit, offset, total int, want ...routine.SecretUse) {
	t.Helper()
	got, n, err := s.SecretUses(t.Context(), "acme", "p", "shop", limit, offset)
	must(t, err)
	equal(t, "uses", got, want)
	if n != total || got == nil {
		t.Errorf("total %d of %v, want %d", n, got, total)
	}
}

func secretUses(t *testing.T, s routine.Store) {
	wantUses(t, s, 9, 0, 0)
	must(t, s.RecordSecretUses(t.Context(), nil))
	of := func(edit func(*routine.SecretUse)) routine.SecretUse {
		u := secretUse(9)
		edit(&u)
		return u
	}
	must(t, s.RecordSecretUses(t.Context(), []routine.SecretUse{secretUse(2), secretUse(4),
		of(func(u *routine.SecretUse) { u.Name = "other" }), of(func(u *routine.SecretUse) { u.ProjectID = "" }),
		of(func(u *routine.SecretUse) { u.OrganizationID = "b" })}))
	same := secretUse(4)
	same.Operation = 5
	must(t, s.RecordSecretUses(t.Context(), []routine.SecretUse{same, secretUse(1)}))
	wantUses(t, s, 0, 0, 4, same, secretUse(4), secretUse(2), secretUse(1))
	wantUses(t, s, 2, 1, 4, secretUse(4), secretUse(2))
	wantUses(t, s, 2, 4, 4)
	n, err := s.PruneSecretUses(t.Context(), Time.Add(2*time.Hour))
	if n != 1 || err != nil {
		t.Errorf("pruned %d, %v", n, err)
	}
	wantUses(t, s, 0, 0, 3, same, secretUse(4), secretUse(2))
}

func secretUsesOfExecution(t *testing.T, s routine.Store) {
	e := Execution(t)
	must(t, s.CreateExecution(t.Context(), e))
	end := Ended(e)
	end.SecretUses = []routine.SecretUse{secretUse(1), secretUse(2)}
	must(t, s.FinishExecution(t.Context(), end))
	wantUses(t, s, 0, 0, 2, secretUse(2), secretUse(1))
	end.SecretUses = []routine.SecretUse{secretUse(3)}
	wantErr(t, "finish again", s.FinishExecution(t.Context(), end), routine.ErrFinal)
	wantUses(t, s, 0, 0, 2, secretUse(2), secretUse(1))

	other := Execution(t, func(e *routine.Execution) { e.OrganizationID = "acme" })
	must(t, s.CreateExecution(t.Context(), other))
	end = Ended(other)
	end.SecretUses, end.State = []routine.SecretUse{secretUse(5)}, &routine.BrowserState{ProjectID: "p", Data: []byte("state")}
	must(t, s.FinishExecution(t.Context(), end))
	wantUses(t, s, 0, 0, 3, secretUse(5), secretUse(2), secretUse(1))
	wantState(t, s, "acme", "p", "state")
	got, err := s.Execution(t.Context(), other.ID)
	must(t, err)
	if got.SecretUses != nil {
		t.Errorf("the uses were read back: %v", got.SecretUses)
	}
}
