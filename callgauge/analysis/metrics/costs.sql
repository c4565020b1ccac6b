-- title: Cost of turns
-- question: What do turns cost in money, what does a successful one cost, and how much of that went into retries?
-- unit: one row a slice; the currency of $prices
-- days: added up
-- column slice: the value of $by; 'unknown' where the log names none
-- column calls: model calls (steps) of the turns; told_calls are those for which the log has input and output tokens
-- column priced_calls: calls with tokens in the log and a price for their model on their day; the others are unpriced
-- column amount: of the priced calls; NULL when there are none
-- column priced_turns: turns of which every call is priced; turns_amount is what they cost
-- column judged: of the priced turns, those whose success was measured; completed of them succeeded; judged_amount is what they cost
-- column reported: of the judged turns, those whose success the log reports; of the others it is derived
-- column retry_calls: model calls that attempts after the first took; retry_amount is what the retry_priced of them cost
-- column group_ids: the groups of sessions, of fifty, in order; the other group_… are of each of them what the column without group_ is of all
-- note: A call has the price of its turn's day and of its turn's model. Tokens read from and written to a provider's cache are counted separately and have their own prices.
-- note: Where a log does not report a cache, all input counts as ordinary input.
-- note: Per successful turn: what all judged turns cost, divided by those that succeeded, so the turns that failed are paid for, too.
-- note: A turn cannot be split by tool, strategy or agent version; a filter on tools does not narrow these numbers.
-- $by: model, provider, prompt, prompt_name, source, day. $prices: JSON, prices per million tokens with the days on which they hold; none when NULL.
WITH prices AS (
  SELECT p.model, p.from_day, p.to_day, p.input, p.cached_input, p.cache_write, p.output
  FROM (SELECT unnest(from_json(coalesce($prices, '[]'),
    '[{"model": "VARCHAR", "from_day": "DATE", "to_day": "DATE",
       "input": "DOUBLE", "cached_input": "DOUBLE", "cache_write": "DOUBLE", "output": "DOUBLE"}]')) AS p)
),
chosen AS (
  SELECT * FROM daily_tokens WHERE {filters: days, models, providers, prompts, sources, trials}
),
chosen_chains AS (
  SELECT * FROM daily_chains WHERE {filters: days, models, providers, prompts, sources, trials}
),
counted AS (
  SELECT false AS of_retries, day, source, provider, model, prompt_id, session_group, whole, recorded_ok, derived_ok,
         turns, steps, counted_steps, counted_input, counted_cached, counted_cache_write, counted_output
  FROM chosen
  UNION ALL
  SELECT true, day, source, provider, model, prompt_id, NULL, false, NULL, NULL,
         0, steps, counted_steps, counted_input, counted_cached, counted_cache_write, counted_output
  FROM chosen_chains
),
spent AS (
  SELECT
    c.* EXCLUDE (day, source, provider, model, prompt_id),
    coalesce(CASE coalesce($by, 'all')
      WHEN 'model' THEN c.model WHEN 'provider' THEN c.provider WHEN 'prompt' THEN c.prompt_id
      WHEN 'prompt_name' THEN coalesce(n.name, c.prompt_id) WHEN 'source' THEN c.source
      WHEN 'day' THEN c.day::VARCHAR ELSE 'all' END, 'unknown') AS slice,
    (counted_input * p.input + counted_cached * p.cached_input + counted_cache_write * p.cache_write
      + counted_output * p.output) / 1e6 AS cost
  FROM counted c
  LEFT JOIN prompts n USING (prompt_id)
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
