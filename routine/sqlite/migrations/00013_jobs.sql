-- +goose Up

-- Until when each repeated job is claimed, so that one of all processes does it.
CREATE TABLE repeated_jobs (
    kind          TEXT PRIMARY KEY,
    claimed_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
