-- +goose Up

-- Times of a routine are Unix seconds, as routine.Routine has them; every other time is
-- in microseconds since the Unix epoch. Texts of users and pages that may hold NUL,
-- which text refuses, are bytea. JSON is text: jsonb refuses escaped NUL and lone
-- surrogates. Ids are UUIDs of version 7, and their order is that of their bytes.

-- The oldest schema that a program must know to use this one, so that a program and its
-- successor can run side by side while the schema is that of the successor.
CREATE TABLE compatibility (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    min_schema bigint NOT NULL
);
INSERT INTO compatibility (min_schema) VALUES (1);

CREATE TABLE routines (
    id                     text COLLATE "C" PRIMARY KEY,
    organization_id        text NOT NULL,
    project_id             text NOT NULL,
    created_by             text NOT NULL,
    tool_name              text NOT NULL,
    status                 text NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    version                integer NOT NULL,
    -- Copies of fields of the definition, for the filters of a list.
    name                   bytea NOT NULL,
    is_public              boolean NOT NULL,
    is_mcp_tool_designated boolean NOT NULL,
    created_at             bigint NOT NULL,
    updated_at             bigint NOT NULL,
    -- The text in which the words of a search are looked for.
    words                  bytea NOT NULL,
    UNIQUE (organization_id, tool_name)
);
-- Each index holds every column by which its lists choose or order, except words.
CREATE INDEX routines_of_organization
    ON routines (organization_id, created_at DESC, id DESC) INCLUDE (status, is_mcp_tool_designated, is_public);
CREATE INDEX routines_published ON routines (organization_id, created_at DESC, id DESC)
    WHERE status = 'active' AND is_mcp_tool_designated;
CREATE INDEX routines_public
    ON routines (created_at DESC, id DESC) INCLUDE (organization_id, status, is_mcp_tool_designated) WHERE is_public;
CREATE INDEX routines_of_name ON routines (organization_id, name, created_at DESC, id DESC);

CREATE TABLE routine_versions (
    routine_id text COLLATE "C" NOT NULL REFERENCES routines (id),
    version    integer NOT NULL,
    status     text NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    definition text COMPRESSION lz4 NOT NULL,
    created_at bigint NOT NULL,
    created_by text NOT NULL,
    PRIMARY KEY (routine_id, version)
);

-- A row for each tag of a routine, with all by which lists choose.
CREATE TABLE routine_tags (
    tag                    bytea NOT NULL,
    id                     text COLLATE "C" NOT NULL REFERENCES routines (id),
    organization_id        text NOT NULL,
    status                 text NOT NULL,
    is_public              boolean NOT NULL,
    is_mcp_tool_designated boolean NOT NULL,
    created_at             bigint NOT NULL,
    PRIMARY KEY (tag, organization_id, created_at, id)
);
CREATE INDEX routine_tags_of_routine ON routine_tags (id);
CREATE INDEX routine_tags_public ON routine_tags (tag, created_at DESC, id DESC)
    INCLUDE (organization_id, status, is_mcp_tool_designated) WHERE is_public;

CREATE TABLE tokens (
    id              text COLLATE "C" PRIMARY KEY,
    hash            bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    user_id         text NOT NULL,
    organization_id text NOT NULL,
    project_id      text NOT NULL,
    scopes          text NOT NULL,
    -- A JSON array of texts.
    allowed_hosts   text NOT NULL,
    created_at      bigint NOT NULL,
    expires_at      bigint,
    revoked_at      bigint,
    last_used_at    bigint
);

-- The processes that run executions. Each adds 1 to its beat every few seconds; see
-- owners.go.
CREATE TABLE owners (
    id         text COLLATE "C" PRIMARY KEY,
    beat       bigint NOT NULL DEFAULT 0,
    host       text NOT NULL,
    started_at bigint NOT NULL
);

-- routine_id is no foreign key: the ledger also keeps runs of definitions that were
-- never saved.
CREATE TABLE executions (
    id                  text COLLATE "C" PRIMARY KEY,
    routine_id          text COLLATE "C" NOT NULL,
    routine_name        bytea NOT NULL,
    routine_version     integer NOT NULL,
    status              text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    result              text COMPRESSION lz4,
    error               bytea,
    error_code          text NOT NULL,
    created_at          bigint NOT NULL,
    started_at          bigint,
    completed_at        bigint,
    duration_seconds    double precision,
    parameters          text COMPRESSION lz4,
    created_by          text NOT NULL,
    token_id            text NOT NULL,
    via                 text NOT NULL,
    operations_done     integer NOT NULL,
    operations_total    integer NOT NULL,
    -- The records so far, of an execution that has no result.
    operations          text COMPRESSION lz4,
    evidence            text COMPRESSION lz4,
    cancel_requested_at bigint,
    -- Bytes of the result, the parameters, the evidence and the files.
    size                bigint NOT NULL,
    organization_id     text NOT NULL,
    -- The owner that runs it.
    owner               text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX executions_open ON executions (owner) WHERE status IN ('pending', 'running');
CREATE INDEX executions_of_organization
    ON executions (organization_id, created_at DESC, id DESC) INCLUDE (status, routine_id);
CREATE INDEX executions_of_routine
    ON executions (routine_id, created_at DESC, id DESC) INCLUDE (organization_id, status);
CREATE INDEX executions_by_age ON executions (created_at, id) INCLUDE (size, status);

CREATE TABLE execution_files (
    execution_id text COLLATE "C" NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    name         bytea NOT NULL,
    content_type bytea NOT NULL,
    size         bigint NOT NULL,
    data         bytea NOT NULL,
    PRIMARY KEY (execution_id, name)
);
-- Most files are compressed already.
ALTER TABLE execution_files ALTER COLUMN data SET STORAGE EXTERNAL;

-- One row for each call with an idempotency key.
CREATE TABLE idempotency_keys (
    organization_id text NOT NULL,
    user_id         text NOT NULL,
    project_id      text NOT NULL,
    -- SHA-256 of the list of hosts to which the token is limited, which may be longer than
    -- an entry of an index.
    reach           bytea NOT NULL CHECK (length(reach) = 32),
    key             bytea NOT NULL,
    -- SHA-256 of the call.
    fingerprint     bytea NOT NULL CHECK (length(fingerprint) = 32),
    -- The routine or execution that the call created.
    made_id         text COLLATE "C" NOT NULL,
    created_at      bigint NOT NULL,
    PRIMARY KEY (organization_id, user_id, project_id, reach, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_made ON idempotency_keys (made_id);

CREATE TABLE webhooks (
    id              text COLLATE "C" PRIMARY KEY,
    execution_id    text COLLATE "C" NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    organization_id text NOT NULL,
    host            text NOT NULL,
    url             text NOT NULL,
    -- A JSON array: the hosts to which the caller is limited.
    allowed_hosts   text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    -- When to try next; NULL when it was delivered or given up.
    due_at          bigint,
    -- The outcome of the last attempt.
    outcome         bytea NOT NULL DEFAULT ''
);
CREATE INDEX webhooks_due ON webhooks (organization_id, host, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhooks_of_execution ON webhooks (execution_id);

-- The secret with which the webhooks of an organization are signed.
CREATE TABLE webhook_secrets (
    organization_id text PRIMARY KEY,
    secret          bytea NOT NULL
);

-- The browser state from which the runs of a project start, encrypted.
CREATE TABLE project_states (
    organization_id text NOT NULL,
    project_id      text NOT NULL,
    sealed          bytea NOT NULL,
    saved_at        bigint NOT NULL,
    PRIMARY KEY (organization_id, project_id)
);

-- The id of the key with which states are encrypted. A program with another key is
-- refused.
CREATE TABLE state_key (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    key_id     text NOT NULL,
    created_at bigint NOT NULL
);

-- How often routines and tokens have changed, for processes that cache them. Triggers
-- count, so that no statement can forget it.
CREATE TABLE changes (
    what  text PRIMARY KEY,
    count bigint NOT NULL
);
INSERT INTO changes (what, count) VALUES ('routines', 0), ('tokens', 0);

-- +goose StatementBegin
CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE changes SET count = count + 1 WHERE what = TG_ARGV[0];
    PERFORM pg_notify('rote_changes', TG_ARGV[0]);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER routines_changed AFTER INSERT OR UPDATE ON routines
    FOR EACH STATEMENT EXECUTE FUNCTION count_change('routines');
-- A new token needs no count: nobody has cached it. Its use is no change.
CREATE TRIGGER tokens_changed AFTER UPDATE OF revoked_at ON tokens
    FOR EACH STATEMENT EXECUTE FUNCTION count_change('tokens');
