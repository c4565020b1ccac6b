-- title: Offered tools
-- question: Which tools were models offered, how often did models call them, and how many tokens do their definitions cost?
-- unit: one row per tool that a log lists as offered, or that has an MCP server and was called
-- days: added up
-- column mcp_server: MCP server of the tool; NULL if unknown
-- column steps: steps in turns that were offered the tool; 0 if no log lists the tool as offered
-- column tokens: tokens of the tool's definition in each of these steps; NULL if no log lists the tool as offered
-- column spent: tokens of the tool's definition in all of these steps together
-- column all_steps: steps in turns that were offered any tool
-- column calls: calls of the tool, including calls whose log does not list the offered tools
-- note: Tokens are estimated from the definition in the log, at four bytes per token. Most of these tokens may be cheaper because of a provider's cache.
-- note: A tool that has no calls on the selected days may have calls on other days.
WITH
lists AS (
  SELECT tool_list, sum(greatest(steps, 1)) AS steps FROM turns
  WHERE NOT coalesce(duplicate, false) AND tool_list IS NOT NULL
    AND {filters: days, models, providers, prompts, sources, trials}
  GROUP BY tool_list
),
offered AS (
  SELECT tool, any_value(mcp_server) AS mcp_server, sum(steps) AS steps, sum(steps * bytes) AS bytes
  FROM lists JOIN tool_lists USING (tool_list)
  WHERE {filters: tools, mcp_servers}
  GROUP BY tool
),
called AS (
  SELECT tool, any_value(mcp_server) AS mcp_server, sum(calls) AS calls FROM daily_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  GROUP BY tool
)
SELECT coalesce(o.tool, c.tool) AS tool, coalesce(c.mcp_server, o.mcp_server) AS mcp_server,
       coalesce(steps, 0)::BIGINT AS steps, round(o.bytes / steps / 4)::BIGINT AS tokens,
       coalesce(round(o.bytes / 4), 0)::BIGINT AS spent, coalesce(calls, 0)::BIGINT AS calls,
       (SELECT coalesce(sum(steps), 0) FROM lists)::BIGINT AS all_steps
FROM offered o FULL JOIN called c ON c.tool = o.tool
WHERE steps > 0 OR c.mcp_server IS NOT NULL
ORDER BY spent DESC, calls DESC, tool
