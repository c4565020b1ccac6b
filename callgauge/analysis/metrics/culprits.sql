-- title: Parameters with failures
-- question: Which parameters do calls get wrong, and how?
-- unit: calls with the diagnostic at the parameter
-- days: added up
-- column parameter: as declared; for an item `filters[].name`; empty = the arguments as a whole
-- column judged: calls of the slice that the parser could judge
-- column group_ids: groups of sessions (of fifty) with such calls, in order; group_calls and group_judged: calls and judged of each
-- column example: the newest such call
-- note: The share is of the calls that the parser could judge: those whose log has their text or whose tool definition is known.
-- note: A call counts once for each parameter and code, so the rows overlap. Errors come first, then guesses, then notes. A missing definition is not a diagnostic about a parameter and is left out.
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
