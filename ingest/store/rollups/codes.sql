-- Diagnostics by code.

WITH
    -- A transcript may contain a call twice. Its diagnostics are then stored twice with the same call and file.
    findings AS (
        SELECT DISTINCT is_before, call_id, file_id, position, code
        FROM counted_findings SEMI JOIN calls_of_days USING (is_before, call_id, file_id)
    )
SELECT
    is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, code,
    count(DISTINCT call_id) AS calls,
    count(*) AS findings
FROM calls_of_days JOIN findings USING (is_before, call_id, file_id)
GROUP BY ALL
