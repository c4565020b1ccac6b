-- title: Tools that nobody calls
-- question: Which tools were offered, but never called, and how many tokens does each definition cost per step?
SELECT l.tool, any_value(l.mcp_server) AS mcp_server, max(l.bytes) // 4 AS tokens
FROM tool_lists l
ANTI JOIN daily_calls c ON c.tool = l.tool AND c.trial_run IS NULL
GROUP BY l.tool
ORDER BY tokens DESC, l.tool
