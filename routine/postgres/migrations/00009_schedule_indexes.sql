-- +goose NO TRANSACTION
-- +goose Up

-- Each statement may be repeated after another has failed. The index of executions is built
-- while runs continue. It may wait for a lock without a limit, because nothing waits behind it.

-- The look for schedules that are due reads only these indexes, and then the rows that it
-- chooses.
DROP INDEX IF EXISTS schedules_due;
CREATE INDEX schedules_due ON schedules (next_at, organization_id, id) WHERE enabled;
DROP INDEX IF EXISTS schedules_moved;
CREATE INDEX schedules_moved ON schedules (moved_at, organization_id, next_at, id) WHERE enabled;
SET lock_timeout = 0;
-- An index whose building failed is there, but not used.
DROP INDEX CONCURRENTLY IF EXISTS executions_of_schedule;
CREATE INDEX CONCURRENTLY executions_of_schedule
    ON executions (schedule_id, created_at DESC, id DESC) INCLUDE (organization_id, status, routine_id)
    WHERE schedule_id <> '';
RESET lock_timeout;
