-- title: Worst parameter of each tool
-- question: Which parameter of each tool fails most often, and with which diagnostic?
-- unit: calls with the diagnostic at the parameter
-- days: added up
-- column parameter: path of the parameter in the definition; `filters[].name` for an item of a list
-- column code: the most frequent diagnostic code at the parameter
-- column judged: calls of the tool that the parser could judge
-- note: A call counts once for each pair of parameter and code. The row of a tool shows its most frequent pair.
WITH
found AS (
  SELECT tool, parameter, code, sum(calls)::BIGINT AS calls
  FROM daily_parameters
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND parameter <> '' AND code <> 'tool_definition_missing'
  GROUP BY tool, parameter, code
),
judged AS (
  SELECT tool, sum(mend_known)::BIGINT AS judged
  FROM daily_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  GROUP BY tool
)
SELECT tool, parameter, code, calls, coalesce(judged, 0)::BIGINT AS judged
FROM found LEFT JOIN judged USING (tool)
QUALIFY row_number() OVER (PARTITION BY tool ORDER BY calls DESC, parameter, code) = 1
ORDER BY calls DESC, tool
