-- From version 1. All daily sums are recomputed afterwards.

-- Columns for judging stored calls again. Values that version 1 did not store are derived from stored values, or unknown.

ALTER TABLE tool_calls ADD COLUMN tool_sent VARCHAR;
ALTER TABLE tool_calls ADD COLUMN definition_origin VARCHAR;
ALTER TABLE tool_calls ADD COLUMN tools_offered BOOLEAN;
ALTER TABLE tool_calls ADD COLUMN refused_by_harness VARCHAR;
ALTER TABLE tool_calls ADD COLUMN syntax_told VARCHAR;
ALTER TABLE tool_calls ADD COLUMN schema_told VARCHAR;
ALTER TABLE tool_calls ADD COLUMN result_fault_layer VARCHAR;
ALTER TABLE tool_calls ADD COLUMN result_file_id INTEGER;
ALTER TABLE tool_calls ADD COLUMN retry_of VARCHAR;

UPDATE tool_calls SET definition_origin = d.origin
FROM tool_definitions d WHERE d.definition_id = tool_calls.definition_id;

UPDATE tool_calls SET
    tools_offered = coalesce(definition_origin = 'log', false) OR coalesce(parse_error LIKE '%unknown_tool%', false),
    refused_by_harness = CASE WHEN harness_verdict <> 'accepted' THEN harness_verdict END,
    syntax_told = CASE WHEN args_source <> 'raw' THEN syntax_seen ELSE 'none' END,
    schema_told = CASE WHEN result_status <> 'missing' AND schema_seen <> 'full' THEN schema_seen ELSE 'none' END,
    -- If an earlier stage failed as well, this stays NULL, and result_status gives the stage: error is execution, denied is
    -- refused.
    result_fault_layer = CASE WHEN fault_layer IN ('tool_rejected', 'execution', 'refused') THEN fault_layer END;

ALTER TABLE turns ADD COLUMN results_expected BOOLEAN;
ALTER TABLE turns ADD COLUMN begun BOOLEAN;
ALTER TABLE turns ADD COLUMN first_step INTEGER;

UPDATE turns SET
    begun = true,
    results_expected = EXISTS (
        FROM tool_calls c
        WHERE c.session_id = turns.session_id AND c.file_id = turns.file_id AND c.result_status <> 'missing'
    );

-- Content of a file that was left out for privacy.

ALTER TABLE files ADD COLUMN privacy VARCHAR;

-- All texts of each prompt, and the days on which each text and each definition was used.

ALTER TABLE turns ADD COLUMN prompt_hash VARCHAR;

UPDATE turns SET prompt_hash = p.text_hash FROM prompts p WHERE p.prompt_id = turns.prompt_id;

CREATE TABLE prompt_texts AS
SELECT prompt_id, text_hash, any_value(text) AS text FROM prompts WHERE text IS NOT NULL GROUP BY prompt_id, text_hash;

CREATE TABLE daily_prompts (
    day DATE, source VARCHAR, prompt_id VARCHAR, prompt_hash VARCHAR,
    turns BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

CREATE TABLE daily_definitions (
    day DATE, source VARCHAR, tool VARCHAR, definition_id VARCHAR,
    calls BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

-- Results and turn parts that are in another file.

CREATE TABLE turn_parts AS FROM turns LIMIT 0;

CREATE TABLE late_results (
    source VARCHAR, session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP,
    tool_call_id VARCHAR, tool VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    result_status VARCHAR, error_flag_source VARCHAR, result_fault_layer VARCHAR, harness_message VARCHAR,
    result_text VARCHAR, result_bytes BIGINT, latency_ms DOUBLE,
    state VARCHAR
);

ALTER TABLE files ADD COLUMN stored_bytes BIGINT;
ALTER TABLE files ADD COLUMN version VARCHAR;
ALTER TABLE files ADD COLUMN archive VARCHAR;
ALTER TABLE files ADD COLUMN archive_seen VARCHAR;
ALTER TABLE files ADD COLUMN head VARCHAR;

UPDATE files SET stored_bytes = size_bytes, version = '';

CREATE TABLE copies (
    path VARCHAR, file_id INTEGER, stored_bytes BIGINT, mtime_ns BIGINT, version VARCHAR,
    archive VARCHAR, archive_seen VARCHAR
);

-- Checkpoints, so that reading a large log that has grown resumes.

CREATE TABLE unfinished (
    file_id INTEGER, byte_offset BIGINT, line BIGINT, prefix VARCHAR, made_by VARCHAR, open_turns VARCHAR, state BLOB
);

-- For `callgauge forget`.

ALTER TABLE sessions ADD COLUMN user_name VARCHAR;
ALTER TABLE files ADD COLUMN forgetful BOOLEAN;
CREATE TABLE forgotten (session_hash VARCHAR, forgotten_at TIMESTAMP);

-- For comparisons.

ALTER TABLE sessions ADD COLUMN task VARCHAR;
ALTER TABLE turns ADD COLUMN offered_tools INTEGER;
ALTER TABLE turn_parts ADD COLUMN offered_tools INTEGER;
ALTER TABLE tool_calls ADD COLUMN arguments_depth INTEGER;
ALTER TABLE tool_calls ADD COLUMN signature_id VARCHAR;
ALTER TABLE daily_turns ADD COLUMN tokens_known BIGINT;
ALTER TABLE daily_turns ADD COLUMN tokens BIGINT;
ALTER TABLE daily_turns ADD COLUMN ms_known BIGINT;
ALTER TABLE daily_turns ADD COLUMN ms DOUBLE;

CREATE TABLE signatures (signature_id VARCHAR, fault_layer VARCHAR, text VARCHAR);

CREATE TABLE daily_rates (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, harness_version VARCHAR,
    strategy VARCHAR, tool VARCHAR, definition_id VARCHAR, cut VARCHAR, rate VARCHAR,
    k BIGINT, n BIGINT, total BIGINT, sessions BIGINT, kk BIGINT, kn BIGINT, nn BIGINT
);

CREATE TABLE daily_chains (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR, fault_layer VARCHAR,
    ended VARCHAR, attempts INTEGER, chains BIGINT, retries BIGINT,
    identical BIGINT, first_identical BIGINT, first_identical_worked BIGINT,
    first_changed BIGINT, first_changed_worked BIGINT,
    steps BIGINT, tokens BIGINT, tokens_known BIGINT, ms DOUBLE, ms_known BIGINT
);

CREATE TABLE daily_parallel (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    steps BIGINT, calls BIGINT, lost BIGINT, bad_steps BIGINT, bad BIGINT, others BIGINT, others_lost BIGINT
);

CREATE TABLE daily_errors (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR,
    signature_id VARCHAR, calls BIGINT, sessions BIGINT, example VARCHAR
);

CREATE TABLE daily_parameters (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR, definition_id VARCHAR,
    parameter VARCHAR, code VARCHAR, severity VARCHAR, calls BIGINT, example VARCHAR
);

CREATE TABLE daily_traits (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR,
    trait VARCHAR, class INTEGER, k BIGINT, n BIGINT, sessions BIGINT, kk BIGINT, kn BIGINT, nn BIGINT
);

CREATE TABLE task_trials (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, session_id VARCHAR,
    task VARCHAR, task_origin VARCHAR, task_text VARCHAR,
    recorded_ok BOOLEAN, derived_ok BOOLEAN, turns BIGINT, calls BIGINT, parse_k BIGINT, parse_n BIGINT
);
