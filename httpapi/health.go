package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/schemas"
)

type healthStatus struct {
	Status string `json:"status"`
}

// health reports that the process responds.
func (a *api) health(*request) (response, error) {
	return response{status: http.StatusOK, body: healthStatus{"ok"}}, nil
}

// ready reports whether the service can run routines.
func (a *api) ready(q *request) (response, error) {
	if err := a.service.Ready(q.Context()); err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: healthStatus{"ready"}}, nil
}

func (a *api) openAPI(*request) (response, error) {
	return response{status: http.StatusOK, body: document{"application/yaml", schemas.OpenAPI()}}, nil
}

// schema returns one of the published schemas unchanged; routine.json includes
// all schemas that it refers to.
func (a *api) schema(q *request) (response, error) {
	name := strings.TrimSuffix(chi.URLParam(q.Request, "*"), "/")
	if name == "routine.json" {
		return response{status: http.StatusOK, body: document{"application/schema+json", schemas.Routine()}}, nil
	}
	text, err := schemas.Files.ReadFile(name)
	if err != nil {
		return response{}, routine.Errorf(routine.CodeNotFound, "there is no schema of this name")
	}
	return response{status: http.StatusOK, body: document{"application/schema+json", text}}, nil
}
