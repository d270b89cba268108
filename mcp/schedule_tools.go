package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/service"
)

// scheduleArguments are the settings of a schedule in the schema of a tool.
const scheduleArguments = `"routine_id":{"type":"string","description":"Tool name, or Routine_… id"},` +
	`"routine_version":{"type":"integer","minimum":1,"description":"Run this version; left out: the newest"},` +
	`"parameters":{"type":"object","description":"Values by name. A change keeps those that it leaves out, and null removes one"},` +
	`"cron":{"type":"string","description":"Minute, hour, day of month, month, day of week, as in 0 7 * * mon-fri, or @hourly, @daily, @weekly, @monthly"},` +
	`"zone":{"type":"string","description":"IANA time zone, as in Europe/Berlin","default":"UTC"},` +
	`"enabled":{"type":"boolean","description":"false pauses the schedule","default":true},` +
	`"timeout_seconds":{"type":"number","minimum":1,"maximum":300,"default":60},` +
	`"missed":{"type":"string","enum":["run_once","skip"],"default":"run_once","description":"What happens to a run that could not be started in time"},` +
	`"callback_url":{"type":"string","description":"Receives a webhook when a run ends"},` +
	`"notify":{"type":"string","enum":["always","on_failure","on_change"],"default":"always","description":"Which ends callback_url receives"}`

const scheduleIDArgument = `"schedule_id":{"type":"string","description":"Schedule_… id"}`

// scheduleTools returns the tools for schedules.
func scheduleTools() []builtin {
	return []builtin{
		{name: "create_schedule", title: "Schedule a routine", scope: routine.ScopeExecutionsRun, destructive: true, openWorld: true,
			handle: (*Server).createSchedule,
			description: "Run a routine at the times of a cron expression, with the rights of this connection's token. " +
				"A time at which the run before has not ended is skipped.",
			schema: `{"type":"object","properties":{` + scheduleArguments + `},"required":["routine_id","cron"],"additionalProperties":false}`},
		{name: "list_schedules", title: "List schedules", scope: routine.ScopeExecutionsRead, readOnly: true, handle: (*Server).listSchedules,
			description: "The schedules, newest first: when each is due next, its last execution, and why a time was skipped.",
			schema: `{"type":"object","properties":{"routine_id":{"type":"string","description":"Tool name, or Routine_… id; left out: all"},` +
				`"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},"offset":{"type":"integer","minimum":0}},"additionalProperties":false}`},
		{name: "update_schedule", title: "Change a schedule", scope: routine.ScopeExecutionsRun, destructive: true, openWorld: true,
			handle:      (*Server).updateSchedule,
			description: "Change settings of a schedule, pause it (enabled false) or resume it. What is left out stays as it is.",
			schema: `{"type":"object","properties":{` + scheduleIDArgument + `,` + scheduleArguments + `},` +
				`"required":["schedule_id"],"additionalProperties":false}`},
		{name: "delete_schedule", title: "Delete a schedule", scope: routine.ScopeExecutionsRun, destructive: true, handle: (*Server).deleteSchedule,
			description: "Delete a schedule. Its executions stay.",
			schema:      `{"type":"object","properties":{` + scheduleIDArgument + `},"required":["schedule_id"],"additionalProperties":false}`},
	}
}

// errNoScheduleID refuses a call that names no schedule.
var errNoScheduleID = routine.Errorf(routine.CodeInvalid, "schedule_id is required: it stands in the answer of the call that made the schedule")

// scheduleSettings returns the settings in the arguments of a call as the service reads them,
// and the id of the schedule if there is one.
func (s *Server) scheduleSettings(ctx context.Context, q mcp.CallToolRequest) (id string, settings []byte, err error) {
	values := map[string]json.RawMessage{}
	if raw := arguments(q); len(raw) > 0 {
		if err := json.Unmarshal(raw, &values); err != nil {
			return "", nil, routine.Errorf(routine.CodeInvalid, "the arguments must be an object")
		}
	}
	if raw, ok := values["schedule_id"]; ok {
		if err := json.Unmarshal(raw, &id); err != nil {
			return "", nil, errNoScheduleID
		}
		delete(values, "schedule_id")
	}
	var key string
	if raw, ok := values["routine_id"]; ok && json.Unmarshal(raw, &key) == nil {
		values["routine_id"] = routine.RawJSON(s.routineID(ctx, key))
	}
	return id, routine.RawJSON(values), nil
}

// scheduleResult returns a schedule as the result of a tool that has saved it.
func scheduleResult(sc *routine.Schedule) *mcp.CallToolResult {
	if sc.Withheld {
		return structuredResult(struct {
			ID      string     `json:"id"`
			Enabled bool       `json:"enabled"`
			NextAt  *time.Time `json:"next_at"`
		}{sc.ID, sc.Enabled, sc.NextAt})
	}
	return structuredText([]byte(clean(routine.JSONText(sc))))
}

func (s *Server) createSchedule(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	id, settings, err := s.scheduleSettings(ctx, q)
	if err == nil && id != "" {
		err = routine.Errorf(routine.CodeInvalid, "a new schedule has no schedule_id: leave it out")
	}
	var sc *routine.Schedule
	if err == nil {
		sc, err = s.service.CreateSchedule(ctx, wire.PrincipalOf(ctx), settings, service.Idempotency{})
	}
	if err != nil {
		return s.builtinError(ctx, "create_schedule", err)
	}
	return scheduleResult(sc)
}

func (s *Server) updateSchedule(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	id, settings, err := s.scheduleSettings(ctx, q)
	if err == nil && id == "" {
		err = errNoScheduleID
	}
	var sc *routine.Schedule
	if err == nil {
		sc, err = s.service.PatchSchedule(ctx, wire.PrincipalOf(ctx), id, settings)
	}
	if err != nil {
		return s.builtinError(ctx, "update_schedule", err)
	}
	return scheduleResult(sc)
}

func (s *Server) deleteSchedule(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		ID string `json:"schedule_id"`
	}
	err := decode(q, &a)
	if err == nil && a.ID == "" {
		err = errNoScheduleID
	}
	if err == nil {
		err = s.service.DeleteSchedule(ctx, wire.PrincipalOf(ctx), a.ID)
	}
	if err != nil {
		return s.builtinError(ctx, "delete_schedule", err)
	}
	return structuredResult(struct {
		ID      string `json:"id"`
		Deleted bool   `json:"deleted"`
	}{a.ID, true})
}

func (s *Server) listSchedules(ctx context.Context, q mcp.CallToolRequest) *mcp.CallToolResult {
	var a struct {
		Routine string     `json:"routine_id"`
		Limit   lenientInt `json:"limit"`
		Offset  lenientInt `json:"offset"`
	}
	err := decode(q, &a)
	f := routine.ScheduleFilter{Limit: min(int(a.Limit), routine.MaxPageLimit), Offset: max(int(a.Offset), 0)}
	if f.Limit <= 0 {
		f.Limit = routine.DefaultPageLimit
	}
	if err == nil && a.Routine != "" {
		f.RoutineID = s.routineID(ctx, a.Routine)
	}
	var list []*routine.Schedule
	total := 0
	if err == nil {
		list, total, err = s.service.Schedules(ctx, wire.PrincipalOf(ctx), f)
	}
	if err != nil {
		return s.builtinError(ctx, "list_schedules", err)
	}
	return structuredText([]byte(clean(routine.JSONText(struct {
		Schedules []*routine.Schedule `json:"schedules"`
		Total     int                 `json:"total"`
	}{list, total}))))
}
