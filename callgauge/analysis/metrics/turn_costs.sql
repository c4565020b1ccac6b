-- title: Tokens, steps and time of turns
-- question: How many tokens, steps and seconds does a turn take, and how much does one successful turn take?
-- unit: one row per slice; turns, tokens, steps and milliseconds
-- days: added up
-- column slice: the value of $by; 'unknown' if the log does not name the value
-- column tokens: sum of input and output tokens over the turns in tokens_known
-- column tokens_known: number of turns for which the log contains input and output tokens
-- column ms: sum of the times of the turns in ms_known; the time of the whole turn if the log contains it, else only the model's time
-- column ms_known: number of turns for which the log contains a time
-- column ok: number of turns in ok_known that succeeded
-- column ok_known: number of turns whose success is reported by the log or else derived
-- column ok_reported: number of turns in ok_known whose success the log reports
-- note: A number per turn is the sum over the measured turns, divided by the number of measured turns.
-- note: A number per successful turn is the number per turn, divided by the share of successful turns. It includes the cost of failed turns, and assumes that measured turns fail as often as the others.
-- note: A turn's tokens cannot be assigned to tools, strategies or agent versions. A filter on tools does not change these numbers.
-- $by: model, provider, prompt, prompt_name, source, day.
WITH chosen AS (
  SELECT t.*, coalesce(p.name, t.prompt_id) AS prompt_name
  FROM daily_turns t LEFT JOIN prompts p USING (prompt_id)
  WHERE {filters: days, models, providers, trials}
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(t.prompt_id, 'unknown')))
    AND {filters: sources, trials}
),
summed AS (
  SELECT
    coalesce(CASE coalesce($by, 'all')
      WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id
      WHEN 'prompt_name' THEN prompt_name WHEN 'source' THEN source WHEN 'day' THEN day::VARCHAR ELSE 'all' END,
      'unknown') AS slice,
    sum(turns)::BIGINT AS turns, sum(steps)::BIGINT AS steps,
    sum(tokens_known)::BIGINT AS tokens_known, sum(tokens)::BIGINT AS tokens,
    sum(ms_known)::BIGINT AS ms_known, sum(us) / 1000.0 AS ms,
    sum(succeeded)::BIGINT AS ok, sum(success_known)::BIGINT AS ok_known, sum(recorded_known)::BIGINT AS ok_reported
  FROM chosen GROUP BY slice
)
SELECT slice, turns, steps, tokens_known, tokens, ms_known, ms, ok, ok_known, ok_reported
FROM summed
ORDER BY turns DESC, slice
