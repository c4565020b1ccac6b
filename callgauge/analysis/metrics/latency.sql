-- title: Latency
-- question: How long do tool calls and model steps take (median and 95th percentile)?
-- unit: milliseconds; one row per slice and kind
-- column slice: the value of $by; 'all' without $by, 'unknown' if the log names none
-- column kind: tool (time of a tool call) or step (the model's time for a step with a call)
-- column n: calls or steps whose log has a time
-- column total: all calls, or all steps with a call; total - n were not measured
-- column p50: median; p95: 95th percentile
-- note: Times are counted in classes 2 % wide, so a percentile is exact to about 1 %.
-- note: A step with several calls counts once. By tool, or with a filter on tools, it counts for the tool of its first call.
-- note: Steps without a call are not counted. Seconds / turn has the time of whole turns.
-- note: Copies of a call in a second file are left out. Results that a trial simulated have no tool time.
-- $by: model, provider, prompt, prompt_name, tool, mcp_server, definition, strategy, source, day.
WITH
chosen AS NOT MATERIALIZED (
  SELECT c.*, coalesce(p.name, c.prompt_id) AS prompt_name, NULL AS harness_version
  FROM tool_calls c LEFT JOIN prompts p USING (prompt_id)
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND NOT coalesce(duplicate, false)
),
timed AS NOT MATERIALIZED (
  SELECT {value: by} AS slice, 'tool' AS kind, latency_ms AS ms FROM chosen WHERE simulated IS NULL
  UNION ALL
  -- The calls of a step are numbered from 0.
  SELECT {value: by}, 'step', model_latency_ms FROM chosen WHERE ordinal = 0
),
classes AS (
  SELECT slice, kind, floor(ln(if(ms < 0.001, 0.001, ms)) / ln(1.02))::INTEGER AS class, count(*) AS calls
  FROM timed GROUP BY ALL
),
added AS (
  SELECT slice, kind, class, calls,
         sum(calls) FILTER (class IS NOT NULL) OVER (PARTITION BY slice, kind ORDER BY class) AS up_to,
         sum(calls) FILTER (class IS NOT NULL) OVER (PARTITION BY slice, kind) AS measured
  FROM classes
)
SELECT
  slice, kind, coalesce(sum(calls) FILTER (class IS NOT NULL), 0)::BIGINT AS n, sum(calls)::BIGINT AS total,
  1.02 ** (min(class) FILTER (class IS NOT NULL AND up_to >= 0.5 * measured) + 0.5) AS p50,
  1.02 ** (min(class) FILTER (class IS NOT NULL AND up_to >= 0.95 * measured) + 0.5) AS p95
FROM added
GROUP BY slice, kind
ORDER BY total DESC, slice, kind DESC
