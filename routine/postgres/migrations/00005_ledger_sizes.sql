-- +goose Up

-- The bytes of all executions that were created in one hour since the epoch. An hour
-- without a row is added up when it is needed; see retention.go.
CREATE TABLE ledger_sizes (
    hour  bigint PRIMARY KEY,
    bytes bigint NOT NULL
);
