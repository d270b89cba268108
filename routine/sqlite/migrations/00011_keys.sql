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

-- Keys of runs that were started with a token go to its project and reach, keys
-- of routines to the routine's project. Of other runs the project is not known:
-- their keys are dropped, so the same call starts a new run.
INSERT INTO idempotency_keys_new
SELECT k.organization_id, k.user_id, t.project_id,
    coalesce((SELECT group_concat(host, ' ' ORDER BY host) FROM (SELECT DISTINCT lower(value) AS host FROM json_each(t.allowed_hosts))), ''),
    k.key, k.fingerprint, k.made_id, k.created_at
FROM idempotency_keys k JOIN executions e ON e.id = k.made_id JOIN tokens t ON t.id = e.token_id;
INSERT INTO idempotency_keys_new
SELECT k.organization_id, k.user_id, r.project_id, '', k.key, k.fingerprint, k.made_id, k.created_at
FROM idempotency_keys k JOIN routines r ON r.id = k.made_id;
DROP TABLE idempotency_keys;
ALTER TABLE idempotency_keys_new RENAME TO idempotency_keys;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_made ON idempotency_keys (made_id);
