package console

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"rote/routine"
)

// executionRoutes adds the pages of executions.
func (x *console) executionRoutes(r chi.Router) {
	r.Get("/executions", x.signedIn(listExecutions))
	const one = "/executions/{execution_id}"
	r.Get(one, x.signedIn(executionPage))
	r.Get(one+"/live", x.signedIn(executionLive))
	r.Get(one+"/picture", x.signedIn(executionPicture))
	r.Post(one+"/cancel", x.signedIn(cancelExecution))
	r.Get(one+"/files/{name}", x.signedIn(executionFile))
	r.Get(one+"/result", x.signedIn(executionResult))
	r.Get(one+"/result.json", x.signedIn(executionResultJSON))
	r.Get(one+"/result.csv", x.signedIn(executionResultCSV))
	r.Get(one+"/report.html", x.signedIn(executionReport))
}

// runView is what the page of an execution and its report show.
type runView struct {
	*routine.Execution
	Parameters []parameter
	// Fault says why the run has failed; nil: it has not.
	Fault *runFault
	// Elapsed is how many seconds the run has taken so far, and Waited how many of them it
	// waited for a browser.
	Elapsed, Waited float64
	// Queue says how busy the service is, if the run waits and the person may know.
	Queue string
	Table waterfall
	Data  *resultView
	// Warnings and Outline are those of the result.
	Warnings []string
	Outline  string
	// Denied are the requests of all operations that the egress policy refused.
	Denied []routine.Denial
	// OtherFiles are the files of the execution besides the screenshot.
	OtherFiles []routine.FileInfo
	// Editor is the address of the editor whose text was run without being saved; empty: none.
	Editor string
	// Mend reports whether the person can mend the routine of a run that has failed in a lesson.
	Mend bool
	// Curl is a command that starts the same run; empty: the definition was not saved.
	Curl string
	// LiveView reports whether the page offers the live view.
	LiveView bool
	// Report is nil on the page. A report has no links, buttons and scripts.
	Report *reportView
}

// reportView is what a report contains so that it needs no other file.
type reportView struct {
	Styles template.CSS
	// Screenshot is a data: URL; empty: there is none.
	Screenshot template.URL
	At         time.Time
}

// runFault is why a run has failed. Number is that of the operation, from 1; 0: it was none.
type runFault struct {
	Message string
	Code    routine.Code
	Number  int
	Type    string
}

func executionPage(q *request) error {
	e, err := q.execution()
	if err != nil {
		return err
	}
	v := q.newRunView(e)
	if back := q.URL.Query().Get("back"); e.RoutineID == "" && q.localPath(back) == back {
		v.Editor = back
	}
	v.Mend = e.RoutineID != "" && v.Fault != nil && v.Fault.Number > 0 && q.lessons != nil && q.service.MayTeach(q.principal) == nil
	p := page{Title: "Run " + shortID(e.ID), Section: "executions", Data: v, Crumbs: []crumb{{"Executions", q.to("executions")}}}
	if e.RoutineID != "" {
		p.Crumbs = []crumb{{"Routines", q.to("routines")}, {routine.Truncate(e.RoutineName, 80), q.to("routines", e.RoutineID)}}
	}
	if e.Open() {
		p.Refresh, p.Modules, v.LiveView = 2, []string{"live.js"}, q.service.HasLiveView()
	}
	return q.render(http.StatusOK, "execution", p)
}

// execution returns the execution that the path names.
func (q *request) execution() (*routine.Execution, error) {
	return q.service.Execution(q.Context(), q.principal, q.pathParameter("execution_id"))
}

func (q *request) newRunView(e *routine.Execution) *runView {
	now := time.Now()
	v := &runView{Execution: e, Parameters: readParameters(e.Parameters, maxParameterBytes), Elapsed: now.Sub(e.CreatedAt).Seconds(),
		Data: newResultView(e.Result), Denied: deniedOf(e), Curl: q.curl(e)}
	if e.CompletedAt != nil {
		v.Elapsed = e.CompletedAt.Sub(e.CreatedAt).Seconds()
	}
	if e.StartedAt != nil {
		v.Waited = e.StartedAt.Sub(e.CreatedAt).Seconds()
	}
	if e.Result != nil {
		v.Warnings, v.Outline = e.Result.Warnings, e.Result.Outline
	}
	v.Table = newWaterfall(e, q.definitionOf(e), now)
	v.Fault = faultOf(e)
	v.Queue = q.queueText(e)
	v.OtherFiles = slices.DeleteFunc(slices.Clone(e.Files), func(f routine.FileInfo) bool { return f.Name == v.Screenshot() })
	return v
}

// Screenshot returns the name of the file that has the screenshot; empty: none is kept.
func (v *runView) Screenshot() string {
	if v.Evidence == nil || v.Evidence.Screenshot == nil {
		return ""
	}
	return v.Evidence.Screenshot.File
}

// definitionOf returns the definition that an execution has run, or nil if the person may not
// read it or it is not kept.
func (q *request) definitionOf(e *routine.Execution) *routine.Definition {
	if e.RoutineID == "" {
		return nil
	}
	v, err := q.service.Version(q.Context(), q.principal, e.RoutineID, e.RoutineVersion)
	if err != nil {
		return nil
	}
	return v.Definition
}

// queueText says how many runs are before one that waits. Only administrators see other runs.
func (q *request) queueText(e *routine.Execution) string {
	if e.Status != routine.ExecutionPending || q.service.MayReadStatistics(q.principal) != nil {
		return ""
	}
	t := q.service.Statistics()
	return strconv.Itoa(t.Running) + " run, " + strconv.Itoa(t.Waiting) + " wait"
}

// faultOf returns why an execution has failed, with the operation that did.
func faultOf(e *routine.Execution) *runFault {
	if e.Status != routine.ExecutionFailed || e.Error == nil {
		return nil
	}
	f := &runFault{Message: *e.Error, Code: e.ErrorCode}
	for _, r := range recordsOf(e) {
		if r.Error != nil {
			f.Number, f.Type = r.Index+1, r.Type
			f.Message = strings.TrimPrefix(f.Message, fmt.Sprintf("operation %d of %d (%s): ", f.Number, e.OperationsTotal, f.Type))
		}
	}
	return f
}

// deniedOf adds up the requests of all operations that the egress policy refused, by host.
func deniedOf(e *routine.Execution) []routine.Denial {
	var all []routine.Denial
	for _, r := range recordsOf(e) {
		for _, d := range r.EgressDenied {
			at := slices.IndexFunc(all, func(x routine.Denial) bool { return x.Host == d.Host && x.Reason == d.Reason })
			if at < 0 {
				all = append(all, d)
				continue
			}
			all[at].Count += d.Count
		}
	}
	return all
}

// cancelExecution cancels the run and leads back to the page that had the button.
func cancelExecution(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	id := q.pathParameter("execution_id")
	if _, err := q.service.Cancel(q.Context(), q.principal, id); err != nil {
		return err
	}
	if back := q.PostForm.Get("back"); back != "" {
		http.Redirect(q.w, q.Request, q.localPath(back), http.StatusSeeOther)
		return nil
	}
	return q.redirect("executions", id)
}
