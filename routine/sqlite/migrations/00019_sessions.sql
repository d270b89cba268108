-- +goose Up

-- Saved logins. hosts is a JSON array, login is JSON, max_age is in microseconds. key_id is the
-- data key with which the state is encrypted; both are NULL if there is none.
CREATE TABLE sessions (
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    name            TEXT NOT NULL,
    hosts           TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('shared', 'exclusive')),
    readable        INTEGER NOT NULL,
    condition       TEXT NOT NULL CHECK (condition IN ('empty', 'fresh', 'stale', 'failed')),
    login           TEXT,
    failures        INTEGER NOT NULL,
    reason          TEXT NOT NULL,
    max_age         INTEGER NOT NULL,
    user_agent      TEXT NOT NULL,
    logged_in_at    INTEGER,
    saved_at        INTEGER,
    expires_at      INTEGER,
    generation      INTEGER NOT NULL,
    sealed          BLOB,
    key_id          TEXT REFERENCES data_keys (id),
    PRIMARY KEY (organization_id, project_id, name),
    CHECK ((sealed IS NULL) = (key_id IS NULL))
) STRICT;
CREATE INDEX sessions_of_key ON sessions (key_id);

-- The executions that use a session alone. A lease counts while its execution is open.
CREATE TABLE session_leases (
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    name            TEXT NOT NULL,
    purpose         TEXT NOT NULL CHECK (purpose IN ('run', 'login')),
    execution_id    TEXT NOT NULL,
    PRIMARY KEY (organization_id, project_id, name, purpose),
    FOREIGN KEY (organization_id, project_id, name) REFERENCES sessions (organization_id, project_id, name) ON DELETE CASCADE
) STRICT;
