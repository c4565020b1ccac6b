-- title: Mix of a slice
-- question: What share of the calls has each model, prompt, tool, strategy, agent version or kind of arguments?
-- unit: calls
-- days: added up
-- column dimension: model, provider, prompt, tool, strategy, source, harness_version, or a property of the calls: length, depth, non_ascii, turn, offered
-- column value: value of the dimension; for a property, the number of its class in ingest/store/rollups/traits.sql
-- column total: calls with any value of the dimension; the share is calls / total
-- note: The numbers come from the daily sums. Properties are counted only for calls whose arguments could be judged. With a filter on strategies or agent versions, there are no rows for properties.
WITH
chosen AS (
  SELECT model, provider, prompt_id, tool, strategy, source, harness_version, sum(total) AS calls FROM daily_rates
  WHERE rate = 'emission' AND cut = 'tool'
    AND {filters: days, models, providers, prompts, sources, tools, mcp_servers, strategies, harness_versions, trials}
  GROUP BY ALL
),
apart AS (
  SELECT 'model' AS dimension, coalesce(model, 'unknown') AS value, calls FROM chosen UNION ALL
  SELECT 'provider', coalesce(provider, 'unknown'), calls FROM chosen UNION ALL
  SELECT 'prompt', coalesce(prompt_id, 'unknown'), calls FROM chosen UNION ALL
  SELECT 'tool', coalesce(tool, 'unknown'), calls FROM chosen UNION ALL
  SELECT 'strategy', coalesce(strategy, 'unknown'), calls FROM chosen UNION ALL
  SELECT 'source', source, calls FROM chosen UNION ALL
  SELECT 'harness_version', coalesce(harness_version, 'unknown'), calls FROM chosen UNION ALL
  SELECT trait, class::VARCHAR, n FROM daily_traits
  WHERE $strategies IS NULL AND $harness_versions IS NULL
    AND {filters: days, models, providers, prompts, sources, tools, mcp_servers, trials}
)
SELECT dimension, value, sum(calls)::BIGINT AS calls, (sum(sum(calls)) OVER (PARTITION BY dimension))::BIGINT AS total
FROM apart GROUP BY dimension, value ORDER BY dimension, calls DESC, value
