-- One row per session that tried a task. If the log names no task, the user's first message is the task, if it is long
-- enough and not cut at 2,000 characters. A trial passed if none of its turns with a known result failed.
-- - parse_k of parse_n, mended_k of mended_n: counts of the rates parse_error and `mended`
-- - misses: results without a recorded answer
-- - tokens, cost (USD, from the log): NULL if a turn lacks them

WITH
    session_tasks AS (
        SELECT source, session_id, min(task) AS task, min(repeat_no) AS repeat_no
        FROM counted_sessions SEMI JOIN tried_sessions USING (source, session_id)
        WHERE NOT is_before AND NOT duplicate GROUP BY ALL
    ),
    trial_turns AS (
        SELECT
            source, session_id, min(day) AS day, arg_min(provider, turn) AS provider, arg_min(model, turn) AS model,
            arg_min(prompt_id, turn) AS prompt_id, any_value(trial_run) AS trial_run, any_value(arm) AS arm,
            arg_min(asked, turn) AS asked, arg_min(asked_text, turn) AS asked_text,
            arg_min(asked_length, turn) AS asked_length,
            bool_and(recorded_ok) AS recorded_ok, bool_and(derived_ok) AS derived_ok,
            count(*) AS turns, sum(calls) AS calls,
            if(count(input_tokens + output_tokens) = count(*), sum(input_tokens + output_tokens), NULL) AS tokens,
            if(count(cost) = count(*), sum(cost), NULL) AS cost
        FROM counted_turns SEMI JOIN tried_sessions USING (source, session_id)
        WHERE NOT is_before AND NOT duplicate
        GROUP BY source, session_id
    ),
    call_counts AS (
        SELECT
            source, session_id,
            count(*) FILTER (
                fault_layer = 'syntax' OR (syntax_seen <> 'none' AND schema_seen = 'full' AND fault_layer = 'schema')
            ) AS parse_k,
            count(*) FILTER (syntax_seen <> 'none' OR fault_layer = 'syntax') AS parse_n,
            count(*) FILTER (
                syntax_seen = 'full' AND schema_seen = 'full' AND outcome IN ('coerced', 'repaired')
            ) AS mended_k,
            count(*) FILTER (syntax_seen = 'full' AND schema_seen = 'full') AS mended_n,
            count(*) FILTER (simulated = 'miss') AS misses
        FROM counted_calls SEMI JOIN tried_sessions USING (source, session_id)
        WHERE NOT is_before AND NOT duplicate
        GROUP BY ALL
    )
SELECT
    day, source, provider, model, prompt_id, trial_run, arm, session_id,
    coalesce(source || ':' || task, asked) AS task,
    if(task IS NOT NULL, 'log', 'first message') AS task_origin,
    coalesce(left(task, 120), asked_text) AS task_text,
    recorded_ok, derived_ok, turns, calls, coalesce(parse_k, 0) AS parse_k, coalesce(parse_n, 0) AS parse_n,
    coalesce(mended_k, 0) AS mended_k, coalesce(mended_n, 0) AS mended_n, coalesce(misses, 0) AS misses,
    tokens, cost, repeat_no
FROM trial_turns
LEFT JOIN session_tasks USING (source, session_id)
LEFT JOIN call_counts USING (source, session_id)
-- A BFCL score file lists only the failed entries, so all of its trials would count as failed.
WHERE (task IS NOT NULL OR asked_length BETWEEN 40 AND 2000) AND source <> 'bfcl_score'
