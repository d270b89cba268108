-- +goose Up

-- Routines that run at the times of a cron expression. routine_id and last_execution_id are
-- no foreign keys: executions are deleted when they are no longer kept.
CREATE TABLE schedules (
    id                TEXT PRIMARY KEY,
    organization_id   TEXT NOT NULL,
    project_id        TEXT NOT NULL,
    routine_id        TEXT NOT NULL,
    -- 0: the newest.
    routine_version   INTEGER NOT NULL,
    -- The values of the runs as JSON with secrets masked; sealed has them whole, encrypted,
    -- and is NULL if there are none.
    parameters        TEXT NOT NULL,
    sealed            BLOB,
    timeout_seconds   REAL NOT NULL,
    cron              TEXT NOT NULL,
    zone              TEXT NOT NULL,
    enabled           INTEGER NOT NULL,
    missed            TEXT NOT NULL,
    callback_url      TEXT NOT NULL,
    notify            TEXT NOT NULL,
    -- When a run is due; NULL if the schedule is not enabled. moved_at is when that was set.
    next_at           INTEGER,
    moved_at          INTEGER NOT NULL,
    last_at           INTEGER,
    last_execution_id TEXT NOT NULL DEFAULT '',
    -- As JSON.
    last_skip         TEXT,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    created_by        TEXT NOT NULL,
    -- With whose rights it runs. allowed_hosts is a JSON array.
    runs_as           TEXT NOT NULL,
    token_id          TEXT NOT NULL,
    scopes            TEXT NOT NULL,
    allowed_hosts     TEXT NOT NULL,
    revision          INTEGER NOT NULL DEFAULT 1,
    -- SHA-256 of the data of a completed execution, its id, and whether the data was
    -- another than that before.
    data_hash         BLOB,
    data_execution_id TEXT NOT NULL DEFAULT '',
    data_changed      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX schedules_of_organization ON schedules (organization_id, created_at DESC, id DESC);
CREATE INDEX schedules_due ON schedules (next_at) WHERE enabled;

-- The schedule that started the run; empty if none did.
ALTER TABLE executions ADD COLUMN schedule_id TEXT NOT NULL DEFAULT '';
-- Which ends of executions are reported; empty: every end.
ALTER TABLE webhooks ADD COLUMN notify TEXT NOT NULL DEFAULT '';
