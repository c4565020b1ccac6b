-- title: Failed calls by stage
-- question: At which stage did each failed call first fail, and how many calls succeeded?
-- unit: calls
-- days: added up
-- column layer: the first stage at which the call failed; 'none' = no failure was seen; 'unknown' = not measured
-- column total: number of all calls in the slice
-- note: Each call counts in one row: the first stage at which the agent, the tool or the parser reports a failure.
-- note: A call is not measured if no failure was seen, but the log lacks its result or does not show whether its arguments were valid.
WITH chosen AS (
  FROM daily_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
),
layers(position, layer, calls) AS (
  SELECT 1, 'emission', sum(fault_emission) FROM chosen UNION ALL
  SELECT 2, 'syntax', sum(fault_syntax) FROM chosen UNION ALL
  SELECT 3, 'schema', sum(fault_schema) FROM chosen UNION ALL
  SELECT 4, 'tool_rejected', sum(fault_tool_rejected) FROM chosen UNION ALL
  SELECT 5, 'execution', sum(fault_execution) FROM chosen UNION ALL
  SELECT 6, 'refused', sum(fault_refused) FROM chosen UNION ALL
  SELECT 7, 'none', sum(calls - fault_emission - fault_syntax - fault_schema
                        - fault_tool_rejected - fault_execution - fault_refused - fault_unknown) FROM chosen UNION ALL
  SELECT 8, 'unknown', sum(fault_unknown) FROM chosen
)
SELECT layer, coalesce(calls, 0)::BIGINT AS calls, (SELECT coalesce(sum(calls), 0) FROM chosen)::BIGINT AS total
FROM layers ORDER BY position
