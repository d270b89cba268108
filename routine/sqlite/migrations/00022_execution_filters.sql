-- +goose Up

-- Lists of executions are narrowed by one of these indexes each; see executionMatches. None
-- has a column that changes while an execution is open, except the first, which has only
-- executions that have failed.
CREATE INDEX executions_failed
    ON executions (organization_id, created_at DESC, id DESC, error_code, routine_id, via, created_by, routine_version)
    WHERE status = 'failed';
CREATE INDEX executions_via ON executions (organization_id, via, created_at DESC, id DESC);
CREATE INDEX executions_of_user ON executions (organization_id, created_by, created_at DESC, id DESC);
CREATE INDEX executions_of_version ON executions (routine_id, routine_version, created_at DESC, id DESC, organization_id);
