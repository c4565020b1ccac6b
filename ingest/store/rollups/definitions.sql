-- The definitions of each tool that were used on each day.

SELECT
    is_before, day, source, tool, mcp_server, definition_id, trial_run, arm,
    count(*) AS calls, min(ts) AS first_ts, max(ts) AS last_ts
FROM calls_of_days
WHERE definition_id IS NOT NULL
GROUP BY ALL
