-- title: Tokens, steps and time of turns
-- question: How many tokens, steps and seconds does a turn take, and how many turns does one success take?
-- unit: one row per slice; turns, tokens, steps and milliseconds
-- days: added up
-- column slice: the value of $by; 'unknown' if the log names none
-- column tokens: input and output of the tokens_known turns whose log has both
-- column ms: time of the ms_known turns: of the whole turn if the log has it, else of the model alone
-- column ok: turns that succeeded, of ok_known: reported by the log, else derived
-- column ok_reported: turns of ok_known whose success the log reports
-- note: Per turn: the sum over the measured turns, divided by their number.
-- note: Per successful turn: the same, divided by the share of successful turns. It includes the cost of failed turns, and assumes that measured turns fail as often as the others.
-- note: Tokens of a turn cannot be divided by tool, strategy or agent version. A filter on tools does not change these numbers.
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
