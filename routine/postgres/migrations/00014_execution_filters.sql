-- +goose NO TRANSACTION
-- +goose Up

-- Each statement may be repeated after another has failed. The indexes of executions are built
-- while runs continue. They may wait for a lock without a limit, because nothing waits behind
-- them. An index whose building failed is there, but not used.
--
-- Front ends, users and versions have no indexes of their own: each run would write to them
-- twice, since its end changes its status, which is in other indexes. Lists that are narrowed
-- by them read an index of all executions of the organization, or of the routine, instead.
SET lock_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS executions_failed;
CREATE INDEX CONCURRENTLY executions_failed
    ON executions (organization_id, created_at DESC, id DESC) INCLUDE (error_code, routine_id, via, created_by, routine_version)
    WHERE status = 'failed';
DROP INDEX CONCURRENTLY IF EXISTS executions_new;
CREATE INDEX CONCURRENTLY executions_new ON executions (organization_id, created_at DESC, id DESC) INCLUDE (status, routine_id, via, created_by);
DROP INDEX CONCURRENTLY IF EXISTS executions_of_organization;
ALTER INDEX executions_new RENAME TO executions_of_organization;
CREATE INDEX CONCURRENTLY executions_new ON executions (routine_id, created_at DESC, id DESC) INCLUDE (organization_id, status, routine_version);
DROP INDEX CONCURRENTLY IF EXISTS executions_of_routine;
ALTER INDEX executions_new RENAME TO executions_of_routine;
RESET lock_timeout;
