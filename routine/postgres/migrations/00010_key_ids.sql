-- +goose Up

-- The state key with which a row is encrypted; NULL in rows of earlier versions and of servers
-- of those.
ALTER TABLE project_states ADD COLUMN key_id text COLLATE "C" REFERENCES key_ring (id);
ALTER TABLE execution_calls ADD COLUMN key_id text COLLATE "C" REFERENCES key_ring (id);
ALTER TABLE schedules ADD COLUMN key_id text COLLATE "C" REFERENCES key_ring (id);
-- State keys that were removed, and with which nothing may be encrypted any more.
CREATE TABLE removed_keys (
    id         text COLLATE "C" PRIMARY KEY,
    removed_at bigint NOT NULL
);
