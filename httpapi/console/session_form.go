package console

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/service"
)

// sessionForm is the form of the settings of a session.
type sessionForm struct {
	Name, Hosts, Mode, MaxAge string
	Readable                  bool
	// LoginRoutine is the id of the routine that logs in, and Parameters its values, a JSON
	// object.
	LoginRoutine, Parameters string
	// Hidden reports whether parameters were typed that are not shown again, because one may
	// be secret.
	Hidden bool
	// SignedOutURL and SignedOutSelector are how a page shows that nobody is logged in.
	SignedOutURL, SignedOutSelector string
	Version                         int
}

// Modes are the choices of Mode.
func (sessionForm) Modes() []routine.SessionMode {
	return []routine.SessionMode{routine.SessionShared, routine.SessionExclusive}
}

// formOfSession returns the form with the settings of a session.
func formOfSession(info *service.SessionInfo) sessionForm {
	f := sessionForm{Name: info.Name, Hosts: strings.Join(info.Hosts, "\n"), Mode: string(info.Mode), Readable: info.Readable, Version: info.Version}
	if info.MaxAge != nil {
		f.MaxAge = *info.MaxAge
	}
	if info.Login != nil {
		f.LoginRoutine, f.Parameters = info.Login.RoutineID, string(info.Login.Parameters)
	}
	if info.SignedOut != nil {
		f.SignedOutURL, f.SignedOutSelector = info.SignedOut.URLRegex, info.SignedOut.Selector
	}
	return f
}

func readSessionForm(posted url.Values) sessionForm {
	version, err := strconv.Atoi(posted.Get("version"))
	if err != nil {
		version = 0 // as of no session that exists
	}
	return sessionForm{Name: posted.Get("name"), Hosts: posted.Get("hosts"), Mode: posted.Get("mode"), MaxAge: posted.Get("max_age"),
		Readable: posted.Get("readable") != "", LoginRoutine: strings.TrimSpace(posted.Get("login_routine")), Parameters: posted.Get("parameters"),
		SignedOutURL: posted.Get("signed_out_url"), SignedOutSelector: posted.Get("signed_out_selector"), Version: version}
}

// change returns the text of the JSON object that SaveSession reads.
func (f *sessionForm) change(posted url.Values) ([]byte, *formFault) {
	body := map[string]any{"hosts": nonNil(strings.Fields(f.Hosts)), "mode": f.Mode, "readable": f.Readable, "max_age": nil, "login": nil, "signed_out": nil}
	if age := strings.TrimSpace(f.MaxAge); age != "" {
		body["max_age"] = age
	}
	parameters := strings.TrimSpace(f.Parameters)
	switch {
	case f.LoginRoutine == "" && parameters != "":
		return nil, fieldFault("login_routine", "There are parameters for a login, and no routine that logs in. Write its id.")
	case parameters != "" && !json.Valid([]byte(parameters)):
		return nil, fieldFault("parameters", `This is not JSON. Write an object of names and values, as in {"site": "https://shop.example"}.`)
	case f.LoginRoutine != "":
		login := map[string]any{"routine_id": f.LoginRoutine}
		if parameters != "" {
			login["parameters"] = json.RawMessage(parameters)
		}
		body["login"] = login
	}
	signedOut := map[string]string{}
	if f.SignedOutURL != "" {
		signedOut["url_regex"] = f.SignedOutURL
	}
	if f.SignedOutSelector != "" {
		signedOut["selector"] = f.SignedOutSelector
	}
	if len(signedOut) > 0 {
		body["signed_out"] = signedOut
	}
	return encodeForm(posted, body)
}

// sessionFieldOf returns the field of the form to which a pointer into its JSON belongs.
func sessionFieldOf(pointer string) string {
	setting, inner, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	switch {
	case setting == "login" && strings.HasPrefix(inner, "parameters"):
		return "parameters"
	case setting == "login":
		return "login_routine"
	case setting == "signed_out" && inner == "selector":
		return "signed_out_selector"
	case setting == "signed_out":
		return "signed_out_url"
	case setting == "hosts", setting == "mode", setting == "max_age":
		return setting
	}
	return ""
}
