-- +goose Up

-- The ids of the state keys with which something may be encrypted.
CREATE TABLE key_ring (
    id         TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT;

-- The keys with which the secrets of organizations are encrypted, each encrypted with a state
-- key. The one of an organization that is not retired encrypts.
CREATE TABLE data_keys (
    id              TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    wrapped         BLOB NOT NULL,
    state_key_id    TEXT NOT NULL REFERENCES key_ring (id),
    created_at      INTEGER NOT NULL,
    retired_at      INTEGER
) STRICT;
CREATE UNIQUE INDEX data_keys_in_use ON data_keys (organization_id) WHERE retired_at IS NULL;
CREATE INDEX data_keys_of_state_key ON data_keys (state_key_id);

-- project_id is empty for secrets of all projects of the organization. hosts and routines are
-- JSON arrays.
CREATE TABLE secrets (
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    name            TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('value', 'login')),
    hosts           TEXT NOT NULL,
    field_rule      TEXT NOT NULL CHECK (field_rule IN ('password', 'any', 'none')),
    requests        INTEGER NOT NULL,
    confine         INTEGER NOT NULL,
    routines        TEXT NOT NULL,
    description     TEXT NOT NULL,
    version         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    created_by      TEXT NOT NULL,
    updated_at      INTEGER NOT NULL,
    updated_by      TEXT NOT NULL,
    PRIMARY KEY (organization_id, project_id, name)
) STRICT;

-- A field has either an encrypted value or a reference to a provider. last_step is the time
-- step of the last one-time code that was used.
CREATE TABLE secret_fields (
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    name            TEXT NOT NULL,
    field           TEXT NOT NULL,
    is_totp         INTEGER NOT NULL,
    sealed          BLOB,
    key_id          TEXT REFERENCES data_keys (id),
    reference       TEXT NOT NULL,
    last_step       INTEGER,
    PRIMARY KEY (organization_id, project_id, name, field),
    FOREIGN KEY (organization_id, project_id, name) REFERENCES secrets (organization_id, project_id, name) ON DELETE CASCADE,
    CHECK ((sealed IS NULL) = (key_id IS NULL) AND (sealed IS NULL) <> (reference = ''))
) STRICT;
CREATE INDEX secret_fields_of_key ON secret_fields (key_id);

-- How secrets were used, refused and changed. It never has a value.
CREATE TABLE secret_uses (
    id              TEXT PRIMARY KEY,
    at              INTEGER NOT NULL,
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    what            TEXT NOT NULL,
    name            TEXT NOT NULL,
    field           TEXT NOT NULL,
    outcome         TEXT NOT NULL,
    host            TEXT NOT NULL,
    reason          TEXT NOT NULL,
    execution_id    TEXT NOT NULL,
    routine_id      TEXT NOT NULL,
    routine_version INTEGER NOT NULL,
    operation       INTEGER NOT NULL,
    user_id         TEXT NOT NULL,
    token_id        TEXT NOT NULL,
    via             TEXT NOT NULL
) STRICT;
CREATE INDEX secret_uses_of_secret ON secret_uses (organization_id, project_id, name, at DESC, id DESC);
CREATE INDEX secret_uses_by_age ON secret_uses (at);
