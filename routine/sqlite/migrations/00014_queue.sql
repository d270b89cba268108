-- +goose Up

-- The calls of queued executions, encrypted: pending ones that no process has. Their
-- owner is ''.
CREATE TABLE execution_calls (
    execution_id TEXT PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE,
    sealed       BLOB NOT NULL
) STRICT;
CREATE INDEX executions_queued ON executions (organization_id, created_at, id)
    WHERE status = 'pending' AND owner = '';
CREATE INDEX executions_queued_by_age ON executions (created_at)
    WHERE status = 'pending' AND owner = '';
