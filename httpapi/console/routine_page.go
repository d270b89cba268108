package console

import (
	"encoding/json"
	"net/http"
	"strconv"

	"rote/routine"
	"rote/routine/operation"
)

const (
	// shownRuns and shownVersions are how many the page of a routine lists.
	shownRuns, shownVersions = 12, 10
	// searchedRuns is how many of the newest runs are searched for the beginning of a failure.
	searchedRuns = 100
)

// routineView is what the page of a routine shows.
type routineView struct {
	*routine.Routine
	Notice *doneNotice
	Form   *runForm
	Steps  []routineStep
	// Runs are the newest ones. RunsWithheld says why they are not shown.
	Runs         []*routine.Execution
	RunsTotal    string
	RunsWithheld string
	Spark        *sparkline
	Failing      *failing
	// Versions are the newest ones. VersionsWithheld says why they are not shown.
	Versions         []*routine.Version
	VersionsTotal    int
	VersionsWithheld string
	Agent            agentView
}

// routineStep is an operation of a routine in words.
type routineStep struct {
	Number int
	Text   string
	// Script is the source of a script; empty: the operation has none.
	Script string
}

// stepsOf describes the operations of a definition.
func stepsOf(d *routine.Definition) []routineStep {
	var steps []routineStep
	for i, text := range operation.DescribeAll(d.Operations) {
		s := routineStep{Number: i + 1, Text: routine.PlainText(text)}
		var script struct {
			JS string `json:"js"`
		}
		if json.Unmarshal(d.Operations[i].Raw(), &script) == nil {
			s.Script = routine.PlainText(script.JS)
		}
		steps = append(steps, s)
	}
	return steps
}

func routinePage(q *request) error {
	r, err := q.service.Routine(q.Context(), q.principal, q.pathParameter("id"))
	if err != nil {
		return err
	}
	f, err := newRunForm(r.Parameters)
	if err != nil {
		return err
	}
	query := q.URL.Query()
	if from := query.Get("from"); from != "" {
		e, err := q.service.Execution(q.Context(), q.principal, from)
		switch {
		case err != nil:
			f.Notices = append(f.Notices, "The values of run "+shortID(from)+" cannot be read: "+routine.AsError(err).Message)
		case e.RoutineID != r.ID:
			f.Notices = append(f.Notices, "Run "+shortID(from)+" is one of another routine.")
		default:
			f.fillFrom(e)
		}
	}
	prefill(f.Controls, query)
	return q.showRoutine(http.StatusOK, r, f)
}

// showRoutine renders the page of a routine with a form.
func (q *request) showRoutine(status int, r *routine.Routine, f *runForm) error {
	v := &routineView{Routine: r, Form: f, Steps: stepsOf(&r.Definition), Notice: q.noticeOf(r)}
	if err := q.addRuns(v); err != nil {
		return err
	}
	if err := q.addVersions(v); err != nil {
		return err
	}
	v.Agent = q.agentView(r, f)
	return q.render(status, "routine", page{Title: routine.Truncate(routine.PlainText(r.Name), 80), Section: "routines",
		Crumbs: []crumb{{"Routines", q.to("routines")}}, Data: v})
}

// addRuns adds the newest runs, if the person may see them.
func (q *request) addRuns(v *routineView) error {
	runs, total, err := q.service.RoutineExecutions(q.Context(), q.principal, v.ID, routine.ExecutionFilter{Limit: searchedRuns})
	if routine.CodeOf(err) == routine.CodeForbidden {
		v.RunsWithheld = routine.AsError(err).Message
		return nil
	}
	if err != nil {
		return err
	}
	v.Runs, v.RunsTotal = runs[:min(len(runs), shownRuns)], countText(total)
	v.Spark, v.Failing = newSparkline(v.Runs), failingSince(runs)
	return nil
}

// addVersions adds the newest versions, if the person may see them.
func (q *request) addVersions(v *routineView) (err error) {
	v.Versions, v.VersionsTotal, err = q.service.Versions(q.Context(), q.principal, v.ID, shownVersions, 0)
	if routine.CodeOf(err) == routine.CodeForbidden {
		v.VersionsWithheld = routine.AsError(err).Message
		return nil
	}
	return err
}

// failing says since when the runs of a routine fail.
type failing struct {
	// First is the first failed run after the last completed one, and Last the newest.
	First, Last *routine.Execution
	// Runs is how many have failed since.
	Runs int
	// Good is the last completed run; nil: there is none among the runs that were searched.
	Good *routine.Execution
}

// Changed reports whether the version changed between the last completed run and the first
// failed one.
func (f *failing) Changed() bool {
	return f.Good != nil && f.Good.RoutineVersion != f.First.RoutineVersion
}

// Fault returns the code of the newest failure.
func (f *failing) Fault() string { return string(f.Last.ErrorCode) }

// failingSince returns since when the runs of a list, newest first, fail; nil if the last one
// that ended did not. Runs that somebody cancelled or that the end of the service interrupted
// say nothing about the routine.
func failingSince(runs []*routine.Execution) *failing {
	f := &failing{}
	for _, e := range runs {
		if e.Status == routine.ExecutionCompleted {
			f.Good = e
			break
		}
		if e.Status != routine.ExecutionFailed || e.ErrorCode == routine.CodeCancelled || e.ErrorCode == routine.CodeInterrupted {
			continue
		}
		if f.Last == nil {
			f.Last = e
		}
		f.First = e
		f.Runs++
	}
	if f.Runs == 0 {
		return nil
	}
	return f
}

// WhatChanged returns the address of the difference that a version made: to the version
// before it.
func (v *routineView) WhatChanged(n int) string {
	return "versions/" + strconv.Itoa(n) + "?against=" + strconv.Itoa(max(1, n-1))
}
