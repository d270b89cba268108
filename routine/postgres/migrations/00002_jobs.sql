-- +goose Up

-- Until when each repeated job is claimed, so that one of all processes does it.
CREATE TABLE repeated_jobs (
    kind          text PRIMARY KEY,
    claimed_until bigint NOT NULL
);
