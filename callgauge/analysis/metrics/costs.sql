-- title: Cost of turns
-- question: How much do turns cost, how much does a successful turn cost, and how much was spent on retries?
-- unit: one row per slice, in the currency of $prices
-- days: added up
-- column slice: the value of $by; 'unknown' if the log does not name the value
-- column calls: number of model calls (steps) in the turns
-- column told_calls: model calls for which the log contains input and output tokens
-- column priced_calls: model calls for which the log contains tokens and the model had a price on that day
-- column amount: cost of the priced calls; NULL if no call is priced
-- column priced_turns: turns in which every model call has a price
-- column turns_amount: cost of these turns
-- column judged: priced turns whose success was measured
-- column completed: judged turns that succeeded
-- column judged_amount: cost of all judged turns
-- column reported: judged turns whose success the log reports; the success of the other judged turns is derived
-- column retry_calls: model calls for the attempts after the first
-- column retry_priced: those model calls that have a price
-- column retry_amount: cost of the calls in retry_priced
-- column group_ids: ids of the random session groups, in order; a column group_X holds column X for each of these groups
-- note: A model call has the price of its turn's model on its turn's day. Tokens that are read from or written to a provider's cache have their own prices.
-- note: If a log does not report a cache, all input tokens count as ordinary input.
-- note: The cost per successful turn is the cost of all judged turns, divided by the number of successful turns. It includes the cost of failed turns.
-- note: A turn's tokens cannot be assigned to tools, strategies or agent versions. A filter on tools does not change these numbers.
-- $by: model, provider, prompt, prompt_name, source, day. $prices: JSON, prices per million tokens with the days on which they apply; NULL = no prices. $retries: false skips the sums of retries, which takes half of the time; then retry_calls is 0.
WITH prices AS (
  SELECT p.model, p.from_day, p.to_day, p.input, p.cached_input, p.cache_write, p.output
  FROM (SELECT unnest(from_json(coalesce($prices, '[]'),
    '[{"model": "VARCHAR", "from_day": "DATE", "to_day": "DATE",
       "input": "DOUBLE", "cached_input": "DOUBLE", "cache_write": "DOUBLE", "output": "DOUBLE"}]')) AS p)
),
counted AS (
  SELECT false AS of_retries, CASE coalesce($by, 'all') WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id
           WHEN 'prompt_name' THEN prompt_id WHEN 'source' THEN source WHEN 'day' THEN day::VARCHAR ELSE 'all' END AS value, day, model, session_group, whole, recorded_ok, derived_ok,
         turns, steps, counted_steps, counted_input, counted_cached, counted_cache_write, counted_output
  FROM daily_tokens WHERE {filters: days, models, providers, prompts, sources, trials}
  UNION ALL
  -- A large store has many chains for each model and day, so they are summed up before they get prices.
  SELECT true, CASE coalesce($by, 'all') WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id
           WHEN 'prompt_name' THEN prompt_id WHEN 'source' THEN source WHEN 'day' THEN day::VARCHAR ELSE 'all' END AS value, day, model, NULL, false, NULL, NULL, 0,
         sum(steps), sum(counted_steps), sum(counted_input), sum(counted_cached), sum(counted_cache_write), sum(counted_output)
  FROM daily_chains WHERE coalesce($retries, true)
    AND {filters: days, models, providers, prompts, sources, trials}
  GROUP BY ALL
),
spent AS (
  SELECT
    c.* EXCLUDE (day, model, value),
    coalesce(if($by = 'prompt_name', n.name, NULL), c.value, 'unknown') AS slice,
    (counted_input * p.input + counted_cached * p.cached_input + counted_cache_write * p.cache_write
      + counted_output * p.output) / 1e6 AS cost
  FROM counted c
  LEFT JOIN prompts n ON n.prompt_id = c.value AND $by = 'prompt_name'
  LEFT JOIN prices p ON p.model = c.model AND c.day >= p.from_day AND (p.to_day IS NULL OR c.day < p.to_day)
),
judged AS (
  SELECT *, coalesce(recorded_ok, derived_ok) AS ok FROM spent
),
of_groups AS (
  SELECT
    slice, session_group AS id, sum(turns) AS turns, sum(steps) AS calls, sum(counted_steps) AS told_calls,
    coalesce(sum(counted_steps) FILTER (cost IS NOT NULL), 0) AS priced_calls,
    sum(cost) FILTER (counted_steps > 0) AS amount,
    coalesce(sum(turns) FILTER (whole AND cost IS NOT NULL), 0) AS priced_turns,
    coalesce(sum(cost) FILTER (whole), 0) AS turns_amount,
    coalesce(sum(turns) FILTER (whole AND cost IS NOT NULL AND ok IS NOT NULL), 0) AS judged,
    coalesce(sum(turns) FILTER (whole AND cost IS NOT NULL AND recorded_ok IS NOT NULL), 0) AS reported,
    coalesce(sum(turns) FILTER (whole AND cost IS NOT NULL AND ok), 0) AS completed,
    coalesce(sum(cost) FILTER (whole AND ok IS NOT NULL), 0) AS judged_amount
  FROM judged WHERE NOT of_retries GROUP BY ALL
),
retried AS (
  SELECT slice, sum(steps) AS retry_calls, coalesce(sum(counted_steps) FILTER (cost IS NOT NULL), 0) AS retry_priced,
         sum(cost) FILTER (counted_steps > 0) AS retry_amount
  FROM spent WHERE of_retries GROUP BY slice
)
SELECT
  slice, sum(turns)::BIGINT AS turns, sum(calls)::BIGINT AS calls, sum(told_calls)::BIGINT AS told_calls,
  sum(priced_calls)::BIGINT AS priced_calls, sum(amount)::DOUBLE AS amount,
  sum(priced_turns)::BIGINT AS priced_turns, sum(turns_amount)::DOUBLE AS turns_amount,
  sum(judged)::BIGINT AS judged, sum(completed)::BIGINT AS completed, sum(reported)::BIGINT AS reported,
  sum(judged_amount)::DOUBLE AS judged_amount,
  coalesce(any_value(retry_calls), 0)::BIGINT AS retry_calls,
  coalesce(any_value(retry_priced), 0)::BIGINT AS retry_priced, any_value(retry_amount)::DOUBLE AS retry_amount,
  list(id ORDER BY id) AS group_ids, list(priced_turns::BIGINT ORDER BY id) AS group_priced_turns,
  list(turns_amount::DOUBLE ORDER BY id) AS group_turns_amount, list(completed::BIGINT ORDER BY id) AS group_completed,
  list(judged_amount::DOUBLE ORDER BY id) AS group_judged_amount
FROM of_groups LEFT JOIN retried USING (slice)
GROUP BY slice
ORDER BY amount DESC NULLS LAST, turns DESC, slice
