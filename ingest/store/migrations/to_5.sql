-- From version 4: what a file held before its present content stays.

ALTER TABLE files ADD COLUMN follows INTEGER;
ALTER TABLE files ADD COLUMN lacks VARCHAR;
ALTER TABLE ingest_runs ADD COLUMN sessions_replaced BIGINT;
ALTER TABLE ingest_runs ADD COLUMN sessions_removed BIGINT;
ALTER TABLE ingest_runs ADD COLUMN calls_fewer BIGINT;
