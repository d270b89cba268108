-- +goose Up

-- A version is all of a routine that can change. Until now a routine had one.
ALTER TABLE routine_versions ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('draft', 'active', 'archived'));
UPDATE routine_versions SET status = (SELECT status FROM routines WHERE id = routine_id);

-- The definition of a routine is that of its newest version. Without it the
-- rows are short.
ALTER TABLE routines DROP COLUMN definition;

-- What the words of a search are looked for in, as lists.go writes it.
ALTER TABLE routines ADD COLUMN words TEXT NOT NULL DEFAULT '';

-- A row for each tag of a routine, with all that lists choose by, so that the
-- list of a tag reads nothing else.
CREATE TABLE routine_tags (
    tag                    TEXT NOT NULL,
    id                     TEXT NOT NULL REFERENCES routines (id),
    organization_id        TEXT NOT NULL,
    status                 TEXT NOT NULL,
    is_public              INTEGER NOT NULL,
    is_mcp_tool_designated INTEGER NOT NULL,
    created_at             INTEGER NOT NULL,
    PRIMARY KEY (tag, organization_id, created_at DESC, id DESC)
) STRICT, WITHOUT ROWID;
CREATE INDEX routine_tags_of_routine ON routine_tags (id);
CREATE INDEX routine_tags_public
    ON routine_tags (tag, created_at DESC, id DESC, organization_id, status, is_mcp_tool_designated)
    WHERE is_public = 1;

DROP INDEX routines_of_organization;
DROP INDEX routines_public;
-- Each holds every column that its lists choose or order by, but for words, so
-- that counting the matches and skipping to a page never read the rows.
CREATE INDEX routines_of_organization
    ON routines (organization_id, created_at DESC, id DESC, status, is_mcp_tool_designated, is_public);
CREATE INDEX routines_public
    ON routines (created_at DESC, id DESC, organization_id, status, is_mcp_tool_designated)
    WHERE is_public = 1;
