-- title: Tools and models with an error
-- question: Which tools and models have this error?
-- unit: calls
-- days: kept apart
-- column sessions: sessions; a session counts again for each day and prompt
-- column example: id of the newest such call
SELECT coalesce(tool, 'unknown') AS tool, coalesce(model, 'unknown') AS model, sum(calls)::BIGINT AS calls, sum(sessions)::BIGINT AS sessions,
       min(day) AS first_day, max(day) AS last_day, arg_max(example, (example_ts, example)) AS example
FROM daily_errors
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  AND signature_id = $signature
GROUP BY ALL
ORDER BY calls DESC, tool, model
LIMIT coalesce($limit, 100)
