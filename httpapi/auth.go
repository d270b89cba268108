package httpapi

import (
	"net/http"
	"strings"

	"rote/routine"
	"rote/routine/service"
)

// authenticated returns a handler that identifies the caller and counts the
// open request before it calls h.
func (a *api) authenticated(h handler) handler {
	return func(q *request) (response, error) {
		var err error
		if q.principal, err = a.admission.Caller(q.w, q.Request); err != nil {
			return response{}, err
		}
		RecordCaller(q.Context(), q.principal)
		done, err := a.admission.StartRequest(q.Request, q.principal)
		if err != nil {
			return response{}, err
		}
		defer done()
		return h(q)
	}
}

// principalOf returns the principal of a request's token, and the anonymous
// principal if there is no token. An invalid token is an error for every call.
// The service decides what an anonymous caller may do.
func principalOf(service *service.Service, local *routine.Principal, r *http.Request) (routine.Principal, error) {
	if local != nil {
		return *local, nil
	}
	secret, given, err := tokenFrom(r.Header)
	if err != nil || !given {
		return routine.Principal{}, err
	}
	return service.Authenticate(r.Context(), secret)
}

// tokenFrom returns the secret of the X-Service-Token or the Authorization
// header. An empty header counts as given, so that a misconfigured client gets
// 401 and is not treated as anonymous.
func tokenFrom(h http.Header) (secret string, given bool, err error) {
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
