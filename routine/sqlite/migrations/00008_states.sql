-- +goose Up

-- The browser state that a project's runs start from, encrypted; see seal.go.
CREATE TABLE project_states (
    organization_id TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    sealed          BLOB NOT NULL,
    saved_at        INTEGER NOT NULL,
    PRIMARY KEY (organization_id, project_id)
) STRICT;
