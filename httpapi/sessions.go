package httpapi

import (
	"fmt"
	"net/http"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/service"
)

// saveSession does not use Idempotency-Key: the request gives the same session each time.
func (a *api) saveSession(q *request) (response, error) {
	if err := a.service.MaySaveSession(q.principal); err != nil {
		return response{}, err
	}
	condition, err := putCondition(q.Header, "the session")
	if err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	info, created, err := a.service.SaveSession(q.Context(), q.principal, routine.ViaREST, q.pathParameter("name"), text, condition)
	if err != nil {
		return response{}, err
	}
	got := sessionResponse(q, info)
	if created {
		got.status, got.location = http.StatusCreated, a.base+"/sessions/"+info.Name
	}
	return got, nil
}

// sessionResponse returns a session as the body of a response with its version as ETag.
func sessionResponse(q *request, info *service.SessionInfo) response {
	q.w.Header().Set("ETag", fmt.Sprintf(`"%d"`, info.Version))
	if info.Withheld {
		return response{status: http.StatusOK, body: withheldSession{info.Name, info.Version}}
	}
	return response{status: http.StatusOK, body: info}
}

// withheldSession is the response to a change by a caller who may not read sessions.
type withheldSession struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

func (a *api) listSessions(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	limit, offset := query.limitAndOffset()
	if err := query.err(); err != nil {
		return response{}, err
	}
	list, total, err := a.service.Sessions(q.Context(), q.principal, limit, offset)
	if err != nil {
		return response{}, err
	}
	return pageResponse(q, list, total, limit, offset), nil
}

func (a *api) readSession(q *request) (response, error) {
	info, err := a.service.Session(q.Context(), q.principal, q.pathParameter("name"))
	if err != nil {
		return response{}, err
	}
	return sessionResponse(q, info), nil
}

func (a *api) deleteSession(q *request) (response, error) {
	if err := a.service.DeleteSession(q.Context(), q.principal, routine.ViaREST, q.pathParameter("name")); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}

// importSession takes a state as JSON or as text; the content says which format it is.
func (a *api) importSession(q *request) (response, error) {
	if err := a.service.MaySaveSession(q.principal); err != nil {
		return response{}, err
	}
	condition, err := putCondition(q.Header, "the session")
	if err != nil {
		return response{}, err
	}
	text, err := q.readBody("text/plain")
	if err != nil {
		return response{}, err
	}
	got, err := a.service.ImportSession(q.Context(), q.principal, routine.ViaREST, q.pathParameter("name"), text, nil, condition)
	if err != nil {
		return response{}, err
	}
	result := sessionResponse(q, got.SessionInfo)
	result.body = got
	if got.Withheld {
		result.body = withheldImport{withheldSession{got.Name, got.Version}, got.LeftOut, got.Warnings}
	}
	return result, nil
}

// withheldImport is the response to an import by a caller who may not read sessions.
type withheldImport struct {
	withheldSession
	LeftOut  []browserstate.Count `json:"left_out"`
	Warnings []routine.Problem    `json:"warnings"`
}

func (a *api) clearSession(q *request) (response, error) {
	versions, err := ifMatchVersions(q.Header)
	if err != nil {
		return response{}, err
	}
	err = a.service.ClearSession(q.Context(), q.principal, routine.ViaREST, q.pathParameter("name"), service.PutCondition{Versions: versions})
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}

func (a *api) loginSession(q *request) (response, error) {
	e, err := a.service.LoginSession(q.Context(), q.principal, q.pathParameter("name"), service.Call{Via: routine.ViaREST})
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusAccepted, body: e, location: a.base + "/executions/" + e.ID}, nil
}

func (a *api) listSessionUses(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	limit, offset := query.limitAndOffset()
	if err := query.err(); err != nil {
		return response{}, err
	}
	uses, total, err := a.service.SessionUses(q.Context(), q.principal, q.pathParameter("name"), limit, offset)
	if err != nil {
		return response{}, err
	}
	return pageResponse(q, uses, total, limit, offset), nil
}
