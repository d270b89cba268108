-- +goose Up

-- Times of a routine are Unix seconds, as routine.Routine has them; every other
-- time is in microseconds since the Unix epoch. Booleans are 0 and 1.

CREATE TABLE routines (
    id                     TEXT PRIMARY KEY,
    organization_id        TEXT NOT NULL,
    project_id             TEXT NOT NULL,
    created_by             TEXT NOT NULL,
    tool_name              TEXT NOT NULL,
    status                 TEXT NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    version                INTEGER NOT NULL,
    -- Copies of two fields of the definition, for the filters of a list.
    is_public              INTEGER NOT NULL,
    is_mcp_tool_designated INTEGER NOT NULL,
    created_at             INTEGER NOT NULL,
    updated_at             INTEGER NOT NULL,
    definition             TEXT NOT NULL,
    UNIQUE (organization_id, tool_name)
) STRICT;

-- Each holds every column that its lists filter or order by, so that counting
-- the matches and skipping to a page never read the rows with their definitions.
CREATE INDEX routines_of_organization
    ON routines (organization_id, created_at DESC, id DESC, status)
    WHERE status <> 'archived';
CREATE INDEX routines_published
    ON routines (organization_id, created_at DESC, id DESC)
    WHERE status = 'active' AND is_mcp_tool_designated = 1;
CREATE INDEX routines_public
    ON routines (created_at DESC, id DESC, organization_id, status, is_mcp_tool_designated)
    WHERE is_public = 1 AND status <> 'archived';

CREATE TABLE routine_versions (
    routine_id TEXT NOT NULL REFERENCES routines (id),
    version    INTEGER NOT NULL,
    definition TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (routine_id, version)
) STRICT;

CREATE TABLE tokens (
    id              TEXT PRIMARY KEY,
    hash            BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    user_id         TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    revoked_at      INTEGER
) STRICT;

-- routine_id is no foreign key: the ledger also keeps runs of routines that
-- were never saved.
CREATE TABLE executions (
    id               TEXT PRIMARY KEY,
    routine_id       TEXT NOT NULL,
    routine_name     TEXT NOT NULL,
    routine_version  INTEGER NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    result           TEXT,
    error            TEXT,
    error_code       TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    completed_at     INTEGER,
    duration_seconds REAL,
    parameters       TEXT,
    created_by       TEXT NOT NULL,
    organization_id  TEXT NOT NULL,
    -- The Store instance that created the row; see owners.go.
    owner            TEXT NOT NULL
) STRICT;

-- Few executions are open at a time, however long the ledger grows.
CREATE INDEX executions_open ON executions (owner)
    WHERE status IN ('pending', 'running');
