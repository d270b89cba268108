-- +goose Up

-- The state key with which a row is encrypted; NULL in rows of earlier versions.
ALTER TABLE project_states ADD COLUMN key_id TEXT REFERENCES key_ring (id);
ALTER TABLE execution_calls ADD COLUMN key_id TEXT REFERENCES key_ring (id);
ALTER TABLE schedules ADD COLUMN key_id TEXT REFERENCES key_ring (id);
-- State keys that were removed, and with which nothing may be encrypted any more.
CREATE TABLE removed_keys (
    id         TEXT PRIMARY KEY,
    removed_at INTEGER NOT NULL
) STRICT;
