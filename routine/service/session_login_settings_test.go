package service_test

import (
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// The login of a session is set with its other settings. Values that would not work, and secrets,
// are refused.
func TestLoginSettings(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	t.Cleanup(func() { s.Close(t.Context()) })
	login := create(t, s, keeper, strings.Replace(logsIn, `"operations"`,
		`"parameters":[{"name":"pin","type":"string","description":"d","x-secret":true,"required":false},{"name":"n","type":"integer","description":"d","required":false}],"operations"`, 1)).ID
	other := create(t, s, keeper, `{"name":"other","description":"d","operations":[{"type":"navigate","url":"https://shop.test/{{n}}{{pin}}"}],`+
		`"parameters":[{"name":"n","type":"string","description":"d","default":"1"},{"name":"pin","type":"string","description":"d","default":"1"}]}`).ID
	save := func(settings string) (*service.SessionInfo, error) {
		info, _, err := s.SaveSession(t.Context(), keeper, routine.ViaREST, "shop", []byte(settings), service.PutCondition{})
		return info, err
	}
	for settings, want := range map[string]string{
		`"login":{"routine_id":"none"}`:                                    "/login/routine_id",
		`"login":{"routine_id":"` + other + `"}`:                           "/login/routine_id",
		`"login":{"routine_id":"` + login + `","parameters":{"pin":"1"}}`:  "/login/parameters/pin",
		`"login":{"routine_id":"` + login + `","parameters":{"n":"many"}}`: "/login/parameters/n",
		`"login":{"routine":"` + login + `"}`:                              "/login/routine",
		`"login":7`:                                                        "/login",
		`"signed_out":{}`:                                                  "/signed_out",
		`"signed_out":{"url_regex":"("}`:                                   "/signed_out/url_regex",
		`"signed_out":{"selector":"form["}`:                                "/signed_out/selector",
		`"signed_out":{"url":"x","selector":"a"}`:                          "/signed_out/url",
	} {
		_, err := save(`{"hosts":["shop.test"],` + settings + `}`)
		problems := routine.AsError(err).Problems
		if routine.CodeOf(err) != routine.CodeInvalid || len(problems) == 0 || problems[0].Pointer != want {
			t.Errorf("%s: %v %+v", settings, err, problems)
		}
	}
	info, err := save(`{"hosts":["shop.test"],"login":{"routine_id":"` + login + `","parameters":{"n":3}},"signed_out":{"url_regex":"/login","selector":"form"}}`)
	if err != nil || info.Login.RoutineID != login || string(info.Login.Parameters) != `{"n":3}` || info.SignedOut.Selector != "form" {
		t.Fatalf("%+v, %v", info, err)
	}
	if info, err = save(`{"signed_out":null}`); err != nil || info.Login == nil || info.SignedOut != nil {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err = save(`{"login":null}`); err != nil || info.Login != nil {
		t.Errorf("%+v, %v", info, err)
	}
}
