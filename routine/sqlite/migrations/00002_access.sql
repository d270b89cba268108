-- +goose Up

-- Tokens made before there were scopes could do all that there was to do.
ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL
    DEFAULT 'routines:read routines:write executions:run executions:read';
-- A JSON array of texts.
ALTER TABLE tokens ADD COLUMN allowed_hosts TEXT NOT NULL DEFAULT '[]';
ALTER TABLE tokens ADD COLUMN last_used_at INTEGER;
