-- title: Size of a replay
-- question: How many calls does the slice contain, and which parser versions parsed them?
-- unit: one row per parser version
-- column readable: calls whose argument text is in the store, as the model sent it or re-serialised
SELECT coalesce(parser_version, 'unknown') AS version, count(*)::BIGINT AS calls,
       count(*) FILTER (args_source IN ('raw', 'unattributed', 'reserialised'))::BIGINT AS readable
FROM tool_calls
WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  AND NOT coalesce(duplicate, false)
GROUP BY 1
ORDER BY calls DESC, version
