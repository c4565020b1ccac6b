-- title: Tools with a definition
-- question: How often was each tool called, on which MCP servers, and how many of its definitions are known?
-- unit: one row per tool, the most used first
-- days: added up
-- column calls: calls on the selected days
-- column servers: MCP servers of the tool, in alphabetical order; empty if none is known
-- column definitions: number of the definitions of these calls
WITH called AS (
  SELECT tool, sum(calls)::BIGINT AS calls,
         list_sort(list(DISTINCT mcp_server) FILTER (mcp_server IS NOT NULL)) AS servers
  FROM daily_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND tool IS NOT NULL
  GROUP BY tool
),
known AS (
  SELECT tool, count(DISTINCT definition_id)::BIGINT AS definitions
  FROM daily_definitions
  WHERE {filters: days, tools, mcp_servers, sources, trials}
  GROUP BY tool
)
SELECT tool, calls, coalesce(servers, []) AS servers, coalesce(definitions, 0) AS definitions
FROM called LEFT JOIN known USING (tool)
WHERE calls > 0
ORDER BY calls DESC, tool
