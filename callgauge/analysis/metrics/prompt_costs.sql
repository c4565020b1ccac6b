-- title: Cost of turns by prompt and model
-- question: How much does a successful turn of each prompt cost with each model?
-- unit: one row per prompt, model and source, in the currency of $prices
-- days: added up
-- column slice: the ID of the prompt; 'unknown' if the log does not name it
-- column turns: number of turns
-- column priced: turns in which every model call has tokens in the log and a price on its day
-- column judged: priced turns whose success was measured
-- column completed: judged turns that succeeded
-- column amount: cost of the priced turns
-- column judged_amount: cost of all judged turns
-- column group_ids: ids of the random session groups, in order; a column group_X holds column X for each of these groups
-- note: The cost per successful turn is the cost of all judged turns, divided by the number of successful turns. It includes the cost of failed turns.
-- note: A filter on tools does not change these numbers.
-- $prices: JSON, prices per million tokens with the days on which they apply; NULL = no prices.
WITH prices AS (
  SELECT p.model, p.from_day, p.to_day, p.input, p.cached_input, p.cache_write, p.output
  FROM (SELECT unnest(from_json(coalesce($prices, '[]'),
    '[{"model": "VARCHAR", "from_day": "DATE", "to_day": "DATE",
       "input": "DOUBLE", "cached_input": "DOUBLE", "cache_write": "DOUBLE", "output": "DOUBLE"}]')) AS p)
),
counted AS (
  SELECT coalesce(prompt_id, 'unknown') AS slice, coalesce(model, 'unknown') AS model, source, day, session_group, whole,
         coalesce(recorded_ok, derived_ok) AS ok, turns,
         counted_input, counted_cached, counted_cache_write, counted_output
  FROM daily_tokens
  WHERE {filters: days, models, providers, prompts, sources, trials}
),
spent AS (
  SELECT c.*, (counted_input * p.input + counted_cached * p.cached_input + counted_cache_write * p.cache_write
      + counted_output * p.output) / 1e6 AS cost
  FROM counted c
  LEFT JOIN prices p ON p.model = c.model AND c.day >= p.from_day AND (p.to_day IS NULL OR c.day < p.to_day)
),
of_groups AS (
  SELECT
    slice, model, source, session_group AS id, sum(turns) AS turns,
    coalesce(sum(turns) FILTER (whole AND cost IS NOT NULL), 0) AS priced,
    coalesce(sum(turns) FILTER (whole AND cost IS NOT NULL AND ok IS NOT NULL), 0) AS judged,
    coalesce(sum(turns) FILTER (whole AND cost IS NOT NULL AND ok), 0) AS completed,
    coalesce(sum(cost) FILTER (whole), 0) AS amount,
    coalesce(sum(cost) FILTER (whole AND ok IS NOT NULL), 0) AS judged_amount
  FROM spent GROUP BY ALL
)
SELECT
  slice, model, source, sum(turns)::BIGINT AS turns, sum(priced)::BIGINT AS priced, sum(judged)::BIGINT AS judged,
  sum(completed)::BIGINT AS completed, sum(amount)::DOUBLE AS amount, sum(judged_amount)::DOUBLE AS judged_amount,
  list(id ORDER BY id) AS group_ids, list(completed::BIGINT ORDER BY id) AS group_completed,
  list(judged_amount::DOUBLE ORDER BY id) AS group_judged_amount
FROM of_groups
GROUP BY ALL
ORDER BY turns DESC, slice, model, source
