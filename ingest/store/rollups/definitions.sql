-- Which definition of a tool was in force when.

SELECT
    is_before, day, source, tool, definition_id, trial_run, arm,
    count(*) AS calls, min(ts) AS first_ts, max(ts) AS last_ts
FROM counted_calls
WHERE NOT duplicate AND definition_id IS NOT NULL
    AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM counted_calls.day)
GROUP BY ALL
