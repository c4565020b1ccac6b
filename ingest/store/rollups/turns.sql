-- Turns, their success and their cost.

SELECT
    is_before, day, source, provider, model, prompt_id, trial_run, arm,
    count(*) AS turns,
    count(*) FILTER (retries > 0) AS retried,
    count(recorded_ok) AS recorded_known,
    count(*) FILTER (recorded_ok) AS recorded_ok,
    count(derived_ok) AS derived_known,
    count(*) FILTER (derived_ok) AS derived_ok,
    count(*) FILTER (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL) AS both_known,
    count(*) FILTER (recorded_ok <> derived_ok) AS disagree,
    coalesce(sum(steps), 0) AS steps,
    coalesce(sum(calls), 0) AS calls,
    coalesce(sum(retries), 0) AS retries,
    coalesce(sum(input_tokens), 0) AS input_tokens,
    coalesce(sum(output_tokens), 0) AS output_tokens,
    count(*) FILTER (input_tokens IS NOT NULL AND output_tokens IS NOT NULL) AS tokens_known,
    coalesce(sum(input_tokens + output_tokens), 0) AS tokens,
    count(coalesce(latency_us, model_latency_us)) AS ms_known,
    coalesce(sum(coalesce(latency_us, model_latency_us)), 0) AS us,
    count(coalesce(recorded_ok, derived_ok)) AS success_known,
    count(*) FILTER (coalesce(recorded_ok, derived_ok)) AS succeeded
FROM turns_of_days
GROUP BY ALL
