package console

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"rote/routine"
)

func (x *console) scheduleRoutes(r chi.Router) {
	r.Get("/schedules", x.signedIn(schedulesPage))
	r.Post("/schedules", x.signedIn(createSchedule))
	r.Get("/schedules/new", x.signedIn(newSchedulePage))
	r.Get("/schedules/{schedule_id}", x.signedIn(schedulePage))
	r.Post("/schedules/{schedule_id}", x.signedIn(changeSchedule))
	r.Post("/schedules/{schedule_id}/enabled", x.signedIn(enableSchedule))
	r.Post("/schedules/{schedule_id}/delete", x.signedIn(deleteSchedule))
}

// schedulesData is what the list of the schedules shows.
type schedulesData struct {
	Schedules []scheduleRow
	Page      listPage
}

// scheduleRow is a schedule in the list, with the name of its routine, or the id if the
// person may not read it.
type scheduleRow struct {
	*routine.Schedule
	RoutineName string
}

func schedulesPage(q *request) error {
	offset := q.pageOffset()
	list, total, err := q.service.Schedules(q.Context(), q.principal, routine.ScheduleFilter{Limit: listRows, Offset: offset})
	if err != nil {
		return err
	}
	d := schedulesData{Page: q.listPage(offset, len(list), total)}
	for _, sc := range list {
		r, err := q.readableRoutine(sc.RoutineID)
		if err != nil {
			return err
		}
		d.Schedules = append(d.Schedules, scheduleRow{sc, nameOf(r, sc.RoutineID)})
	}
	return q.render(http.StatusOK, "schedules", page{Title: "Schedules", Section: "schedules", Data: d})
}

func nameOf(r *routine.Routine, id string) string {
	if r == nil {
		return id
	}
	return r.Name
}

// scheduleData is what the page of a schedule shows, and that of a new one, which has no
// Schedule.
type scheduleData struct {
	Schedule *routine.Schedule
	Runs     []*routine.Execution
	// Routine is nil if the person may not read it.
	Routine     *routine.Routine
	RoutineName string
	Form        scheduleForm
	Fault       *formFault
}

// newSchedulePage asks for the routine first: the form has inputs for its secret parameters.
func newSchedulePage(q *request) error {
	if err := q.service.MaySchedule(q.principal); err != nil {
		return err
	}
	given := strings.TrimSpace(q.URL.Query().Get("routine"))
	if given == "" {
		return q.showNewSchedule(scheduleData{})
	}
	r, err := q.routineCalled(given)
	if err != nil {
		fault, err := q.refused(err, func(string) string { return "" })
		if err != nil {
			return err
		}
		return q.showNewSchedule(scheduleData{RoutineName: given, Fault: &formFault{fields: map[string]string{"routine": fault.Message}, status: fault.status}})
	}
	form := newScheduleForm(r)
	form.Key = rand.Text()
	return q.showNewSchedule(scheduleData{Routine: r, RoutineName: r.Name, Form: form})
}

// routineCalled returns the routine with an id or a name.
func (q *request) routineCalled(given string) (*routine.Routine, error) {
	if strings.HasPrefix(given, "Routine_") {
		return q.service.Routine(q.Context(), q.principal, given)
	}
	return q.service.RoutineNamed(q.Context(), q.principal, given)
}

func (q *request) showNewSchedule(d scheduleData) error {
	return q.render(d.Fault.Status(), "new_schedule", page{Title: "New schedule", Section: "schedules",
		Crumbs: []crumb{{"Schedules", q.to("schedules")}}, Data: d})
}

func createSchedule(q *request) error {
	if err := q.service.MaySchedule(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	r, err := q.service.Routine(q.Context(), q.principal, q.PostForm.Get("routine_id"))
	if err != nil {
		return err
	}
	before := newScheduleForm(r)
	form := readScheduleForm(q.PostForm, before)
	text, fault := form.change(q.PostForm, scheduleForm{})
	var sc *routine.Schedule
	if fault == nil {
		if sc, err = q.service.CreateSchedule(q.Context(), q.principal, text, formIdempotency(form.Key, string(text))); err == nil {
			return q.redirect("schedules", sc.ID)
		}
		if fault, err = q.refused(err, form.fieldOf); err != nil {
			return err
		}
	}
	return q.showNewSchedule(scheduleData{Routine: r, RoutineName: r.Name, Form: form, Fault: fault})
}

// scheduleRuns is the number of runs that the page of a schedule lists.
const scheduleRuns = 10

func schedulePage(q *request) error {
	d, err := q.scheduleData()
	if err != nil {
		return err
	}
	return q.showSchedule(d)
}

// scheduleData returns the schedule of the path with its runs.
func (q *request) scheduleData() (scheduleData, error) {
	sc, err := q.service.Schedule(q.Context(), q.principal, q.pathParameter("schedule_id"))
	if err != nil {
		return scheduleData{}, err
	}
	r, err := q.readableRoutine(sc.RoutineID)
	if err != nil {
		return scheduleData{}, err
	}
	runs, _, err := q.service.Executions(q.Context(), q.principal, routine.ExecutionFilter{ScheduleID: sc.ID, Limit: scheduleRuns})
	return scheduleData{Schedule: sc, Runs: runs, Routine: r, RoutineName: nameOf(r, sc.RoutineID), Form: formOfSchedule(sc, r)}, err
}

func (q *request) showSchedule(d scheduleData) error {
	return q.render(d.Fault.Status(), "schedule", page{Title: "Schedule of " + routine.Truncate(d.RoutineName, 80), Section: "schedules",
		Crumbs: []crumb{{"Schedules", q.to("schedules")}}, Data: d})
}

func changeSchedule(q *request) error {
	if err := q.service.MaySchedule(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	d, err := q.scheduleData()
	if err != nil {
		return err
	}
	before := d.Form
	d.Form = readScheduleForm(q.PostForm, before)
	text, fault := d.Form.change(q.PostForm, before)
	if fault == nil {
		if _, err = q.service.PatchSchedule(q.Context(), q.principal, d.Schedule.ID, text); err == nil {
			return q.redirect("schedules", d.Schedule.ID)
		}
		if fault, err = q.refused(err, d.Form.fieldOf); err != nil {
			return err
		}
	}
	d.Fault = fault
	return q.showSchedule(d)
}

// enableSchedule changes only whether a schedule is enabled, which others than its author may.
func enableSchedule(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	id, text := q.pathParameter("schedule_id"), `{"enabled": false}`
	if q.PostForm.Get("enabled") == "true" {
		text = `{"enabled": true}`
	}
	if _, err := q.service.PatchSchedule(q.Context(), q.principal, id, []byte(text)); err != nil {
		return err
	}
	return q.redirect("schedules", id)
}

func deleteSchedule(q *request) error {
	if err := q.service.DeleteSchedule(q.Context(), q.principal, q.pathParameter("schedule_id")); err != nil {
		return err
	}
	return q.redirect("schedules")
}
