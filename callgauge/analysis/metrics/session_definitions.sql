-- title: Definitions of the tools that a session called
-- question: Which tools, whose definition is known, did these sessions call?
-- unit: one row a session and tool
-- column definition_id: the one of its newest call
-- note: A tool that was offered and never called is not here: no table says what a session was offered.
SELECT session_id, tool, arg_max(definition_id, (ts, turn, step, ordinal)) AS definition_id
FROM tool_calls
WHERE list_contains($sessions, session_id) AND definition_id IS NOT NULL AND tool IS NOT NULL
  AND NOT coalesce(duplicate, false)
GROUP BY session_id, tool
ORDER BY session_id, tool
