package console

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/service"
)

func (x *console) healthRoutes(r chi.Router) {
	r.Get("/health", x.signedIn(healthPage))
}

// Fact is something about the service that its operator has set, or that is installed.
type Fact struct{ Name, Value string }

// healthData is what the page of the health shows.
type healthData struct {
	service.Condition
	routine.Statistics
	// Checked reports whether the page was asked to open the browser, and Ready is the
	// answer; nil: it works.
	Checked bool
	Ready   *routine.Error
	Facts   []Fact
}

// checkBrowser is the value of the query parameter check with which the page also starts a
// browser, unless one runs.
const checkBrowser = "browser"

func healthPage(q *request) error {
	condition, err := q.service.Condition(q.Context(), q.principal)
	if err != nil {
		return err
	}
	d := healthData{Condition: condition, Statistics: q.service.Statistics(), Checked: q.URL.Query().Get("check") == checkBrowser}
	if d.Checked {
		d.Ready = routine.AsError(q.service.Ready(q.Context()))
	}
	if q.about != nil {
		d.Facts = q.about()
	}
	return q.render(http.StatusOK, "health", page{Title: "Health", Section: "health", Data: d})
}
