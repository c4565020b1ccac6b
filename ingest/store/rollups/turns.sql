-- Turns, how they ended and what they cost.

DELETE FROM daily_turns USING touched_days t WHERE daily_turns.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_turns BY NAME
SELECT
    day, source, provider, model, prompt_id, trial_run, arm,
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
    sum(output_tokens) AS output_tokens,
    count(*) FILTER (input_tokens IS NOT NULL AND output_tokens IS NOT NULL) AS tokens_known,
    coalesce(sum(input_tokens + output_tokens), 0) AS tokens,
    count(coalesce(latency_ms, model_latency_ms)) AS ms_known,
    coalesce(sum(coalesce(latency_ms, model_latency_ms)), 0)::DOUBLE AS ms
FROM turns
WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM turns.day)
GROUP BY ALL;
