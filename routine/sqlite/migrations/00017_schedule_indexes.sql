-- +goose Up

-- The look for schedules that are due reads only these indexes, and then the rows that it
-- chooses.
DROP INDEX schedules_due;
CREATE INDEX schedules_due ON schedules (next_at, organization_id, id, enabled) WHERE enabled;
CREATE INDEX schedules_moved ON schedules (moved_at, organization_id, next_at, id, enabled) WHERE enabled;
CREATE INDEX executions_of_schedule
    ON executions (schedule_id, created_at DESC, id DESC, organization_id, status, routine_id)
    WHERE schedule_id <> '';
