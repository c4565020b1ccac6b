-- title: Parameters with failures
-- question: Which parameters are wrong in calls, and which diagnostics report that?
-- unit: calls with the diagnostic at the parameter
-- days: added up
-- column parameter: path of the parameter in the definition; `filters[].name` for an item of a list; empty = the arguments as a whole
-- column judged: calls of the slice that the parser could judge
-- column group_ids: ids of the random session groups with such calls, in order
-- column group_calls: calls in each of these groups
-- column group_judged: judged calls in each of these groups
-- column example: id of the newest such call
-- note: The share's denominator is the calls that the parser could judge: calls whose text is in the log or whose tool definition is known.
-- note: A call counts once for each pair of parameter and code, so rows share calls. Errors come first, then guesses, then notes. A missing definition is not a fault of a parameter, so it is left out.
WITH
findings AS NOT MATERIALIZED (
  FROM daily_parameters
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND code <> 'tool_definition_missing'
),
found AS (
  SELECT parameter, code, max(severity) AS severity, sum(calls)::BIGINT AS calls,
         arg_max(example, (example_ts, example)) AS example
  FROM findings
  GROUP BY parameter, code
),
listed AS MATERIALIZED (
  SELECT row_number() OVER ()::UINTEGER AS number, parameter, code, coalesce(c.severity, found.severity) AS severity, calls, example, summary
  FROM found LEFT JOIN codes c USING (code)
  ORDER BY CASE coalesce(c.severity, found.severity) WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, calls DESC, parameter, code
  LIMIT coalesce($limit, 100)
),
judged AS (
  SELECT id, sum(n)::BIGINT AS n
  FROM (
    SELECT unnest(group_ids) AS id, unnest(group_n) AS n FROM daily_rates
    WHERE rate = 'defined' AND cut = if($tools IS NULL AND $mcp_servers IS NULL, 'all', 'tool')
      AND {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  )
  GROUP BY id
),
of_groups AS (
  SELECT number, id, sum(calls)::BIGINT AS calls, sum(judged)::BIGINT AS judged
  FROM (
    SELECT number, unnest(group_ids) AS id, unnest(group_calls) AS calls, 0 AS judged
    FROM (SELECT number, group_ids, group_calls FROM findings JOIN listed USING (parameter, code)) UNION ALL
    SELECT number, id, 0, n FROM listed CROSS JOIN judged
  )
  GROUP BY number, id
),
lists AS (
  SELECT number, list(id ORDER BY id) AS group_ids,
         list(calls ORDER BY id) AS group_calls, list(judged ORDER BY id) AS group_judged
  FROM of_groups GROUP BY number
)
SELECT parameter, code, severity, calls, (SELECT coalesce(sum(n), 0) FROM judged)::BIGINT AS judged,
       coalesce(group_ids, []) AS group_ids, coalesce(group_calls, []) AS group_calls,
       coalesce(group_judged, []) AS group_judged, example, summary
FROM listed LEFT JOIN lists USING (number)
ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, calls DESC, parameter, code
