-- +goose Up

-- The ids of the state keys with which something may be encrypted.
CREATE TABLE key_ring (
    id         text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL
);

-- The keys with which the secrets of organizations are encrypted, each encrypted with a state
-- key. The one of an organization that is not retired encrypts.
CREATE TABLE data_keys (
    id              text COLLATE "C" PRIMARY KEY,
    organization_id text NOT NULL,
    wrapped         bytea NOT NULL,
    state_key_id    text COLLATE "C" NOT NULL REFERENCES key_ring (id),
    created_at      bigint NOT NULL,
    retired_at      bigint
);
CREATE UNIQUE INDEX data_keys_in_use ON data_keys (organization_id) WHERE retired_at IS NULL;
CREATE INDEX data_keys_of_state_key ON data_keys (state_key_id);

-- project_id is empty for secrets of all projects of the organization. hosts and routines are
-- JSON arrays.
CREATE TABLE secrets (
    organization_id text NOT NULL,
    project_id      text NOT NULL,
    name            text COLLATE "C" NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('value', 'login')),
    hosts           text NOT NULL,
    field_rule      text NOT NULL CHECK (field_rule IN ('password', 'any', 'none')),
    requests        boolean NOT NULL,
    confine         boolean NOT NULL,
    routines        text NOT NULL,
    description     bytea NOT NULL,
    version         integer NOT NULL,
    created_at      bigint NOT NULL,
    created_by      text NOT NULL,
    updated_at      bigint NOT NULL,
    updated_by      text NOT NULL,
    PRIMARY KEY (organization_id, project_id, name)
);

-- A field has either an encrypted value or a reference to a provider. last_step is the time
-- step of the last one-time code that was used.
CREATE TABLE secret_fields (
    organization_id text NOT NULL,
    project_id      text NOT NULL,
    name            text COLLATE "C" NOT NULL,
    field           text COLLATE "C" NOT NULL,
    is_totp         boolean NOT NULL,
    sealed          bytea,
    key_id          text COLLATE "C" REFERENCES data_keys (id),
    reference       bytea NOT NULL,
    last_step       bigint,
    PRIMARY KEY (organization_id, project_id, name, field),
    FOREIGN KEY (organization_id, project_id, name) REFERENCES secrets (organization_id, project_id, name) ON DELETE CASCADE,
    CHECK ((sealed IS NULL) = (key_id IS NULL) AND (sealed IS NULL) <> (length(reference) = 0))
);
CREATE INDEX secret_fields_of_key ON secret_fields (key_id);

-- How secrets were used, refused and changed. It never has a value.
CREATE TABLE secret_uses (
    id              text COLLATE "C" PRIMARY KEY,
    at              bigint NOT NULL,
    organization_id text NOT NULL,
    project_id      text NOT NULL,
    what            text NOT NULL,
    name            text COLLATE "C" NOT NULL,
    field           text COLLATE "C" NOT NULL,
    outcome         text NOT NULL,
    host            bytea NOT NULL,
    reason          bytea NOT NULL,
    execution_id    text COLLATE "C" NOT NULL,
    routine_id      text COLLATE "C" NOT NULL,
    routine_version integer NOT NULL,
    operation       integer NOT NULL,
    user_id         text NOT NULL,
    token_id        text NOT NULL,
    via             text NOT NULL
);
CREATE INDEX secret_uses_of_secret ON secret_uses (organization_id, project_id, name, at DESC, id DESC);
CREATE INDEX secret_uses_by_age ON secret_uses (at);
