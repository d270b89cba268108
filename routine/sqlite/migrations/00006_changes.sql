-- +goose Up

-- How often routines and tokens have changed, for those who keep copies of them.
-- Triggers count, so that no statement can forget to.
CREATE TABLE changes (
    what  TEXT PRIMARY KEY,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO changes (what, count) VALUES ('routines', 0), ('tokens', 0);

-- +goose StatementBegin
CREATE TRIGGER routine_created AFTER INSERT ON routines BEGIN
    UPDATE changes SET count = count + 1 WHERE what = 'routines';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER routine_changed AFTER UPDATE ON routines BEGIN
    UPDATE changes SET count = count + 1 WHERE what = 'routines';
END;
-- +goose StatementEnd
-- A new token needs no count: nobody has a copy of it. That one was used is no
-- change.
-- +goose StatementBegin
CREATE TRIGGER token_changed AFTER UPDATE OF revoked_at ON tokens BEGIN
    UPDATE changes SET count = count + 1 WHERE what = 'tokens';
END;
-- +goose StatementEnd
