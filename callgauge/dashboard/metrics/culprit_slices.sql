-- title: A finding at a parameter, by anything
-- question: Who gets this parameter of the tool wrong in this way, and how often?
-- unit: calls with at least one finding of the code at the parameter
-- column slice: the value of $by; 'unknown' where the log names none
-- column k: calls with the finding
-- column n: calls of the tool that the parser could judge
-- column total: all calls of the tool; total - n is unmeasured
-- column example: the newest call with the finding
-- note: The share is of the calls that the parser could judge: those whose text or whose tool definition the log keeps.
-- note: The interval takes calls as independent of each other: how often one session repeats a finding is not in the daily sums.
-- note: Findings that the harness gave may stand on calls that the parser could not judge: such a slice has no share.
-- $by: model, provider, prompt, definition, source, day. $parameter: as declared, of an item `filters[].name`; '' = the arguments as a whole.
WITH
judged AS (
  SELECT
    coalesce(CASE $by
      WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'definition' THEN definition_id
      WHEN 'source' THEN source ELSE day::VARCHAR END, 'unknown') AS slice,
    sum(n)::BIGINT AS n, sum(total)::BIGINT AS total
  FROM daily_rates
  WHERE rate = 'strict_failure' AND cut = 'tool' AND list_contains($tools, coalesce(tool, 'unknown'))
    AND {filters: days, models, prompts, sources}
  GROUP BY ALL
),
found AS (
  SELECT
    coalesce(CASE $by
      WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'definition' THEN definition_id
      WHEN 'source' THEN source ELSE day::VARCHAR END, 'unknown') AS slice,
    sum(calls)::BIGINT AS k, arg_max(example, (coalesce(day, DATE '0001-01-01'), example)) AS example
  FROM daily_parameters
  WHERE parameter = $parameter AND code = $code AND list_contains($tools, coalesce(tool, 'unknown'))
    AND {filters: days, models, prompts, sources}
  GROUP BY ALL
)
SELECT slice, coalesce(k, 0)::BIGINT AS k, n, total, example
FROM judged LEFT JOIN found USING (slice)
ORDER BY k DESC, n DESC, slice
