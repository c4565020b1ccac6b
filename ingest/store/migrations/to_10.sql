-- From version 9. Stages that were not visible count as not measured, and turn success is one rate (old_sums.sql). The load
-- decides the alerts and stores them.

ALTER TABLE daily_calls ADD COLUMN mended BIGINT;
ALTER TABLE daily_calls ADD COLUMN parse_errors BIGINT;
ALTER TABLE daily_calls ADD COLUMN schema_errors BIGINT;
ALTER TABLE daily_turns ADD COLUMN success_known BIGINT;
ALTER TABLE daily_turns ADD COLUMN succeeded BIGINT;

CREATE TABLE alerts (
    alert_key VARCHAR, dimension VARCHAR, name VARCHAR, second_dimension VARCHAR, second_name VARCHAR, rate VARCHAR,
    since DATE, found DATE, back DATE, closed DATE, rose BOOLEAN,
    k_now BIGINT, n_now BIGINT, low_now DOUBLE, high_now DOUBLE, k_before BIGINT, n_before BIGINT,
    difference DOUBLE, low DOUBLE, high DOUBLE, q DOUBLE, first_before DATE, last_before DATE, part_of VARCHAR,
    where_dimension VARCHAR, where_value VARCHAR, where_kind VARCHAR
);

CREATE TABLE alert_night (
    night DATE, series INTEGER, tests INTEGER, in_a_night DOUBLE, in_a_week DOUBLE, made_of VARCHAR
);

