-- One day of a made store: $sessions sessions numbered from $first, five turns each, three calls a turn (now and then a
-- fourth, a retry). What a session is like is drawn from a hash of its number, so every run makes the same store; faults
-- come in sessions, as real ones do. Calls of a session that goes badly fail ten times as often.

CREATE OR REPLACE TEMP TABLE made_sessions AS
SELECT
    id, ('s' || id)::VARCHAR AS session_id, $day::DATE AS day,
    $day::TIMESTAMP + to_seconds((id * 7919) % 86000) AS started_at,
    if(hash(id, 1) % 4 = 0, 'claude_code', 'session_history') AS source,
    list_extract(
        ['falcon-3', 'falcon-3', 'falcon-3', 'kestrel-mini', 'kestrel-mini', 'osprey-2', 'osprey-2', 'heron-large', 'ibis-1', NULL],
        1 + (hash(id, 2) % 10)::INT
    ) AS model,
    if(hash(id, 2) % 10 = 0 AND hash(id, 3) % 3 = 0, 'globex', 'acme') AS provider,
    -- Two prompts are in use on a day; a third version replaces the second half-way.
    if(hash(id, 4) % 3 = 0, 'triage@1', if($day >= DATE '2026-10-15', 'agent@2', 'agent@1')) AS prompt_id,
    '1.' || (datediff('week', DATE '2026-08-24', $day::DATE))::VARCHAR AS harness_version,
    hash(id, 5) % 12 = 0 AS bad_day,
    if(hash(id, 2) % 10 = 9, 'json_fallback', 'tool_use') AS strategy,
    if(hash(id, 7) % 3 = 0, NULL, 'task-' || (hash(id, 8) % 2000)::VARCHAR) AS task
FROM range($first, $first + $sessions) made(id);

INSERT INTO sessions BY NAME
SELECT
    session_id, 1 AS file_id, id AS line, 1000 * id AS byte_offset, source, 'made' AS harness, harness_version, task,
    started_at, started_at + INTERVAL 5 MINUTE AS ended_at, day, 5 AS turns, 15 AS steps, 15 AS calls, 0 AS faults,
    0 AS duplicate_calls, false AS duplicate
FROM made_sessions;

CREATE OR REPLACE TEMP TABLE made_calls AS
SELECT
    s.*, t.turn::INTEGER AS turn, c.step::INTEGER AS step,
    hash(id, turn, step) AS drawn,
    list_extract(
        ['read', 'read', 'read', 'edit', 'edit', 'bash', 'bash', 'grep', 'glob', 'write', 'fetch', 'todo', 'run_sql',
         'search', 'plan', 'notebook', 'ask', 'list', 'diff', 'commit'],
        1 + (hash(id, turn, step, 1) % 20)::INT
    ) AS tool,
    (hash(id, turn, step, 2) % 10000) / 10000.0 AS luck
FROM made_sessions s, range(1, 6) t(turn), range(0, 3) c(step);

INSERT INTO turns BY NAME
SELECT
    session_id || ':' || turn AS turn_id, session_id, turn, 1 AS file_id, id AS line, 1000 * id AS byte_offset,
    started_at + to_minutes(turn) AS ts, day, source, provider, model, prompt_id, prompt_id AS prompt_hash,
    'Please look at the failing build of project ' || (id % 500) || ' and say what is wrong with it.' AS user_text,
    3 AS steps, 3 AS calls, faults,
    if(worst < 0.02, 1, 0) AS retries, if(id % 2 = 0, NULL, worst > 0.01) AS recorded_ok,
    worst > 0.015 AS derived_ok, 'ended_with_answer' AS derived_reason,
    3000 + id % 977 AS input_tokens, 200 + id % 97 AS output_tokens, 4000.0 + id % 3000 AS latency_ms,
    true AS results_expected, true AS begun, 12 AS offered_tools, false AS duplicate
FROM (
    SELECT
        id, session_id, turn, started_at, day, source, provider, model, prompt_id,
        min(luck) AS worst, (count(*) FILTER (luck < 0.05))::INTEGER AS faults
    FROM made_calls GROUP BY ALL
);

INSERT INTO tool_calls BY NAME
WITH judged AS (
    SELECT
        *,
        CASE
            WHEN luck < if(bad_day, 0.05, 0.004) THEN 'syntax' WHEN luck < if(bad_day, 0.09, 0.008) THEN 'schema'
            WHEN luck < 0.10 AND luck > 0.095 THEN 'tool_rejected' WHEN luck < 0.95 AND luck > 0.90 THEN 'execution'
        END AS fault_layer,
        luck BETWEEN 0.2 AND 0.24 AS coerced, luck BETWEEN 0.3 AND 0.31 AS repaired
    FROM made_calls
)
SELECT
    session_id || ':' || turn || ':' || step AS call_id, session_id, session_id || ':' || turn AS turn_id, turn, step,
    0 AS ordinal, started_at + to_minutes(turn) + to_seconds(step) AS ts, day, source, provider, model, prompt_id, tool,
    'call_' || step AS tool_call_id, strategy, tool || '@' || if(day < DATE '2026-10-01', 1, 2) AS definition_id,
    'log' AS definition_origin, true AS tools_offered,
    '{"path":"src/module_' || (drawn % 900) || '.py","limit":' || (drawn % 400) || '}' AS raw_arguments, 'raw' AS args_source,
    1 AS arguments_depth,
    CASE
        WHEN fault_layer IN ('syntax', 'schema') THEN 'failed' WHEN coerced THEN 'coerced' WHEN repaired THEN 'repaired'
        ELSE 'clean'
    END AS outcome,
    'full' AS syntax_seen, 'full' AS schema_seen,
    CASE
        WHEN fault_layer = 'syntax' THEN 'json_parse_error:expected a comma at ' || (drawn % 60)
        WHEN fault_layer = 'schema' THEN 'missing_required:path'
    END AS parse_error,
    if(coerced, 'string_literal_converted_to_integer', NULL) AS parse_warning,
    CASE WHEN fault_layer IN ('syntax', 'schema') THEN 'error' WHEN coerced OR repaired THEN 'note' END AS worst_severity,
    false AS lossy, 'accepted' AS harness_verdict, fault_layer, fault_layer AS result_fault_layer,
    CASE WHEN fault_layer IS NULL THEN 'ok' ELSE 'error' END AS result_status, 'explicit' AS error_flag_source,
    CASE
        WHEN fault_layer = 'tool_rejected' THEN 'Error: file not found: /srv/' || drawn
        WHEN fault_layer = 'execution' THEN 'TypeError: unsupported operand in line ' || (drawn % 400)
    END AS result_text,
    if(fault_layer IS NULL, NULL, session_id || ':' || turn || ':' || step) AS chain_id,
    if(fault_layer IS NULL, NULL, 1) AS attempt,
    CASE WHEN fault_layer IS NULL THEN NULL WHEN drawn % 4 = 0 THEN 'abandoned' ELSE 'recovered' END AS chain_outcome,
    1000 + drawn % 100 AS input_tokens, 70 AS output_tokens, 40.0 AS latency_ms, 900.0 AS model_latency_ms,
    1 AS file_id, id AS line, 1000 * id AS byte_offset, '3' AS parser_version, false AS duplicate
FROM judged;

INSERT INTO diagnostics BY NAME
SELECT
    call_id, file_id, 0 AS position,
    CASE
        WHEN outcome = 'coerced' THEN 'string_literal_converted_to_integer' WHEN outcome = 'repaired' THEN 'trailing_comma'
        ELSE split_part(parse_error, ':', 1)
    END AS code,
    if(outcome = 'repaired', 'repair', 'check') AS stage, worst_severity AS severity, false AS lossy,
    if(outcome = 'coerced', '$.limit', '$.path') AS path
FROM tool_calls WHERE day = $day AND outcome <> 'clean';
