-- Findings by the parameter they are about: `$.filters[2].name` is `filters[].name`, `$` is the whole. A call counts once
-- for each parameter and code; `example` is the newest.

DELETE FROM daily_parameters USING touched_days t WHERE daily_parameters.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_parameters BY NAME
WITH found AS (
    SELECT DISTINCT
        c.day, c.source, c.provider, c.model, c.prompt_id, c.tool, c.definition_id, c.call_id, c.ts,
        regexp_replace(regexp_replace(coalesce(d.path, '$'), '\[\d+\]', '[]', 'g'), '^\$\.?', '') AS parameter,
        d.code, d.severity, d.stage
    FROM diagnostics d
    JOIN tool_calls c ON c.call_id = d.call_id AND c.file_id = d.file_id
    WHERE NOT c.duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM c.day)
)
SELECT
    day, source, provider, model, prompt_id, tool, definition_id, parameter, code,
    max(severity) AS severity,
    count(DISTINCT call_id) AS calls,
    arg_max(call_id, (coalesce(ts, TIMESTAMP '0001-01-01'), call_id)) AS example
FROM found
GROUP BY ALL;
