-- +goose Up

-- An idempotency key belongs to a user in a project, and to tokens of one reach:
-- what a call made in another project, or with other hosts, is another answer.
CREATE TABLE idempotency_keys_new (
    organization_id TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    project_id      TEXT NOT NULL,
    -- The hosts that the token is limited to, sorted, separated by blanks; empty:
    -- it is not limited.
    reach           TEXT NOT NULL,
    key             TEXT NOT NULL,
    -- SHA-256 of what was asked for.
    fingerprint     BLOB NOT NULL CHECK (length(fingerprint) = 32),
    -- The routine or execution that came of it.
    made_id         TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id, project_id, reach, key)
) STRICT, WITHOUT ROWID;

-- The reach of each token, written as in the new table.
CREATE TEMPORARY TABLE token_reaches AS
SELECT id, organization_id, user_id, project_id,
    coalesce((SELECT group_concat(host, ' ' ORDER BY host) FROM (SELECT DISTINCT lower(value) AS host FROM json_each(allowed_hosts))), '') AS reach
FROM tokens;
-- Keys of runs that were started with a token go to its project and reach.
INSERT INTO idempotency_keys_new
SELECT k.organization_id, k.user_id, t.project_id, t.reach, k.key, k.fingerprint, k.made_id, k.created_at
FROM idempotency_keys k JOIN executions e ON e.id = k.made_id JOIN token_reaches t ON t.id = e.token_id;
-- Runs that were started without one are those of the administrator, whose
-- project is "default", and of calls with --auth off, which have no limited reach.
-- The project of the latter is taken to be that of the routine. The keys of runs
-- whose token or routine is gone are dropped, as nothing tells their place.
INSERT INTO idempotency_keys_new
SELECT k.organization_id, k.user_id, CASE WHEN k.user_id = 'admin' AND k.organization_id = 'default' THEN 'default' ELSE r.project_id END,
    '', k.key, k.fingerprint, k.made_id, k.created_at
FROM idempotency_keys k JOIN executions e ON e.id = k.made_id JOIN routines r ON r.id = e.routine_id
WHERE e.token_id = '';
-- Keys of routines go to the routine's project. Which token created a routine is
-- not known, so they go to the reach of each token that may have. A routine is
-- the same whatever its creator's runs reach.
INSERT INTO idempotency_keys_new
SELECT k.organization_id, k.user_id, r.project_id, '', k.key, k.fingerprint, k.made_id, k.created_at
FROM idempotency_keys k JOIN routines r ON r.id = k.made_id;
INSERT OR IGNORE INTO idempotency_keys_new
SELECT k.organization_id, k.user_id, r.project_id, t.reach, k.key, k.fingerprint, k.made_id, k.created_at
FROM idempotency_keys k JOIN routines r ON r.id = k.made_id JOIN token_reaches t
    ON t.organization_id = k.organization_id AND t.user_id = k.user_id AND t.project_id = r.project_id;
DROP TABLE token_reaches;
DROP TABLE idempotency_keys;
ALTER TABLE idempotency_keys_new RENAME TO idempotency_keys;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_made ON idempotency_keys (made_id);
