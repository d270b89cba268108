package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/schemas"
)

type state struct {
	Status string `json:"status"`
}

// health tells that the process answers.
func (a *api) health(*request) (answer, error) {
	return answer{status: http.StatusOK, body: state{"ok"}}, nil
}

// ready tells that it can do its work.
func (a *api) ready(q *request) (answer, error) {
	if err := a.service.Ready(q.Context()); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: state{"ready"}}, nil
}

func (a *api) openAPI(*request) (answer, error) {
	return answer{status: http.StatusOK, body: document{"application/yaml", schemas.OpenAPI()}}, nil
}

// schema gives one of the published schemas, byte for byte; routine.json with
// all that it needs inside.
func (a *api) schema(q *request) (answer, error) {
	name := strings.TrimSuffix(chi.URLParam(q.Request, "*"), "/")
	if name == "routine.json" {
		return answer{status: http.StatusOK, body: document{"application/schema+json", schemas.Routine()}}, nil
	}
	text, err := schemas.Files.ReadFile(name)
	if err != nil {
		return answer{}, routine.Errorf(routine.CodeNotFound, "there is no schema of this name")
	}
	return answer{status: http.StatusOK, body: document{"application/schema+json", text}}, nil
}
