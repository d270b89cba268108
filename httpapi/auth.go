package httpapi

import (
	"net/http"
	"strings"

	"rote/routine"
)

// asCaller finds out who makes the call before h does it.
func (a *api) asCaller(h handler) handler {
	return func(q *request) (answer, error) {
		var err error
		if q.principal, err = a.door.Caller(q.w, q.Request); err != nil {
			return answer{}, err
		}
		done, err := a.door.Begin(q.Request, q.principal)
		if err != nil {
			return answer{}, err
		}
		defer done()
		return h(q)
	}
}

// caller is who makes a request. Without a token it is the anonymous caller, of
// whom the service decides what they may do; a token that is no good is refused
// whatever the call.
func caller(service *routine.Service, local *routine.Principal, r *http.Request) (routine.Principal, error) {
	if local != nil {
		return *local, nil
	}
	secret, given, err := token(r.Header)
	if err != nil || !given {
		return routine.Principal{}, err
	}
	return service.Authenticate(r.Context(), secret)
}

// token is the secret that a request carries, in either header. A header that
// is there but empty counts as given: its sender meant to be somebody.
func token(h http.Header) (secret string, given bool, err error) {
	secrets := append([]string(nil), h.Values("X-Service-Token")...)
	for _, value := range h.Values("Authorization") {
		scheme, credentials, _ := strings.Cut(value, " ")
		if strings.EqualFold(scheme, "Bearer") {
			secrets = append(secrets, strings.TrimSpace(credentials))
		} else if len(secrets) == 0 { // else it is for a proxy on the way
			return "", false, routine.Errorf(routine.CodeUnauthenticated, "Authorization must be Bearer with a service token")
		}
	}
	if len(secrets) == 0 {
		return "", false, nil
	}
	for _, s := range secrets {
		if s != secrets[0] {
			return "", false, routine.Errorf(routine.CodeUnauthenticated, "the request carries two different service tokens: send one")
		}
	}
	return secrets[0], true, nil
}
