-- title: Parse errors by day and model
-- question: On which days did which model send arguments that were refused?
-- unit: calls; the rate is k / n
-- column k: calls refused at the syntax or the schema layer
-- column n: calls of which that can be known
-- note: A parse error is a call whose arguments were refused, by the harness or by our parser. Calls of which that cannot be known are left out.
-- note: Calls without a time have no day and are left out too.
SELECT day, coalesce(model, 'unknown') AS model,
       sum(fault_syntax + fault_schema)::BIGINT AS k, sum(parse_known)::BIGINT AS n
FROM daily_calls
WHERE ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
  AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
  AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
  AND ($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
  AND ($sources IS NULL OR list_contains($sources, source))
  AND day IS NOT NULL
GROUP BY ALL HAVING n > 0
ORDER BY day, model
