-- Chains of attempts by how they began, how long they grew (10 = ten or more) and how they ended, and what the attempts
-- after the first cost: steps, tokens and time of the steps in which they were made. A chain counts on its first day.

DELETE FROM daily_chains USING touched_days t WHERE daily_chains.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_chains BY NAME
WITH
    begun AS (
        SELECT chain_id, day, source, provider, model, prompt_id, tool, fault_layer, chain_outcome AS ended
        FROM tool_calls
        WHERE NOT duplicate AND attempt = 1 AND chain_id = call_id
            AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)
    ),
    again AS (
        SELECT
            chain_id, count(*) AS retries, count(*) FILTER (retry_kind = 'identical') AS identical,
            count(DISTINCT (turn_id, step)) AS steps,
            sum(input_tokens) + sum(output_tokens) AS tokens,
            sum(coalesce(model_latency_ms, 0) + coalesce(latency_ms, 0))
                FILTER (model_latency_ms IS NOT NULL OR latency_ms IS NOT NULL) AS ms
        FROM tool_calls
        WHERE NOT duplicate AND attempt > 1 AND chain_id IN (SELECT chain_id FROM begun)
        GROUP BY chain_id
    )
SELECT
    day, source, provider, model, prompt_id, tool, fault_layer, coalesce(ended, 'open') AS ended,
    least(1 + coalesce(retries, 0), 10)::INTEGER AS attempts,
    count(*) AS chains,
    coalesce(sum(retries), 0) AS retries, coalesce(sum(identical), 0) AS identical,
    coalesce(sum(steps), 0) AS steps,
    coalesce(sum(tokens), 0) AS tokens, count(tokens) AS tokens_known,
    coalesce(sum(ms), 0)::DOUBLE AS ms, count(ms) AS ms_known
FROM begun LEFT JOIN again USING (chain_id)
GROUP BY ALL;
