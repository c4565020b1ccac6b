-- title: First use
-- question: When was each agent version, prompt, host and strategy first used with each model?
-- unit: one row per model and item
-- column what: harness_version, prompt, provider or strategy
-- column first_day: first day with calls of this model with the item, in the selected sources
-- column since: first day with any call of this model
-- note: Calls without a time are left out. Days outside the selected days count, so that the first day is correct.
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
