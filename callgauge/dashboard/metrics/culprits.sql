-- title: Culprits
-- question: Which parameters do calls get wrong, and how?
-- unit: calls with at least one finding of the code at the parameter
-- column parameter: as declared, of an item `filters[].name`; empty = the arguments as a whole
-- column judged: calls of the selection that the parser could judge
-- column example: the newest such call
-- note: The share is of the calls that the parser could judge: those whose text or whose tool definition the log keeps.
-- note: A call counts once for each parameter and code, so the rows overlap. Errors first, then guesses, then notes. That no definition is known is no finding about a parameter and is left out.
WITH found AS (
  SELECT parameter, code, max(severity) AS severity, sum(calls)::BIGINT AS calls,
         arg_max(example, (coalesce(day, DATE '0001-01-01'), example)) AS example
  FROM daily_parameters
  WHERE {filters: days, models, prompts, tools, sources}
    AND code <> 'tool_definition_missing'
  GROUP BY parameter, code
),
judged AS (
  SELECT coalesce(sum(mend_known), 0)::BIGINT AS judged FROM daily_calls
  WHERE {filters: days, models, prompts, tools, sources}
)
SELECT parameter, code, coalesce(c.severity, found.severity) AS severity, calls, judged, example, summary
FROM found CROSS JOIN judged LEFT JOIN codes c USING (code)
ORDER BY CASE coalesce(c.severity, found.severity) WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, calls DESC, parameter, code
LIMIT coalesce($limit, 100)
