-- Failed calls by error signature (ingest/store/signatures.sql); `example` is the newest call.

SELECT
    is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, signature_id,
    count(*) AS calls, count(DISTINCT session_id) AS sessions,
    max(coalesce(ts, day, TIMESTAMP '0001-01-01')) AS example_ts,
    arg_max(call_id, (coalesce(ts, day, TIMESTAMP '0001-01-01'), call_id)) AS example
FROM calls_of_days
WHERE signature_id IS NOT NULL
GROUP BY ALL
