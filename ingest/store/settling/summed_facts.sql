-- Macros for the columns that the daily sums need, without content. `facts` is the name of the table or view to read. Times are
-- whole microseconds, so that sums are exact in any order. Times from 10^10 milliseconds (115 days) become NULL.

CREATE TEMP MACRO IF NOT EXISTS microseconds(ms) AS if(abs(ms) < 1e10, round(ms * 1000)::BIGINT, NULL);

CREATE TEMP MACRO IF NOT EXISTS summed_sessions(facts) AS TABLE
SELECT file_id, source, session_id, harness_version, task, repeat_no, duplicate FROM query_table(facts);

-- asked, asked_text and asked_length describe the user's message. The whole message would take 200 MB for 100,000 sessions.
CREATE TEMP MACRO IF NOT EXISTS summed_turns(facts) AS TABLE
SELECT
    file_id, source, session_id, turn_id, turn, ts, day, provider, model, prompt_id, prompt_hash, trial_run, arm,
    left(md5(user_text), 16) AS asked, left(user_text, 120) AS asked_text, length(user_text) AS asked_length,
    steps, calls, retries, recorded_ok, derived_ok, derived_reason, cost,
    input_tokens, output_tokens, microseconds(latency_ms) AS latency_us, microseconds(model_latency_ms) AS model_latency_us,
    counted_steps, counted_input, counted_cached, counted_cache_write, counted_output,
    results_expected, offered_tools, duplicate, text_removed, session_group(source, session_id) AS session_group
FROM query_table(facts);

CREATE TEMP MACRO IF NOT EXISTS summed_calls(facts) AS TABLE
SELECT
    file_id, source, session_id, turn_id, call_id, turn, step, ordinal, ts, day, provider, model, prompt_id, trial_run, arm,
    tool, mcp_server, strategy, definition_id, tools_offered, args_source, arguments_depth,
    coalesce(strlen(raw_arguments), raw_bytes) AS raw_bytes, coalesce(length(raw_arguments), raw_chars) AS raw_chars,
    outcome, syntax_seen, schema_seen, parse_error, parse_warning, lossy, fault_layer, signature_id, result_status, simulated,
    chain_id, attempt, retry_kind, chain_outcome,
    input_tokens, cached_tokens, cache_write_tokens, output_tokens,
    microseconds(latency_ms) AS latency_us, microseconds(model_latency_ms) AS model_latency_us, duplicate,
    session_group(source, session_id) AS session_group
FROM query_table(facts);

CREATE TEMP MACRO IF NOT EXISTS summed_findings(facts) AS TABLE
SELECT call_id, file_id, position, code, stage, severity, path FROM query_table(facts);
