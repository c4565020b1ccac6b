-- Retry sequences by first failure, number of attempts (10 = ten or more) and end. A sequence counts on the day of its first
-- call.
-- - steps, tokens and us (microseconds): cost of the attempts after the first. If a step retries several sequences, its cost
--   counts only for the first of its calls.
-- - `first_…`: counts of first retries, so that one long sequence does not outweigh many. If the text of a call is missing, a
--   retry counts neither as identical nor as changed.
-- - session_group: group of the session (ingest/store/session_group.sql), for intervals

WITH
    first_calls AS (
        SELECT
            is_before, chain_id, turn_id, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, fault_layer,
            chain_outcome AS ended,
            session_group
        FROM calls_of_days
        WHERE attempt = 1 AND chain_id = call_id
    ),
    retry_calls AS (
        SELECT
            is_before, chain_id, attempt, fault_layer, retry_kind, latency_us, model_latency_us,
            input_tokens + output_tokens AS tokens,
            coalesce(cached_tokens, 0) AS cached, coalesce(cache_write_tokens, 0) AS cache_write,
            input_tokens - cached - cache_write AS fresh, output_tokens,
            (row_number() OVER (PARTITION BY is_before, turn_id, step ORDER BY ordinal, call_id) = 1)::INTEGER AS is_first
        FROM counted_calls
        SEMI JOIN first_calls USING (is_before, turn_id)
        WHERE NOT duplicate AND attempt > 1
    ),
    retry_sums AS (
        SELECT
            is_before, chain_id, count(*) AS retries,
            count(*) FILTER (retry_kind = 'identical') AS identical,
            count(*) FILTER (attempt = 2 AND retry_kind = 'identical') AS first_identical,
            count(*) FILTER (attempt = 2 AND retry_kind = 'identical' AND fault_layer IS NULL) AS first_identical_worked,
            count(*) FILTER (attempt = 2 AND retry_kind = 'changed') AS first_changed,
            count(*) FILTER (attempt = 2 AND retry_kind = 'changed' AND fault_layer IS NULL) AS first_changed_worked,
            sum(is_first) AS steps,
            if(count(tokens) = count(*), sum(is_first * tokens), NULL) AS tokens,
            sum(is_first) FILTER (tokens IS NOT NULL) AS counted_steps,
            sum(is_first * fresh) FILTER (tokens IS NOT NULL) AS counted_input,
            sum(is_first * cached) FILTER (tokens IS NOT NULL) AS counted_cached,
            sum(is_first * cache_write) FILTER (tokens IS NOT NULL) AS counted_cache_write,
            sum(is_first * output_tokens) FILTER (tokens IS NOT NULL) AS counted_output,
            sum(is_first * coalesce(model_latency_us, 0) + coalesce(latency_us, 0))
                FILTER (model_latency_us IS NOT NULL OR latency_us IS NOT NULL) AS us
        FROM retry_calls
        GROUP BY is_before, chain_id
    )
SELECT
    is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, fault_layer, coalesce(ended, 'open') AS ended,
    least(1 + coalesce(retries, 0), 10)::INTEGER AS attempts, session_group,
    count(*) AS chains,
    coalesce(sum(retries), 0) AS retries,
    coalesce(sum(identical), 0) AS identical,
    coalesce(sum(first_identical), 0) AS first_identical,
    coalesce(sum(first_identical_worked), 0) AS first_identical_worked,
    coalesce(sum(first_changed), 0) AS first_changed,
    coalesce(sum(first_changed_worked), 0) AS first_changed_worked,
    coalesce(sum(steps), 0) AS steps,
    coalesce(sum(tokens), 0) AS tokens, count(tokens) AS tokens_known,
    coalesce(sum(us), 0) AS us, count(us) AS ms_known,
    coalesce(sum(counted_steps), 0) AS counted_steps,
    coalesce(sum(counted_input), 0) AS counted_input,
    coalesce(sum(counted_cached), 0) AS counted_cached,
    coalesce(sum(counted_cache_write), 0) AS counted_cache_write,
    coalesce(sum(counted_output), 0) AS counted_output
FROM first_calls LEFT JOIN retry_sums USING (is_before, chain_id)
GROUP BY ALL
