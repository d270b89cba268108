-- +goose Up

-- What the page was like when an operation failed, as JSON.
ALTER TABLE executions ADD COLUMN evidence TEXT;
