package httpapi

import (
	"fmt"
	"net/http"

	"rote/routine"
	"rote/routine/service"
)

// saveSecret does not use Idempotency-Key: the request gives the same secret each time, and
// no trace of its values may be kept.
func (a *api) saveSecret(q *request) (response, error) {
	if err := a.service.MaySaveSecret(q.principal); err != nil {
		return response{}, err
	}
	condition, err := putCondition(q.Header, "the secret")
	if err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	info, created, err := a.service.SaveSecret(q.Context(), q.principal, routine.ViaREST, q.pathParameter("name"), text, condition)
	if err != nil {
		return response{}, err
	}
	got := a.secretResponse(q, info)
	if created {
		got.status, got.location = http.StatusCreated, a.base+"/secrets/"+info.Name
	}
	return got, nil
}

// secretResponse returns a secret as the body of a response with its version as ETag.
func (a *api) secretResponse(q *request, info *service.SecretInfo) response {
	q.w.Header().Set("ETag", fmt.Sprintf(`"%d"`, info.Version))
	if info.Withheld {
		return response{status: http.StatusOK, body: withheldSecret{info.Name, info.Project, info.Version}}
	}
	return response{status: http.StatusOK, body: info}
}

// withheldSecret is the response to a change by a caller who may not read secrets.
type withheldSecret struct {
	Name    string `json:"name"`
	Project bool   `json:"project"`
	Version int    `json:"version"`
}

func (a *api) listSecrets(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	limit, offset := query.limitAndOffset()
	if err := query.err(); err != nil {
		return response{}, err
	}
	list, total, err := a.service.Secrets(q.Context(), q.principal, limit, offset)
	if err != nil {
		return response{}, err
	}
	return pageResponse(q, list, total, limit, offset), nil
}

func (a *api) readSecret(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	project := query.boolean("project")
	if err := query.err(); err != nil {
		return response{}, err
	}
	info, err := a.service.Secret(q.Context(), q.principal, q.pathParameter("name"), project)
	if err != nil {
		return response{}, err
	}
	return a.secretResponse(q, info), nil
}

func (a *api) deleteSecret(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	project := query.boolean("project")
	if err := query.err(); err != nil {
		return response{}, err
	}
	err = a.service.DeleteSecret(q.Context(), q.principal, routine.ViaREST, q.pathParameter("name"), project == nil || *project)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}

// giveCode does not use Idempotency-Key: no trace of the code may be kept.
func (a *api) giveCode(q *request) (response, error) {
	if err := a.service.MayGiveCode(q.principal); err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	if err := a.service.GiveCode(q.Context(), q.principal, routine.ViaREST, q.pathParameter("name"), text); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}

func (a *api) listSecretUses(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	project := query.boolean("project")
	limit, offset := query.limitAndOffset()
	if err := query.err(); err != nil {
		return response{}, err
	}
	uses, total, err := a.service.SecretUses(q.Context(), q.principal, q.pathParameter("name"), project, limit, offset)
	if err != nil {
		return response{}, err
	}
	return pageResponse(q, uses, total, limit, offset), nil
}
