-- What the parser found, by code.

DELETE FROM daily_codes USING touched_days t WHERE daily_codes.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_codes BY NAME
WITH
    counted AS (
        SELECT day, source, provider, model, prompt_id, trial_run, arm, tool, call_id, file_id
        FROM tool_calls
        WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)
    ),
    -- A transcript can hold a call twice; its findings are then in twice under the same call and file.
    findings AS (
        SELECT DISTINCT call_id, file_id, position, code FROM diagnostics
        WHERE call_id IN (SELECT call_id FROM counted)
    )
SELECT
    day, source, provider, model, prompt_id, trial_run, arm, tool, code,
    count(DISTINCT call_id) AS calls,
    count(*) AS findings
FROM counted JOIN findings USING (call_id, file_id)
GROUP BY ALL;
