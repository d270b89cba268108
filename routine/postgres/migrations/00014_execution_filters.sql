-- +goose NO TRANSACTION
-- +goose Up

-- Each statement may be repeated after another has failed. The indexes of executions are built
-- while runs continue. They may wait for a lock without a limit, because nothing waits behind
-- them. An index whose building failed is there, but not used.
SET lock_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS executions_failed;
CREATE INDEX CONCURRENTLY executions_failed
    ON executions (organization_id, created_at DESC, id DESC) INCLUDE (error_code, routine_id, via, created_by, routine_version)
    WHERE status = 'failed';
DROP INDEX CONCURRENTLY IF EXISTS executions_via;
CREATE INDEX CONCURRENTLY executions_via ON executions (organization_id, via, created_at DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS executions_of_user;
CREATE INDEX CONCURRENTLY executions_of_user ON executions (organization_id, created_by, created_at DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS executions_of_version;
CREATE INDEX CONCURRENTLY executions_of_version ON executions (routine_id, routine_version, created_at DESC, id DESC) INCLUDE (organization_id);
RESET lock_timeout;
