-- title: Definitions of called tools
-- question: Which tools with a known definition did these sessions call?
-- unit: one row per session and tool
-- column definition_id: id of the definition of the tool's newest call in the session
-- note: Tools that were offered but never called are missing, because no table contains the tools that a session was offered.
SELECT session_id, tool, arg_max(definition_id, (ts, turn, step, ordinal)) AS definition_id
FROM tool_calls
WHERE list_contains($sessions, session_id) AND definition_id IS NOT NULL AND tool IS NOT NULL
  AND NOT coalesce(duplicate, false)
GROUP BY session_id, tool
ORDER BY session_id, tool
