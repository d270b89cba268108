-- +goose Up

-- One-time codes that sites have sent to people, for the runs that wait for them. key_id is the
-- state key with which the code is encrypted.
CREATE TABLE secret_codes (
    id              text COLLATE "C" PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    project_id      text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL,
    expires_at      bigint NOT NULL,
    sealed          bytea NOT NULL,
    key_id          text COLLATE "C" NOT NULL REFERENCES key_ring (id),
    FOREIGN KEY (organization_id, project_id, name) REFERENCES secrets (organization_id, project_id, name) ON DELETE CASCADE
);
CREATE INDEX secret_codes_of_secret ON secret_codes (organization_id, project_id, name, expires_at);
CREATE INDEX secret_codes_of_key ON secret_codes (key_id);
