-- From version 8: facts may stand in files beside the generation.

CREATE TABLE segments (
    number INTEGER, name VARCHAR, size_bytes BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT,
    first_day DATE, last_day DATE
);

CREATE TABLE superseded (segment INTEGER, fact VARCHAR, row_id BIGINT);

-- Sums of whole microseconds are exact in any order, so that a load can add and take away.
ALTER TABLE daily_turns RENAME ms TO us;
ALTER TABLE daily_turns ALTER us TYPE BIGINT USING coalesce(TRY_CAST(round(us * 1000) AS BIGINT), 0);
ALTER TABLE daily_chains RENAME ms TO us;
ALTER TABLE daily_chains ALTER us TYPE BIGINT USING coalesce(TRY_CAST(round(us * 1000) AS BIGINT), 0);
ALTER TABLE daily_errors ADD COLUMN example_ts TIMESTAMP;
ALTER TABLE daily_parameters ADD COLUMN example_ts TIMESTAMP;
