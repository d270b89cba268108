-- +goose Up

-- The name of a routine's newest version, so that a routine can be found by it.
ALTER TABLE routines ADD COLUMN name TEXT NOT NULL DEFAULT '';
UPDATE routines SET name = (
    SELECT coalesce(json_extract(definition, '$.name'), '') FROM routine_versions v
    WHERE v.routine_id = routines.id AND v.version = routines.version);
CREATE INDEX routines_of_name ON routines (organization_id, name, created_at DESC, id DESC);
