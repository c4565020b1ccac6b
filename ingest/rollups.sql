-- The daily rollups of the days in `touched_days`, anew from the facts. A day can be NULL: calls without a time.

DELETE FROM daily_calls USING touched_days t WHERE daily_calls.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_calls BY NAME
SELECT
    day, source, provider, model, prompt_id, tool, strategy,
    count(*) AS calls,
    count(*) FILTER (
        syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none')
        OR fault_layer IN ('syntax', 'schema')
    ) AS parse_known,
    count(*) FILTER (syntax_seen = 'full' OR schema_seen = 'full') AS mend_known,
    count(*) FILTER (syntax_seen = 'full') AS syntax_full,
    count(*) FILTER (syntax_seen = 'failures') AS syntax_failures,
    count(*) FILTER (schema_seen = 'full') AS schema_full,
    count(*) FILTER (schema_seen = 'failures') AS schema_failures,
    count(*) FILTER (outcome = 'clean') AS clean,
    count(*) FILTER (outcome = 'coerced') AS coerced,
    count(*) FILTER (outcome = 'repaired') AS repaired,
    count(*) FILTER (outcome = 'failed') AS failed,
    count(*) FILTER (outcome = 'unmeasured') AS unmeasured,
    count(*) FILTER (lossy) AS lossy,
    count(*) FILTER (outcome IN ('coerced', 'repaired') AND fault_layer IN ('syntax', 'schema')) AS mended_refused,
    count(*) FILTER (fault_layer = 'emission') AS fault_emission,
    count(*) FILTER (fault_layer = 'syntax') AS fault_syntax,
    count(*) FILTER (fault_layer = 'schema') AS fault_schema,
    count(*) FILTER (fault_layer = 'tool_rejected') AS fault_tool_rejected,
    count(*) FILTER (fault_layer = 'execution') AS fault_execution,
    count(*) FILTER (fault_layer = 'refused') AS fault_refused,
    count(*) FILTER (
        fault_layer IS NULL
        AND (
            NOT coalesce(syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none'), false)
            OR coalesce(result_status, 'missing') IN ('unknown', 'missing')
        )
    ) AS fault_unknown,
    count(*) FILTER (result_status = 'ok') AS result_ok,
    count(*) FILTER (result_status = 'error') AS result_error,
    count(*) FILTER (result_status = 'denied') AS result_denied,
    count(*) FILTER (result_status = 'unknown') AS result_unknown,
    count(*) FILTER (result_status = 'missing') AS result_missing,
    count(*) FILTER (attempt > 1) AS retries,
    count(*) FILTER (retry_kind = 'identical') AS retries_identical,
    -- A chain is counted where it began.
    count(*) FILTER (attempt = 1) AS chains,
    count(*) FILTER (attempt = 1 AND chain_outcome = 'recovered') AS chains_recovered,
    count(*) FILTER (attempt = 1 AND chain_outcome = 'abandoned') AS chains_abandoned
FROM tool_calls
WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)
GROUP BY ALL;

DELETE FROM daily_turns USING touched_days t WHERE daily_turns.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_turns BY NAME
SELECT
    day, source, provider, model, prompt_id,
    count(*) AS turns,
    count(*) FILTER (retries > 0) AS retried,
    count(recorded_ok) AS recorded_known,
    count(*) FILTER (recorded_ok) AS recorded_ok,
    count(derived_ok) AS derived_known,
    count(*) FILTER (derived_ok) AS derived_ok,
    count(*) FILTER (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL) AS both_known,
    count(*) FILTER (recorded_ok <> derived_ok) AS disagree,
    sum(steps) AS steps,
    sum(calls) AS calls,
    sum(retries) AS retries,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens
FROM turns
WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM turns.day)
GROUP BY ALL;

DELETE FROM daily_codes USING touched_days t WHERE daily_codes.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_codes BY NAME
WITH
    counted AS (
        SELECT day, source, provider, model, prompt_id, tool, call_id, file_id
        FROM tool_calls
        WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)
    ),
    -- A transcript can hold a call twice; its findings are then in twice under the same call and file.
    findings AS (
        SELECT DISTINCT call_id, file_id, position, code FROM diagnostics
        WHERE call_id IN (SELECT call_id FROM counted)
    )
SELECT
    day, source, provider, model, prompt_id, tool, code,
    count(DISTINCT call_id) AS calls,
    count(*) AS findings
FROM counted JOIN findings USING (call_id, file_id)
GROUP BY ALL;

DELETE FROM daily_prompts USING touched_days t WHERE daily_prompts.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_prompts BY NAME
SELECT day, source, prompt_id, prompt_hash, count(*) AS turns, min(ts) AS first_ts, max(ts) AS last_ts
FROM turns
WHERE NOT duplicate AND prompt_id IS NOT NULL
    AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM turns.day)
GROUP BY ALL;

DELETE FROM daily_definitions USING touched_days t WHERE daily_definitions.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_definitions BY NAME
SELECT day, source, tool, definition_id, count(*) AS calls, min(ts) AS first_ts, max(ts) AS last_ts
FROM tool_calls
WHERE NOT duplicate AND definition_id IS NOT NULL
    AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)
GROUP BY ALL;
