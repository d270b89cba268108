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
