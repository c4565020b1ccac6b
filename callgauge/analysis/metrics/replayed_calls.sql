-- title: Calls to parse again
-- question: Which data does the parser need to parse each call's arguments again?
-- unit: one row per call; calls that a later transcript repeats are left out
-- note: In a large slice, only every n-th session is read, with all of its calls.
-- column sent: name of the tool as the model wrote it
-- column codes: diagnostic codes that were stored when the call was loaded; only if $stored is true
WITH slice AS NOT MATERIALIZED (
  FROM tool_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND NOT coalesce(duplicate, false)
    AND (coalesce($every, 1) = 1 OR hash(session_id) % $every = 0)
),
-- Of the slice alone: the findings of fifty million calls would fill the memory before the first call is read.
found AS (
  SELECT call_id, file_id, list(code ORDER BY position) AS codes
  FROM diagnostics SEMI JOIN (FROM slice WHERE $stored AND worst_severity IS NOT NULL) USING (call_id, file_id)
  WHERE $stored
  GROUP BY ALL
),
-- Apart: calls without findings, which are most, then wait for no join.
told AS (
  SELECT *, NULL AS codes FROM slice WHERE NOT coalesce($stored AND worst_severity IS NOT NULL, false)
  UNION ALL
  SELECT * FROM slice LEFT JOIN found USING (call_id, file_id) WHERE $stored AND worst_severity IS NOT NULL
)
SELECT call_id, session_id, ts, model, coalesce(tool_sent, tool) AS sent, args_source, raw_arguments,
       refused_by_harness, result_fault_layer, definition_id, coalesce(tools_offered, false) AS offered,
       outcome, codes
FROM told
