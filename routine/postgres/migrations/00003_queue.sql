-- +goose NO TRANSACTION
-- +goose Up

-- Each statement may be repeated after another has failed. The indexes of executions are
-- built while runs continue, which takes a transaction of its own for each. They may wait for
-- a lock without a limit, because nothing waits behind them.

-- The calls of queued executions, encrypted: pending ones that no process has. Their
-- owner is ''.
CREATE TABLE IF NOT EXISTS execution_calls (
    execution_id text COLLATE "C" PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE,
    sealed       bytea NOT NULL
);
ALTER TABLE execution_calls ALTER COLUMN sealed SET STORAGE EXTERNAL;
SET lock_timeout = 0;
-- An index whose building failed is there, but not used.
DROP INDEX CONCURRENTLY IF EXISTS executions_queued;
CREATE INDEX CONCURRENTLY executions_queued ON executions (organization_id, created_at, id)
    WHERE status = 'pending' AND owner = '';
DROP INDEX CONCURRENTLY IF EXISTS executions_queued_by_age;
CREATE INDEX CONCURRENTLY executions_queued_by_age ON executions (created_at)
    WHERE status = 'pending' AND owner = '';
RESET lock_timeout;
-- A program that does not know queued executions would take them for those of a process
-- that has died, and end them.
UPDATE compatibility SET min_schema = 3;
