-- title: Latency
-- question: How long do tool calls and model steps take (median and 95th percentile)?
-- unit: milliseconds; one row per slice and kind
-- column slice: the value of $by; 'all' if $by is not set, 'unknown' if the log does not name the value
-- column kind: tool (time of a tool call) or step (time that the model took for a step with a call)
-- column n: number of calls or steps for which the log contains a time
-- column total: number of all calls, or of all steps with a call; for total - n of them the log contains no time
-- column p50: median
-- column p95: 95th percentile
-- note: Times are counted in histogram bins that are 2 % wide, so the error of a percentile is about 1 %.
-- note: A step with several calls counts once. With one row per tool, or a filter on tools, a step counts for the tool of its first call.
-- note: Steps without a call are not counted. For the time of whole turns, see Seconds / turn.
-- note: Calls that a second file repeats are left out. Simulated results of trials have no tool time.
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
