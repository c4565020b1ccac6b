-- title: Calls that a replay would read
-- question: How many calls does the slice hold, and which versions of the parser read them?
-- unit: one row a version of the parser
-- column readable: calls whose text the store has, as the model sent it or as the log rewrote it
SELECT coalesce(parser_version, 'unknown') AS version, count(*)::BIGINT AS calls,
       count(*) FILTER (args_source IN ('raw', 'reserialised'))::BIGINT AS readable
FROM tool_calls
WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  AND NOT coalesce(duplicate, false)
GROUP BY 1
ORDER BY calls DESC, version
