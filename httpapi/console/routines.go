package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/service"
)

// routineRoutes adds the pages on which routines are found, read, run and changed in their
// lifecycle.
func (x *console) routineRoutes(r chi.Router) {
	r.Get("/routines", x.signedIn(routinesPage))
	r.Post("/demo", x.signedIn(addExamples))
	r.Get("/routines/{id}", x.signedIn(routinePage))
	r.Post("/routines/{id}/run", x.signedIn(startRun))
	for name, change := range lifecycle {
		r.Post("/routines/{id}/"+name, x.signedIn(func(q *request) error { return q.changeLifecycle(name, change) }))
	}
	r.Get("/routines/{id}/versions/{n}", x.signedIn(versionPage))
	r.Post("/routines/{id}/restore", x.signedIn(restoreVersion))
}

// Example is a routine that the first-run page offers to store.
type Example struct {
	Name string
	// Definition is the JSON text of the routine.
	Definition []byte
	// Values are values of parameters with which the form of the routine is filled in, by name.
	Values map[string]string
}

// routinesOnPage is how many routines a page of the list has.
const routinesOnPage = 25

// routineList is what the list of routines shows.
type routineList struct {
	Words, Status, Tag, Tool string
	// Filtered reports whether the list has a filter, and Clear is the list without it.
	Filtered bool
	Clear    string
	Rows     []routineRow
	// RunsWithheld says why the runs of the routines are not shown.
	RunsWithheld string
	// First and Last count the rows from 1, of Total.
	First, Last int
	Total       string
	// Before and After are links to the pages beside this one; empty: there is none.
	Before, After string
}

// routineRow is a routine of the list with what its newest runs say.
type routineRow struct {
	*routine.Routine
	Last    *routine.Execution // nil: it has never run
	Spark   *sparkline
	Failing *failing
}

// allStatuses are the statuses of a routine, for the filter of the list.
var allStatuses = []routine.Status{routine.StatusActive, routine.StatusDraft, routine.StatusArchived}

func routinesPage(q *request) error {
	values := q.URL.Query()
	l := routineList{Words: values.Get("q"), Status: values.Get("status"), Tag: values.Get("tag"), Tool: values.Get("mcp"), Clear: q.to("routines")}
	number := max(1, atoi(values.Get("page")))
	f := l.filter()
	f.Limit, f.Offset = routinesOnPage, (number-1)*routinesOnPage
	routines, total, err := q.service.RoutineBriefs(q.Context(), q.principal, f)
	if err != nil {
		return err
	}
	if err := q.addRecentRuns(&l, routines); err != nil {
		return err
	}
	if total == 0 && !l.Filtered {
		if _, stored, err := q.service.RoutineBriefs(q.Context(), q.principal, routine.RoutineFilter{Statuses: allStatuses, Limit: 1}); err != nil {
			return err
		} else if stored == 0 {
			return q.firstRunPage()
		}
	}
	l.First, l.Last, l.Total = f.Offset+1, f.Offset+len(l.Rows), countText(total)
	if number > 1 {
		l.Before = pageLink(q.to("routines"), values, number-1)
	}
	if l.Last < total && len(l.Rows) > 0 {
		l.After = pageLink(q.to("routines"), values, number+1)
	}
	return q.render(http.StatusOK, "routines", page{Title: "Routines", Section: "routines", Modules: []string{"import.js"}, Data: l})
}

// addRecentRuns adds the rows of routines with their newest runs, if the person may see them.
func (q *request) addRecentRuns(l *routineList, routines []*routine.Routine) error {
	var ids []string
	for _, r := range routines {
		ids = append(ids, r.ID)
	}
	runs, err := q.service.RecentRuns(q.Context(), q.principal, ids, shownRuns)
	if routine.CodeOf(err) == routine.CodeForbidden {
		l.RunsWithheld = routine.AsError(err).Message
	} else if err != nil {
		return err
	}
	for _, r := range routines {
		row := routineRow{Routine: r, Spark: newSparkline(runs[r.ID]), Failing: failingSince(runs[r.ID])}
		if len(runs[r.ID]) > 0 {
			row.Last = runs[r.ID][0]
		}
		l.Rows = append(l.Rows, row)
	}
	return nil
}

// filter returns the filter of the list without its page, and notes whether it leaves out
// any routine that is not archived.
func (l *routineList) filter() routine.RoutineFilter {
	f := routine.RoutineFilter{Words: strings.Fields(l.Words), Tag: l.Tag}
	if status := routine.Status(l.Status); status.Valid() {
		f.Statuses = []routine.Status{status}
	}
	switch l.Tool {
	case "yes":
		f.Designated = new(true)
	case "no":
		f.Designated = new(false)
	}
	l.Filtered = len(f.Words) > 0 || f.Tag != "" || f.Statuses != nil || f.Designated != nil
	return f
}

// atoi returns the number of a text, and 0 if it is none.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// countText returns a total of a list, which a store counts up to routine.MaxTotal.
func countText(total int) string {
	if total > routine.MaxTotal {
		return "more than " + strconv.Itoa(routine.MaxTotal)
	}
	return strconv.Itoa(total)
}

// pageLink returns a link to another page of a list with the same filter.
func pageLink(path string, values url.Values, number int) string {
	values.Set("page", strconv.Itoa(number))
	return path + "?" + values.Encode()
}

// browserPatience is how long the first-run page waits for the browser to start.
const browserPatience = 3 * time.Second

// firstRun is what the page shows while no routine is stored.
type firstRun struct {
	Examples []Example
	// BrowserProblem says why no browser starts; empty if one does, or is not known to fail.
	BrowserProblem string
	BrowserReady   bool
}

func (q *request) firstRunPage() error {
	ctx, cancel := context.WithTimeout(q.Context(), browserPatience)
	defer cancel()
	d := firstRun{Examples: q.examples}
	err := q.service.Ready(ctx)
	d.BrowserReady = err == nil
	if routine.CodeOf(err) == routine.CodeBrowserUnavailable {
		d.BrowserProblem = routine.AsError(err).Message
	}
	return q.render(http.StatusOK, "first_run", page{Title: "Routines", Section: "routines", Modules: []string{"import.js"}, Data: d})
}

// addExamples stores the examples, and leads to the first one with its values filled in. A
// form that is sent twice stores them once.
func addExamples(q *request) error {
	if len(q.examples) == 0 {
		return routine.Errorf(routine.CodeNotFound, "this server has no examples: start it with rote serve --demo")
	}
	var first *routine.Routine
	for _, example := range q.examples {
		r, _, err := q.service.CreateRoutine(q.Context(), q.principal, example.Definition,
			service.Idempotency{Key: "console-example-" + example.Name, Body: example.Definition})
		if err != nil {
			return err
		}
		if first == nil {
			first = r
		}
	}
	values := url.Values{}
	for name, value := range q.examples[0].Values {
		values.Set(fieldPrefix+name, value)
	}
	return q.redirectTo(values, "routines", first.ID)
}
