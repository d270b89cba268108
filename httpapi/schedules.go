package httpapi

import (
	"mime"
	"net/http"
	"time"

	"rote/routine"
)

// mergePatchTypes are the media types of a JSON Merge Patch.
const mergePatchTypes = "application/merge-patch+json, application/json"

func (a *api) createSchedule(q *request) (response, error) {
	if err := a.service.MaySchedule(q.principal); err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	key, err := idempotencyOf(q.Header, text)
	if err != nil {
		return response{}, err
	}
	sc, err := a.service.CreateSchedule(q.Context(), q.principal, text, key)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusCreated, body: a.changedSchedule(sc), location: a.schedulePath(sc)}, nil
}

func (a *api) listSchedules(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	f := routine.ScheduleFilter{RoutineID: query.text("routine_id")}
	f.Limit, f.Offset = query.limitAndOffset()
	if err := query.err(); err != nil {
		return response{}, err
	}
	list, total, err := a.service.Schedules(q.Context(), q.principal, f)
	if err != nil {
		return response{}, err
	}
	return pageResponse(q, list, total, f.Limit, f.Offset), nil
}

func (a *api) readSchedule(q *request) (response, error) {
	sc, err := a.service.Schedule(q.Context(), q.principal, q.pathParameter("schedule_id"))
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: sc}, nil
}

func (a *api) patchSchedule(q *request) (response, error) {
	if err := a.service.MaySchedule(q.principal); err != nil {
		return response{}, err
	}
	if mediaType, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); err == nil && mediaType == jsonPatchType {
		q.w.Header().Set("Accept-Patch", mergePatchTypes)
		return response{}, routine.Errorf(routine.CodeUnsupportedMediaType, "the body must be a JSON Merge Patch: send one of %s", mergePatchTypes)
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	sc, err := a.service.PatchSchedule(q.Context(), q.principal, q.pathParameter("schedule_id"), text)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: a.changedSchedule(sc)}, nil
}

func (a *api) deleteSchedule(q *request) (response, error) {
	if err := a.service.DeleteSchedule(q.Context(), q.principal, q.pathParameter("schedule_id")); err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, nil
}

func (a *api) schedulePath(sc *routine.Schedule) string { return a.base + "/schedules/" + sc.ID }

// withheldSchedule is the response to a change by a caller who may not read the schedule.
type withheldSchedule struct {
	ID      string     `json:"id"`
	Enabled bool       `json:"enabled"`
	NextAt  *time.Time `json:"next_at"`
	Links   links      `json:"links"`
}

// changedSchedule returns the body for a schedule after a change.
func (a *api) changedSchedule(sc *routine.Schedule) any {
	if sc.Withheld {
		return withheldSchedule{sc.ID, sc.Enabled, sc.NextAt, links{a.schedulePath(sc)}}
	}
	return sc
}
