CREATE TABLE store_info (schema_version INTEGER, parser_version VARCHAR, created_at TIMESTAMP);

CREATE TABLE ingest_runs (
    run_id INTEGER, started_at TIMESTAMP, finished_at TIMESTAMP, callgauge_version VARCHAR, parser_version VARCHAR,
    files_loaded INTEGER, files_unchanged INTEGER, files_rejected INTEGER,
    bytes BIGINT, lines BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT
);

CREATE TABLE files (
    file_id INTEGER, run_id INTEGER, path VARCHAR, source VARCHAR, status VARCHAR, reason VARCHAR,
    size_bytes BIGINT, stored_bytes BIGINT, mtime_ns BIGINT, version VARCHAR,
    archive VARCHAR, archive_seen VARCHAR, fingerprint VARCHAR, head VARCHAR, lines BIGINT, read_bytes BIGINT,
    sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT,
    tools_hash VARCHAR, cut_at BIGINT, privacy VARCHAR, forgetful BOOLEAN
);

CREATE TABLE copies (
    path VARCHAR, file_id INTEGER, stored_bytes BIGINT, mtime_ns BIGINT, version VARCHAR,
    archive VARCHAR, archive_seen VARCHAR
);

CREATE TABLE forgotten (session_hash VARCHAR, forgotten_at TIMESTAMP);

CREATE TABLE rejects (
    file_id INTEGER, line BIGINT, byte_offset BIGINT, code VARCHAR, reason VARCHAR, snippet VARCHAR
);

CREATE TABLE sources (
    source VARCHAR, title VARCHAR,
    raw_arguments VARCHAR, argument_failures VARCHAR, error_flag VARCHAR, definitions VARCHAR,
    system_prompt VARCHAR, model VARCHAR, turn_end VARCHAR, cannot_tell VARCHAR
);

CREATE TABLE sessions (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, source VARCHAR,
    harness VARCHAR, harness_version VARCHAR, parent_session_id VARCHAR,
    user_name VARCHAR, task VARCHAR, started_at TIMESTAMP, ended_at TIMESTAMP, day DATE,
    turns BIGINT, steps BIGINT, calls BIGINT, faults BIGINT, duplicate_calls BIGINT,
    duplicate BOOLEAN
);

CREATE TABLE prompts (prompt_id VARCHAR, name VARCHAR, version VARCHAR, text VARCHAR, text_hash VARCHAR, label VARCHAR);
CREATE TABLE prompt_texts (prompt_id VARCHAR, text_hash VARCHAR, text VARCHAR USING COMPRESSION zstd);

CREATE TABLE tool_definitions (
    definition_id VARCHAR, tool VARCHAR, description VARCHAR, definition VARCHAR, origin VARCHAR
);

CREATE TABLE turns (
    turn_id VARCHAR, session_id VARCHAR, turn INTEGER, file_id INTEGER, line BIGINT, byte_offset BIGINT,
    ts TIMESTAMP, ended_at TIMESTAMP, day DATE, source VARCHAR,
    provider VARCHAR, model VARCHAR, prompt_id VARCHAR, prompt_hash VARCHAR,
    user_text VARCHAR USING COMPRESSION zstd, answer_text VARCHAR USING COMPRESSION zstd,
    steps INTEGER, calls INTEGER, faults INTEGER, retries INTEGER,
    recorded_status VARCHAR, recorded_ok BOOLEAN, derived_ok BOOLEAN, derived_reason VARCHAR,
    input_tokens BIGINT, output_tokens BIGINT, latency_ms DOUBLE, model_latency_ms DOUBLE,
    counted_steps INTEGER, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT,
    results_expected BOOLEAN, begun BOOLEAN, first_step INTEGER, offered_tools INTEGER,
    duplicate BOOLEAN
);

CREATE TABLE tool_calls (
    call_id VARCHAR, session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    ts TIMESTAMP, day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    tool VARCHAR, tool_sent VARCHAR, tool_call_id VARCHAR, strategy VARCHAR,
    definition_id VARCHAR, definition_origin VARCHAR, tools_offered BOOLEAN,
    raw_arguments VARCHAR USING COMPRESSION zstd, args_source VARCHAR,
    arguments VARCHAR USING COMPRESSION zstd, arguments_depth INTEGER, rejected VARCHAR,
    outcome VARCHAR, syntax_seen VARCHAR, schema_seen VARCHAR,
    parse_error VARCHAR, parse_warning VARCHAR, worst_severity VARCHAR, lossy BOOLEAN,
    harness_verdict VARCHAR, harness_message VARCHAR, refused_by_harness VARCHAR,
    syntax_told VARCHAR, schema_told VARCHAR,
    fault_layer VARCHAR, signature_id VARCHAR, result_fault_layer VARCHAR, result_file_id INTEGER,
    result_status VARCHAR, error_flag_source VARCHAR,
    result_text VARCHAR USING COMPRESSION zstd, result_bytes BIGINT,
    chain_id VARCHAR, attempt INTEGER, retry_of VARCHAR, retry_kind VARCHAR, chain_outcome VARCHAR,
    input_tokens BIGINT, cached_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT,
    latency_ms DOUBLE, model_latency_ms DOUBLE,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, parser_version VARCHAR, duplicate BOOLEAN
);

CREATE TABLE turn_parts AS FROM turns LIMIT 0;

CREATE TABLE late_results (
    source VARCHAR, session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP,
    tool_call_id VARCHAR, tool VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    result_status VARCHAR, error_flag_source VARCHAR, result_fault_layer VARCHAR, harness_message VARCHAR,
    result_text VARCHAR, result_bytes BIGINT, latency_ms DOUBLE,
    state VARCHAR
);

CREATE TABLE step_texts (
    session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, source VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, model VARCHAR,
    text VARCHAR USING COMPRESSION zstd
);

CREATE TABLE unfinished (
    file_id INTEGER, byte_offset BIGINT, line BIGINT, prefix VARCHAR, made_by VARCHAR, open_turns VARCHAR, state BLOB
);

CREATE TABLE diagnostics (
    call_id VARCHAR, file_id INTEGER, position INTEGER, code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN,
    path VARCHAR, span_start BIGINT, span_end BIGINT, found VARCHAR, became VARCHAR, detail VARCHAR
);

CREATE TABLE codes (code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN, summary VARCHAR, why VARCHAR);

CREATE TABLE probes (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, day DATE, source VARCHAR,
    provider VARCHAR, model VARCHAR, ok BOOLEAN, error VARCHAR
);

CREATE TABLE daily_calls (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR, strategy VARCHAR,
    calls BIGINT, parse_known BIGINT, mend_known BIGINT,
    syntax_full BIGINT, syntax_failures BIGINT, schema_full BIGINT, schema_failures BIGINT,
    clean BIGINT, coerced BIGINT, repaired BIGINT, failed BIGINT, unmeasured BIGINT, lossy BIGINT, mended_refused BIGINT,
    fault_emission BIGINT, fault_syntax BIGINT, fault_schema BIGINT,
    fault_tool_rejected BIGINT, fault_execution BIGINT, fault_refused BIGINT, fault_unknown BIGINT,
    result_ok BIGINT, result_error BIGINT, result_denied BIGINT, result_unknown BIGINT, result_missing BIGINT,
    retries BIGINT, retries_identical BIGINT, chains BIGINT, chains_recovered BIGINT, chains_abandoned BIGINT
);

CREATE TABLE daily_turns (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    turns BIGINT, retried BIGINT, recorded_known BIGINT, recorded_ok BIGINT, derived_known BIGINT, derived_ok BIGINT,
    both_known BIGINT, disagree BIGINT, steps BIGINT, calls BIGINT, retries BIGINT, input_tokens BIGINT, output_tokens BIGINT,
    tokens_known BIGINT, tokens BIGINT, ms_known BIGINT, ms DOUBLE
);

CREATE TABLE daily_tokens (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, session_group UTINYINT,
    whole BOOLEAN, recorded_ok BOOLEAN, derived_ok BOOLEAN, turns BIGINT, steps BIGINT,
    counted_steps BIGINT, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT
);

CREATE TABLE daily_prompts (
    day DATE, source VARCHAR, prompt_id VARCHAR, prompt_hash VARCHAR,
    turns BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

CREATE TABLE daily_definitions (
    day DATE, source VARCHAR, tool VARCHAR, definition_id VARCHAR,
    calls BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

CREATE TABLE daily_codes (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR,
    code VARCHAR, calls BIGINT, findings BIGINT
);

CREATE TABLE signatures (signature_id VARCHAR, fault_layer VARCHAR, text VARCHAR);

CREATE TABLE daily_rates (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, harness_version VARCHAR,
    strategy VARCHAR, tool VARCHAR, definition_id VARCHAR, cut VARCHAR, rate VARCHAR,
    k BIGINT, n BIGINT, total BIGINT, sessions BIGINT, group_ids UTINYINT[], group_k UINTEGER[], group_n UINTEGER[]
);

CREATE TABLE daily_chains (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR, fault_layer VARCHAR,
    ended VARCHAR, attempts INTEGER, session_group UTINYINT, chains BIGINT, retries BIGINT,
    identical BIGINT, first_identical BIGINT, first_identical_worked BIGINT,
    first_changed BIGINT, first_changed_worked BIGINT,
    steps BIGINT, tokens BIGINT, tokens_known BIGINT, ms DOUBLE, ms_known BIGINT,
    counted_steps BIGINT, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT
);

CREATE TABLE daily_parallel (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, session_group UTINYINT,
    steps BIGINT, calls BIGINT, lost BIGINT, bad_steps BIGINT, bad BIGINT, others BIGINT, others_lost BIGINT
);

CREATE TABLE daily_errors (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR,
    signature_id VARCHAR, calls BIGINT, sessions BIGINT, example VARCHAR
);

CREATE TABLE daily_parameters (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR, definition_id VARCHAR,
    parameter VARCHAR, code VARCHAR, severity VARCHAR, calls BIGINT, example VARCHAR,
    group_ids UTINYINT[], group_calls UINTEGER[]
);

CREATE TABLE daily_traits (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR,
    trait VARCHAR, class INTEGER, k BIGINT, n BIGINT, sessions BIGINT,
    group_ids UTINYINT[], group_k UINTEGER[], group_n UINTEGER[]
);

CREATE TABLE task_trials (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, session_id VARCHAR,
    task VARCHAR, task_origin VARCHAR, task_text VARCHAR,
    recorded_ok BOOLEAN, derived_ok BOOLEAN, turns BIGINT, calls BIGINT, parse_k BIGINT, parse_n BIGINT
);
