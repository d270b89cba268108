-- +goose Up

ALTER TABLE executions ADD COLUMN token_id TEXT NOT NULL DEFAULT '';
ALTER TABLE executions ADD COLUMN via TEXT NOT NULL DEFAULT '';
ALTER TABLE executions ADD COLUMN operations_done INTEGER NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN operations_total INTEGER NOT NULL DEFAULT 0;
-- The records so far, as JSON, of an execution that has no result.
ALTER TABLE executions ADD COLUMN operations TEXT;
-- When the process that runs it was asked to end it.
ALTER TABLE executions ADD COLUMN cancel_requested_at INTEGER;
-- A large result is no text in the row but a file beside the database, under
-- its SHA-256; see blobs.go.
ALTER TABLE executions ADD COLUMN result_hash BLOB;
-- Bytes of the result, wherever it is, and of the files.
ALTER TABLE executions ADD COLUMN size INTEGER NOT NULL DEFAULT 0;

-- Each holds every column that its lists filter or order by, as those of
-- routines do.
CREATE INDEX executions_of_organization
    ON executions (organization_id, created_at DESC, id DESC, status, routine_id);
CREATE INDEX executions_of_routine
    ON executions (routine_id, created_at DESC, id DESC, organization_id, status);
CREATE INDEX executions_result_hash ON executions (result_hash)
    WHERE result_hash IS NOT NULL;

CREATE TABLE execution_files (
    execution_id TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size         INTEGER NOT NULL,
    -- Of a large file data is NULL: it is kept as a large result is.
    data         BLOB,
    hash         BLOB,
    CHECK ((data IS NULL) <> (hash IS NULL)),
    PRIMARY KEY (execution_id, name)
) STRICT;
CREATE INDEX execution_files_hash ON execution_files (hash)
    WHERE hash IS NOT NULL;
-- One row for each call that was made with an idempotency key: what it made.
CREATE TABLE idempotency_keys (
    organization_id TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    key             TEXT NOT NULL,
    -- SHA-256 of what was asked for.
    fingerprint     BLOB NOT NULL CHECK (length(fingerprint) = 32),
    -- The routine or execution that came of it.
    made_id         TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_made ON idempotency_keys (made_id);

-- Calls that tell somebody of the end of an execution.
CREATE TABLE webhooks (
    id           TEXT PRIMARY KEY,
    execution_id TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
    url          TEXT NOT NULL,
    -- A JSON array: the hosts that the caller is limited to.
    allowed_hosts TEXT NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    -- When to try next; NULL when it was delivered or given up.
    due_at       INTEGER,
    -- What came of the last attempt.
    outcome      TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX webhooks_due ON webhooks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhooks_of_execution ON webhooks (execution_id);

-- What an organization's receivers know its webhooks by.
CREATE TABLE webhook_secrets (
    organization_id TEXT PRIMARY KEY,
    secret          BLOB NOT NULL
) STRICT;

-- For retention: oldest first, and the bytes of all without reading the rows.
CREATE INDEX executions_by_age ON executions (created_at, id, size, status);
