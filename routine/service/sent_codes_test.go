package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// A run types a code that a person gives before it needs one, or while it waits, at whatever
// process. Each code is used once, and for five minutes.
func TestCodeThatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released []routine.Release
		store := routinetest.NewStore()
		s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{Page: routinetest.Page{Releases: &released}}})
		other := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
		defer s.Close(t.Context())
		defer other.Close(t.Context())
		saveSecret(t, s, keeper, "shop", loginSecret)
		r := create(t, s, ann, definitionOf(`{"type":"navigate","url":"https://shop.example/"},`+
			`{"type":"input_text","selector":"#c","text":"{{code:shop}}","timeout_ms":50000}`, ""))
		give := func(code string) {
			t.Helper()
			if err := other.GiveCode(t.Context(), keeper, routine.ViaREST, "shop", fmt.Appendf(nil, `{"code": %q}`, code)); err != nil {
				t.Fatal(err)
			}
		}
		run := func(call service.Call) (*routine.Execution, error) {
			released = nil
			return s.Execute(t.Context(), ann, r.ID, call)
		}
		give("123 456")
		e, err := run(service.Call{})
		if err != nil || len(released) != 1 || released[0].Texts[0] != "123456" || !released[0].Code || released[0].Rules.Hosts[0] != "shop.example" {
			t.Fatalf("%v %+v", err, released)
		}
		if text := routine.JSONText(e); strings.Contains(text, "123456") {
			t.Error(text)
		}

		var reports []routine.Progress
		at := time.Now()
		go func() {
			time.Sleep(40 * time.Second) // of the test's own clock
			waiting := s.InFlight()
			if len(waiting) != 1 || waiting[0].WaitsForCodeOf != "shop" {
				t.Errorf("the run that waits: %s", routine.JSONText(waiting))
			}
			give("G-777")
		}()
		e, err = run(service.Call{Progress: func(p routine.Progress) { reports = append(reports, p) }})
		if err != nil || len(released) != 1 || released[0].Texts[0] != "G-777" || time.Since(at) < 40*time.Second || e.WaitsForCodeOf != "" {
			t.Fatalf("%v %+v after %v", err, released, time.Since(at))
		}
		if last := reports[len(reports)-1]; last.WaitsFor != "shop" || last.Index != 1 || last.Total != 2 || !strings.Contains(last.Operation, "rote secret code shop") {
			t.Errorf("%+v", reports)
		}

		give("999999")
		time.Sleep(5 * time.Minute)
		const waited = "timeout_ms of 50s is over, waiting for a one-time code of secret shop: a person gives it with rote secret code shop"
		if _, err := run(service.Call{}); routine.CodeOf(err) != routine.CodeTimeout || !strings.Contains(err.Error(), waited) {
			t.Errorf("a code of five minutes ago: %v, %+v", err, released)
		}
		uses, _, err := s.SecretUses(t.Context(), ann, "shop", nil, 5, 0)
		var got []string
		for _, u := range uses {
			got = append(got, u.What+" "+u.Field+" "+u.Outcome)
		}
		if want := "typed code timeout, code given  ok, typed code ok, code given  ok, typed code ok"; err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%v %q", err, got)
		}
	})
}

// Ten runs that wait get ten codes, each its own.
func TestEachCodeIsForOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 10
		typed := make(chan string, runs)
		s := service.New(service.Config{Store: routinetest.NewStore(), Concurrency: runs, Browser: &routinetest.Browser{Page: routinetest.Page{
			Type: func(_ context.Context, t routine.Typing) (routine.Match, error) {
				typed <- t.Text
				return routine.Match{Matches: 1}, nil
			}}}})
		defer s.Close(t.Context())
		saveSecret(t, s, keeper, "shop", loginSecret)
		r := create(t, s, ann, definitionOf(`{"type":"navigate","url":"https://shop.example/"},`+
			`{"type":"input_text","selector":"#c","text":"{{code:shop}}","timeout_ms":50000}`, ""))
		errs := make(chan error, runs)
		for range runs {
			go func() {
				_, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
				errs <- err
			}()
		}
		for i := range runs {
			time.Sleep(time.Second)
			if err := s.GiveCode(t.Context(), keeper, routine.ViaCLI, "shop", fmt.Appendf(nil, `{"code":"%d"}`, i)); err != nil {
				t.Fatal(err)
			}
		}
		codes := map[string]bool{}
		for range runs {
			if err := <-errs; err != nil {
				t.Error(err)
			}
			codes[<-typed] = true
		}
		if len(codes) != runs {
			t.Errorf("%d different codes were typed", len(codes))
		}
	})
}

func TestCodesThatAreRefused(t *testing.T) {
	s, store, _ := newSecretService(t)
	saveSecret(t, s, keeper, "shop", loginSecret)
	for _, row := range []struct {
		who          routine.Principal
		name, text   string
		code         routine.Code
		message      string
		mustNotCarry string
	}{
		{ann, "shop", `{"code":"123456"}`, routine.CodeForbidden, "secrets:write", "123456"},
		{routine.Principal{}, "shop", `{"code":"123456"}`, routine.CodeUnauthenticated, "", "123456"},
		{keeper, "bank", `{"code":"123456"}`, routine.CodeNotFound, "there is no secret", "123456"},
		{keeper, "shop", `{"code":123456}`, routine.CodeInvalid, `{"code": "123456"}`, ""},
		{keeper, "shop", `{"code":"hunter2!"}`, routine.CodeInvalid, "1 to 64 letters", "hunter2"},
		{keeper, "shop", `{"code":""}`, routine.CodeInvalid, "with the code alone", ""},
		{keeper, "shop", `{"code":"1","name":"x"}`, routine.CodeInvalid, "with the code alone", ""},
		{keeper, "shop", `{"code":"1"`, routine.CodeInvalid, "with the code alone", ""},
		{keeper, "shop", `{"code":"` + strings.Repeat("1", 65) + `"}`, routine.CodeInvalid, "1 to 64 letters", "1111"},
	} {
		err := s.GiveCode(t.Context(), row.who, routine.ViaREST, row.name, []byte(row.text))
		if routine.CodeOf(err) != row.code || !strings.Contains(routine.JSONText(routine.AsError(err).Problems)+err.Error(), row.message) ||
			row.mustNotCarry != "" && strings.Contains(routine.JSONText(routine.AsError(err).Problems)+err.Error(), row.mustNotCarry) {
			t.Errorf("%s: %v, want %s %s", row.text, err, row.code, row.message)
		}
	}
	if code, err := store.TakeCode(t.Context(), &routine.Secret{OrganizationID: "acme", ProjectID: "p", Name: "shop"}); err == nil {
		t.Errorf("%q was kept", string(code))
	}
	// The codes of a secret that is only given for the run could not be given.
	d := parse(t, definitionOf(`{"type":"navigate","url":"https://shop.example/"},{"type":"input_text","selector":"#c","text":"{{code:call}}"}`, ""))
	_, err := s.RunOnce(t.Context(), owner, d, service.Call{Secrets: map[string]service.GivenSecret{"call": {Hosts: []string{"shop.example"},
		Fields: map[string]routine.Hidden{"value": "x"}}}})
	if routine.CodeOf(err) != routine.CodeSecretMissing || !strings.Contains(err.Error(), "codes are given for stored secrets only") {
		t.Error(err)
	}
}
