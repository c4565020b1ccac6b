-- From version 9: stages that could not be seen are not measured, and turn success is one rate. See old_sums.sql.

ALTER TABLE daily_calls ADD COLUMN mended BIGINT;
ALTER TABLE daily_calls ADD COLUMN parse_errors BIGINT;
ALTER TABLE daily_calls ADD COLUMN schema_errors BIGINT;
ALTER TABLE daily_turns ADD COLUMN success_known BIGINT;
ALTER TABLE daily_turns ADD COLUMN succeeded BIGINT;
