-- title: First use
-- question: When was each agent version, prompt, host and strategy first used with each model?
-- unit: one row per model and agent version, prompt, host or strategy
-- column what: kind of the item: harness_version, prompt, provider or strategy
-- column first_day: first day on which this model had calls with the item, in the selected sources
-- column since: first day on which this model had any calls
-- note: Calls without a time are left out. The filter by day does not apply, so that the first day is correct.
WITH used AS (
  SELECT DISTINCT day, coalesce(model, 'unknown') AS model, source, provider, prompt_id, harness_version, strategy
  FROM daily_rates
  WHERE rate = 'emission' AND cut = 'all' AND day IS NOT NULL
    AND {filters: models, sources, trials}
),
things AS (
  SELECT model, day, unnest([
    {'what': 'harness_version', 'name': source || ' ' || harness_version}, {'what': 'prompt', 'name': prompt_id},
    {'what': 'provider', 'name': provider}, {'what': 'strategy', 'name': strategy}
  ], recursive := true)
  FROM used
)
SELECT model, what, name, min(day) AS first_day, min(min(day)) OVER (PARTITION BY model) AS since
FROM things
WHERE name IS NOT NULL
GROUP BY model, what, name
ORDER BY model, first_day, what, name
