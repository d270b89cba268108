package mcp

import (
	"strings"
	"testing"

	"rote/routine"
)

// An agent schedules a routine, changes and pauses the schedule, and deletes it.
func TestSchedules(t *testing.T) {
	h := newTestServer(t, lookup).with(t, Config{Authoring: true})
	c := connect(t, h.Server)
	var sc routine.Schedule
	own(t, c, "create_schedule", map[string]any{"routine_id": "lookup", "cron": "0 7 * * *", "zone": "Asia/Tokyo", "parameters": map[string]any{"id": 7}}, &sc)
	if !strings.HasPrefix(sc.RoutineID, "Routine_") || sc.NextAt == nil || sc.NextAt.Hour() != 22 || sc.Zone != "Asia/Tokyo" || !sc.Enabled {
		t.Fatalf("%+v", sc)
	}
	id := sc.ID
	own(t, c, "update_schedule", map[string]any{"schedule_id": id, "enabled": false}, &sc)
	if sc.Enabled || sc.NextAt != nil || string(sc.Parameters) != `{"id":7}` {
		t.Errorf("%+v", sc)
	}
	for _, row := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"create_schedule", map[string]any{"routine_id": "lookup", "cron": "0 25 * * *"}, `the hour "25" in cron is wrong: it is 0 to 23`},
		{"create_schedule", map[string]any{"routine_id": "lookup", "cron": "@daily"}, "- /parameters/id: "},
		{"create_schedule", map[string]any{"routine_id": "nothing", "cron": "@daily"}, "[not_found]"},
		{"create_schedule", map[string]any{"schedule_id": id}, "a new schedule has no schedule_id"},
		{"create_schedule", map[string]any{"routine": "lookup"}, `a schedule has no setting "routine"`},
		{"update_schedule", map[string]any{"cron": "@daily"}, "schedule_id is required"},
		{"update_schedule", map[string]any{"schedule_id": "Schedule_x"}, "[not_found]"},
		{"delete_schedule", map[string]any{}, "schedule_id is required"},
		{"delete_schedule", map[string]any{"schedule_id": "Schedule_x"}, "[not_found]"},
	} {
		if result, text := callTool(t, c, row.tool, row.arguments); !result.IsError || !strings.Contains(text, row.want) {
			t.Errorf("%s %v: %s, want %q", row.tool, row.arguments, text, row.want)
		}
	}
	var list struct {
		Schedules []routine.Schedule
		Total     int
	}
	own(t, c, "list_schedules", map[string]any{"routine_id": "lookup", "limit": "5"}, &list)
	if list.Total != 1 || list.Schedules[0].ID != id {
		t.Errorf("%+v", list)
	}
	own(t, c, "delete_schedule", map[string]any{"schedule_id": id}, &struct{}{})
	own(t, c, "list_schedules", map[string]any{}, &list)
	if list.Total != 0 {
		t.Errorf("after its deletion: %+v", list)
	}
}
