-- title: Calls of each day
-- question: On which days can calls be that match, and how many at most?
-- unit: one row a day, the newest first; calls without a time last
-- column most: calls that match as far as the daily sums tell
-- column exact: that many do match; else the sums cannot tell by all that is asked
-- note: Counted in the daily sums, for the list of calls: it looks at no more days than it needs, see there for the words.
WITH told AS (
  SELECT day, source, model, prompt_id, tool, least(
    calls,
    CASE $outcome WHEN 'clean' THEN clean WHEN 'coerced' THEN coerced WHEN 'repaired' THEN repaired WHEN 'mended' THEN coerced + repaired
                  WHEN 'failed' THEN failed WHEN 'unmeasured' THEN unmeasured END,
    CASE $fault WHEN 'emission' THEN fault_emission WHEN 'syntax' THEN fault_syntax WHEN 'schema' THEN fault_schema
                WHEN 'tool_rejected' THEN fault_tool_rejected WHEN 'execution' THEN fault_execution WHEN 'refused' THEN fault_refused
                WHEN 'arguments' THEN fault_syntax + fault_schema WHEN 'unknown' THEN fault_unknown
                WHEN 'any' THEN fault_emission + fault_syntax + fault_schema + fault_tool_rejected + fault_execution + fault_refused
                WHEN 'none' THEN calls - fault_emission - fault_syntax - fault_schema - fault_tool_rejected - fault_execution
                                 - fault_refused - fault_unknown END) AS calls
  FROM daily_calls WHERE $code IS NULL AND $signature IS NULL
  UNION ALL
  SELECT day, source, model, prompt_id, tool, calls FROM daily_codes WHERE code = $code
  UNION ALL
  SELECT day, source, model, prompt_id, tool, calls FROM daily_errors WHERE $code IS NULL AND signature_id = $signature
)
SELECT day, sum(calls)::BIGINT AS most,
       $turns IS NULL AND $search IS NULL
         AND ($outcome IS NOT NULL)::INT + ($fault IS NOT NULL)::INT + ($code IS NOT NULL)::INT + ($signature IS NOT NULL)::INT <= 1 AS exact
FROM told
WHERE {filters: days, models, prompts, tools, sources}
GROUP BY day HAVING sum(calls) > 0
ORDER BY day DESC NULLS LAST
