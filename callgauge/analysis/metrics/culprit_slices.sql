-- title: A diagnostic at a parameter, by any dimension
-- question: Who gets this parameter of the tool wrong in this way, and how often?
-- unit: calls with at least one finding of the code at the parameter
-- days: added up
-- column slice: the value of $by; 'unknown' where the log names none
-- column k: calls with the diagnostic
-- column n: calls of the tool that the parser could judge
-- column total: all calls of the tool; total - n were not measured
-- column group_ids: the groups of sessions, of fifty, with such a call of the tool, in order; group_k and group_n are k and n of each of them
-- column example: the newest call with the diagnostic
-- note: The share is of the calls that the parser could judge: those whose text or whose tool definition the log keeps.
-- note: Diagnostics that the agent reported may be on calls that the parser could not judge; such a slice has no share.
-- $by: model, provider, prompt, definition, source, day. $parameter: as declared, of an item `filters[].name`; '' = the arguments as a whole.
WITH
calls AS (
  SELECT
    coalesce(CASE $by
      WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'definition' THEN definition_id
      WHEN 'source' THEN source WHEN 'day' THEN day::VARCHAR END, 'unknown') AS slice,
    n, total, group_ids, group_n
  FROM daily_rates
  WHERE rate = 'defined' AND cut = 'tool' AND list_contains($tools, coalesce(tool, 'unknown'))
    AND {filters: days, models, providers, prompts, sources, trials}
),
findings AS (
  SELECT
    coalesce(CASE $by
      WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'definition' THEN definition_id
      WHEN 'source' THEN source WHEN 'day' THEN day::VARCHAR END, 'unknown') AS slice,
    calls, example_ts, example, group_ids, group_calls
  FROM daily_parameters
  WHERE parameter = $parameter AND code = $code AND list_contains($tools, coalesce(tool, 'unknown'))
    AND {filters: days, models, providers, prompts, sources, trials}
),
judged AS (SELECT slice, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total FROM calls GROUP BY ALL),
found AS (
  SELECT slice, sum(calls)::BIGINT AS k, arg_max(example, (example_ts, example)) AS example
  FROM findings GROUP BY ALL
),
of_groups AS (
  SELECT slice, id, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n
  FROM (
    SELECT slice, unnest(group_ids) AS id, 0 AS k, unnest(group_n) AS n FROM calls UNION ALL
    SELECT slice, unnest(group_ids), unnest(group_calls), 0 FROM findings
  )
  GROUP BY ALL
),
lists AS (
  SELECT slice, list(id ORDER BY id) AS group_ids, list(k ORDER BY id) AS group_k, list(n ORDER BY id) AS group_n
  FROM of_groups GROUP BY ALL
)
SELECT slice, coalesce(k, 0)::BIGINT AS k, n, total,
       coalesce(group_ids, []) AS group_ids, coalesce(group_k, []) AS group_k, coalesce(group_n, []) AS group_n, example
FROM judged LEFT JOIN found USING (slice) LEFT JOIN lists USING (slice)
ORDER BY k DESC, n DESC, slice
