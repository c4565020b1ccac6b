-- title: Size of a replay
-- question: How many calls are in the slice, and which parser versions read them?
-- unit: one row per parser version
-- column readable: calls with a text in the store, as sent or re-serialised
SELECT coalesce(parser_version, 'unknown') AS version, count(*)::BIGINT AS calls,
       count(*) FILTER (args_source IN ('raw', 'unattributed', 'reserialised'))::BIGINT AS readable
FROM tool_calls
WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  AND NOT coalesce(duplicate, false)
GROUP BY 1
ORDER BY calls DESC, version
