-- +goose Up

-- Routines that run at the times of a cron expression. routine_id and last_execution_id are
-- no foreign keys: executions are deleted when they are no longer kept.
CREATE TABLE schedules (
    id                text COLLATE "C" PRIMARY KEY,
    organization_id   text NOT NULL,
    project_id        text NOT NULL,
    routine_id        text COLLATE "C" NOT NULL,
    -- 0: the newest.
    routine_version   integer NOT NULL,
    -- The values of the runs as JSON with secrets masked; sealed has them whole, encrypted,
    -- and is NULL if there are none.
    parameters        text COMPRESSION lz4 NOT NULL,
    sealed            bytea,
    timeout_seconds   double precision NOT NULL,
    cron              text NOT NULL,
    zone              text NOT NULL,
    enabled           boolean NOT NULL,
    missed            text NOT NULL,
    callback_url      text NOT NULL,
    notify            text NOT NULL,
    -- When a run is due; NULL if the schedule is not enabled. moved_at is when that was set.
    next_at           bigint,
    moved_at          bigint NOT NULL,
    last_at           bigint,
    last_execution_id text COLLATE "C" NOT NULL DEFAULT '',
    -- As JSON.
    last_skip         text,
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL,
    created_by        text NOT NULL,
    -- With whose rights it runs. allowed_hosts is a JSON array.
    runs_as           text NOT NULL,
    token_id          text NOT NULL,
    scopes            text NOT NULL,
    allowed_hosts     text NOT NULL,
    revision          integer NOT NULL DEFAULT 1,
    -- SHA-256 of the data of a completed execution, its id, and whether the data was
    -- another than that before.
    data_hash         bytea,
    data_execution_id text COLLATE "C" NOT NULL DEFAULT '',
    data_changed      boolean NOT NULL DEFAULT false
);
CREATE INDEX schedules_of_organization ON schedules (organization_id, created_at DESC, id DESC);
CREATE INDEX schedules_due ON schedules (next_at) WHERE enabled;

-- The schedule that started the run; empty if none did.
ALTER TABLE executions ADD COLUMN schedule_id text COLLATE "C" NOT NULL DEFAULT '';
-- Which ends of executions are reported; empty: every end.
ALTER TABLE webhooks ADD COLUMN notify text NOT NULL DEFAULT '';
