-- From version 8. Rows may be in segment files next to the main file.

CREATE TABLE segments (
    number INTEGER, name VARCHAR, size_bytes BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT,
    first_day DATE, last_day DATE, has_deleted BOOLEAN, model_names VARCHAR[], month DATE, ids_by VARCHAR
);

-- Arguments that equal raw_arguments are no longer stored twice. DuckDB cannot change a column into a generated column, so the
-- table is created again.
ALTER TABLE tool_calls RENAME TO earlier_calls;

CREATE TABLE tool_calls (
    call_id VARCHAR, session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    ts TIMESTAMP, day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, model_name VARCHAR, model_source VARCHAR,
    prompt_id VARCHAR, trial_run VARCHAR, arm VARCHAR,
    tool VARCHAR, tool_sent VARCHAR, tool_call_id VARCHAR, strategy VARCHAR,
    definition_id VARCHAR, definition_origin VARCHAR, tools_offered BOOLEAN,
    raw_arguments VARCHAR USING COMPRESSION zstd, args_source VARCHAR,
    own_arguments VARCHAR USING COMPRESSION zstd, as_sent BOOLEAN,
    arguments VARCHAR GENERATED ALWAYS AS (if(as_sent, raw_arguments, own_arguments)),
    arguments_depth INTEGER, rejected VARCHAR,
    outcome VARCHAR, syntax_seen VARCHAR, schema_seen VARCHAR,
    parse_error VARCHAR, parse_warning VARCHAR, worst_severity VARCHAR, lossy BOOLEAN,
    harness_verdict VARCHAR, harness_message VARCHAR, refused_by_harness VARCHAR,
    syntax_told VARCHAR, schema_told VARCHAR,
    fault_layer VARCHAR, signature_id VARCHAR, result_fault_layer VARCHAR, result_file_id INTEGER,
    result_status VARCHAR, error_flag_source VARCHAR,
    result_text VARCHAR USING COMPRESSION zstd, result_bytes BIGINT, simulated VARCHAR,
    chain_id VARCHAR, attempt INTEGER, retry_of VARCHAR, retry_kind VARCHAR, chain_outcome VARCHAR,
    input_tokens BIGINT, cached_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT,
    latency_ms DOUBLE, model_latency_ms DOUBLE,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, parser_version VARCHAR, duplicate BOOLEAN,
    text_removed BOOLEAN, raw_bytes BIGINT, raw_chars BIGINT
);

INSERT INTO tool_calls BY NAME
SELECT
    * EXCLUDE (arguments),
    if(arguments = raw_arguments, NULL, arguments) AS own_arguments, coalesce(arguments = raw_arguments, false) AS as_sent
FROM earlier_calls;

DROP TABLE earlier_calls;
-- Sums of whole microseconds are exact in any order, so a load can add and subtract.
ALTER TABLE daily_turns RENAME ms TO us;
ALTER TABLE daily_turns ALTER us TYPE BIGINT USING coalesce(TRY_CAST(round(us * 1000) AS BIGINT), 0);
ALTER TABLE daily_chains RENAME ms TO us;
ALTER TABLE daily_chains ALTER us TYPE BIGINT USING coalesce(TRY_CAST(round(us * 1000) AS BIGINT), 0);
-- If the rows of a day were deleted, the time of the example is unknown, except for its day.
ALTER TABLE daily_errors ADD COLUMN example_ts TIMESTAMP;
UPDATE daily_errors SET example_ts = coalesce(day, DATE '0001-01-01');
ALTER TABLE daily_parameters ADD COLUMN example_ts TIMESTAMP;
UPDATE daily_parameters SET example_ts = coalesce(day, DATE '0001-01-01');
