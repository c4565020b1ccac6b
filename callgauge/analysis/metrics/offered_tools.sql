-- title: Offered tools
-- question: Which tools were models offered, how often did models call them, and how many tokens do their definitions cost?
-- unit: one row per tool and MCP server; tools that a log lists as offered, or that have an MCP server and were called
-- days: added up
-- column mcp_server: MCP server of the tool; NULL if unknown
-- column steps: steps in turns that were offered the tool; 0 if no log lists the tool as offered
-- column tokens: tokens of the tool's definition in each of these steps; NULL if no log lists the tool as offered
-- column spent: tokens of the tool's definition in all of these steps together
-- column all_steps: steps in turns that were offered any tool
-- column calls: calls of the tool, including calls whose log does not list the offered tools; calls of the tool on all servers if the server of the definition is unknown
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
  SELECT tool, mcp_server, sum(steps) AS steps, sum(steps * bytes) AS bytes
  FROM lists JOIN tool_lists USING (tool_list)
  WHERE {filters: tools, mcp_servers}
  GROUP BY tool, mcp_server
),
called AS (
  SELECT tool, mcp_server, sum(calls) AS calls FROM daily_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  GROUP BY tool, mcp_server
),
of_tools AS (
  SELECT tool, any_value(mcp_server) AS mcp_server, count(DISTINCT mcp_server) AS servers, sum(calls) AS calls
  FROM called GROUP BY tool
),
-- A log may name the server of a call, but not the server of a definition. A definition without a server belongs to the
-- server of the calls of this tool, if there is only one such server.
placed AS (
  SELECT o.tool, coalesce(o.mcp_server, if(t.servers = 1, t.mcp_server, NULL)) AS mcp_server, sum(steps) AS steps,
         sum(bytes) AS bytes, any_value(if(o.mcp_server IS NULL, t.calls, NULL)) AS calls_of_tool
  FROM offered o LEFT JOIN of_tools t ON t.tool = o.tool
  GROUP BY ALL
)
SELECT coalesce(o.tool, c.tool) AS tool, coalesce(c.mcp_server, o.mcp_server) AS mcp_server,
       coalesce(steps, 0)::BIGINT AS steps, round(o.bytes / steps / 4)::BIGINT AS tokens,
       coalesce(round(o.bytes / 4), 0)::BIGINT AS spent, coalesce(calls_of_tool, calls, 0)::BIGINT AS calls,
       (SELECT coalesce(sum(steps), 0) FROM lists)::BIGINT AS all_steps
FROM placed o FULL JOIN called c ON c.tool = o.tool AND c.mcp_server IS NOT DISTINCT FROM o.mcp_server
WHERE steps > 0 OR c.mcp_server IS NOT NULL
ORDER BY spent DESC, calls DESC, tool, mcp_server
