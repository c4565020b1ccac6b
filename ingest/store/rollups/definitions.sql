-- Which definition of a tool was in force when.

DELETE FROM daily_definitions USING touched_days t WHERE daily_definitions.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_definitions BY NAME
SELECT day, source, tool, definition_id, trial_run, arm, count(*) AS calls, min(ts) AS first_ts, max(ts) AS last_ts
FROM tool_calls
WHERE NOT duplicate AND definition_id IS NOT NULL
    AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)
GROUP BY ALL;
