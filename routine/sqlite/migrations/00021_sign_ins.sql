-- +goose Up

-- The sign-ins of the web console. hash is that of the secret in the browser, token_hash that of
-- the service token, which may be the configured one and is then not in tokens.
CREATE TABLE sign_ins (
    hash         BLOB PRIMARY KEY CHECK (length(hash) = 32),
    token_hash   BLOB NOT NULL CHECK (length(token_hash) = 32),
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_of_organization ON tokens (organization_id, created_at, id);
