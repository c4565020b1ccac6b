-- Diagnostics by parameter. The parameter `$.filters[2].name` is stored as `filters[].name`; `$` means all arguments. A call
-- counts once for each parameter and code; `example` is the newest call.
-- - example_ts: time of the example, its day if the log has no time, 0001-01-01 without a day
-- - group_calls: calls of each group of sessions in `group_ids`, as in daily_rates

WITH
    call_parameters AS (
        SELECT DISTINCT
            c.is_before, c.day, c.source, c.provider, c.model, c.prompt_id, c.trial_run, c.arm, c.tool, c.mcp_server, c.definition_id,
            c.session_group, c.call_id, c.ts,
            regexp_replace(regexp_replace(coalesce(d.path, '$'), '\[\d+\]', '[]', 'g'), '^\$\.?', '') AS parameter,
            d.code, d.severity, d.stage
        FROM counted_findings d JOIN calls_of_days c USING (is_before, call_id, file_id)
    ),
    of_groups AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, definition_id, parameter, code,
            session_group AS id,
            max(severity) AS severity,
            count(DISTINCT call_id) AS calls,
            max({'ts': coalesce(ts, day, TIMESTAMP '0001-01-01'), 'call_id': call_id}) AS newest
        FROM call_parameters
        GROUP BY ALL
    ),
    cells AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, definition_id, parameter, code,
            max(severity) AS severity, sum(calls) AS calls, max(newest).ts AS example_ts,
            max(newest).call_id AS example,
            list_sort(list({'id': id, 'calls': calls::UINTEGER})) AS groups
        FROM of_groups
        GROUP BY ALL
    )
SELECT
    * EXCLUDE (groups),
    [g.id for g in groups] AS group_ids, [g.calls for g in groups] AS group_calls
FROM cells
