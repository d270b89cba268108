-- +goose Up

-- When a call was queued, in microseconds since the epoch, by the clock of the database:
-- those of the servers may differ. The default is also for servers of earlier versions. It
-- is set apart from the column, so that the table is not written anew.
ALTER TABLE execution_calls ADD COLUMN queued_at bigint;
ALTER TABLE execution_calls ALTER COLUMN queued_at SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
UPDATE execution_calls SET queued_at = DEFAULT;
