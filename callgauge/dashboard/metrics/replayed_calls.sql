-- title: Calls to read anew
-- question: What does it take to read each call's arguments again?
-- unit: one row a call; copies in repeated transcripts are left out
-- note: Of a large slice every n-th session is read, with all of its calls.
-- column sent: the tool's name as the model sent it
-- column codes: what the parser found when the call was loaded; only with $stored
WITH found AS (
  SELECT call_id, file_id, list(code ORDER BY position) AS codes FROM diagnostics WHERE $stored GROUP BY ALL
)
SELECT call_id, session_id, ts, model, coalesce(tool_sent, tool) AS sent, args_source, raw_arguments,
       refused_by_harness, result_fault_layer, definition_id, coalesce(tools_offered, false) AS offered,
       outcome, codes
FROM tool_calls LEFT JOIN found USING (call_id, file_id)
WHERE {filters: days, models, prompts, tools, sources, trials}
  AND NOT coalesce(duplicate, false)
  AND (coalesce($every, 1) = 1 OR hash(session_id) % $every = 0)
