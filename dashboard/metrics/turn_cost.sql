-- title: What a turn costs
-- question: How many tokens, steps, calls and seconds did turns take?
-- unit: turns, tokens, steps, calls, milliseconds: sums over the selection
-- column tokens: input and output tokens of the tokens_known turns whose log tells both
-- column ms: duration of the ms_known turns whose log tells it: the whole turn's, or else the model's time
-- column derived_ok: turns that ended well, of derived_known that can be judged
-- note: Per successful turn: what a turn takes on average over the share of turns that ended well, so that failed turns are paid for.
-- note: Turns whose log does not tell the tokens or the time are in neither.
-- note: From the daily sums; with a tool, a strategy or a harness version chosen from the facts: a turn is in when one of its calls is.
WITH
daily AS (
  SELECT turns, steps, calls, tokens_known, tokens, ms_known, ms, recorded_known, recorded_ok, derived_known, derived_ok
  FROM daily_turns
  WHERE $tools IS NULL AND $strategies IS NULL AND $harness_versions IS NULL
    AND ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
    AND ($providers IS NULL OR list_contains($providers, coalesce(provider, 'unknown')))
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
    AND ($sources IS NULL OR list_contains($sources, source))
),
facts AS (
  SELECT 1 AS turns, steps, calls, (input_tokens IS NOT NULL AND output_tokens IS NOT NULL)::BIGINT AS tokens_known,
         coalesce(input_tokens + output_tokens, 0) AS tokens,
         (coalesce(latency_ms, model_latency_ms) IS NOT NULL)::BIGINT AS ms_known,
         coalesce(latency_ms, model_latency_ms, 0) AS ms,
         (recorded_ok IS NOT NULL)::BIGINT AS recorded_known, coalesce(recorded_ok, false)::BIGINT AS recorded_ok,
         (derived_ok IS NOT NULL)::BIGINT AS derived_known, coalesce(derived_ok, false)::BIGINT AS derived_ok
  FROM turns
  WHERE NOT ($tools IS NULL AND $strategies IS NULL AND $harness_versions IS NULL) AND NOT coalesce(duplicate, false)
    AND ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
    AND ($providers IS NULL OR list_contains($providers, coalesce(provider, 'unknown')))
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
    AND ($sources IS NULL OR list_contains($sources, source))
    AND (($tools IS NULL AND $strategies IS NULL) OR turn_id IN (
      SELECT turn_id FROM tool_calls WHERE NOT coalesce(duplicate, false)
        AND ($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
        AND ($strategies IS NULL OR list_contains($strategies, coalesce(strategy, 'unknown')))))
    AND ($harness_versions IS NULL OR session_id IN (
      SELECT session_id FROM sessions WHERE NOT coalesce(duplicate, false) GROUP BY session_id
      HAVING list_contains($harness_versions, coalesce(min(harness_version), 'unknown'))))
)
SELECT coalesce(sum(turns), 0)::BIGINT AS turns, coalesce(sum(steps), 0)::BIGINT AS steps, coalesce(sum(calls), 0)::BIGINT AS calls,
       coalesce(sum(tokens_known), 0)::BIGINT AS tokens_known, coalesce(sum(tokens), 0)::BIGINT AS tokens,
       coalesce(sum(ms_known), 0)::BIGINT AS ms_known, coalesce(sum(ms), 0)::DOUBLE AS ms,
       coalesce(sum(derived_known), 0)::BIGINT AS derived_known, coalesce(sum(derived_ok), 0)::BIGINT AS derived_ok
FROM (FROM daily UNION ALL BY NAME FROM facts)
