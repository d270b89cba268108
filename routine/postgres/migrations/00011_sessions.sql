-- +goose Up

-- Saved logins. hosts is a JSON array, login is JSON, max_age is in microseconds. key_id is the
-- data key with which the state is encrypted; both are NULL if there is none.
CREATE TABLE sessions (
    organization_id text NOT NULL,
    project_id      text NOT NULL,
    name            text COLLATE "C" NOT NULL,
    hosts           text NOT NULL,
    mode            text NOT NULL CHECK (mode IN ('shared', 'exclusive')),
    readable        boolean NOT NULL,
    condition       text NOT NULL CHECK (condition IN ('empty', 'fresh', 'stale', 'failed')),
    login           text,
    failures        integer NOT NULL,
    reason          bytea NOT NULL,
    max_age         bigint NOT NULL,
    user_agent      bytea NOT NULL,
    logged_in_at    bigint,
    saved_at        bigint,
    expires_at      bigint,
    generation      integer NOT NULL,
    sealed          bytea,
    key_id          text COLLATE "C" REFERENCES data_keys (id),
    PRIMARY KEY (organization_id, project_id, name),
    CHECK ((sealed IS NULL) = (key_id IS NULL))
);
CREATE INDEX sessions_of_key ON sessions (key_id);

-- The executions that use a session alone. A lease counts while its execution is open.
CREATE TABLE session_leases (
    organization_id text NOT NULL,
    project_id      text NOT NULL,
    name            text COLLATE "C" NOT NULL,
    purpose         text NOT NULL CHECK (purpose IN ('run', 'login')),
    execution_id    text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, project_id, name, purpose),
    FOREIGN KEY (organization_id, project_id, name) REFERENCES sessions (organization_id, project_id, name) ON DELETE CASCADE
);
