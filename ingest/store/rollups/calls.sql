-- Calls by the outcome of their arguments and results.

SELECT
    is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, strategy,
    count(*) AS calls,
    count(*) FILTER (syntax_seen <> 'none' OR fault_layer = 'syntax') AS parse_known,
    count(*) FILTER (syntax_seen = 'full' OR schema_seen = 'full') AS mend_known,
    count(*) FILTER (syntax_seen = 'full') AS syntax_full,
    count(*) FILTER (syntax_seen = 'failures') AS syntax_failures,
    count(*) FILTER (schema_seen = 'full') AS schema_full,
    count(*) FILTER (schema_seen = 'failures') AS schema_failures,
    count(*) FILTER (outcome = 'clean') AS clean,
    count(*) FILTER (outcome = 'coerced') AS coerced,
    count(*) FILTER (outcome = 'repaired') AS repaired,
    count(*) FILTER (outcome = 'failed') AS failed,
    count(*) FILTER (outcome = 'unmeasured') AS unmeasured,
    count(*) FILTER (lossy) AS lossy,
    count(*) FILTER (syntax_seen = 'full' AND schema_seen = 'full' AND outcome IN ('coerced', 'repaired')) AS mended,
    count(*) FILTER (
        syntax_seen = 'full' AND schema_seen = 'full' AND outcome IN ('coerced', 'repaired')
        AND fault_layer IN ('syntax', 'schema')
    ) AS mended_refused,
    count(*) FILTER (
        fault_layer = 'syntax' OR (syntax_seen <> 'none' AND schema_seen = 'full' AND fault_layer = 'schema')
    ) AS parse_errors,
    count(*) FILTER (schema_seen = 'full' AND fault_layer = 'schema') AS schema_errors,
    count(*) FILTER (fault_layer = 'emission') AS fault_emission,
    count(*) FILTER (fault_layer = 'syntax') AS fault_syntax,
    count(*) FILTER (fault_layer = 'schema') AS fault_schema,
    count(*) FILTER (fault_layer = 'tool_rejected') AS fault_tool_rejected,
    count(*) FILTER (fault_layer = 'execution') AS fault_execution,
    count(*) FILTER (fault_layer = 'refused') AS fault_refused,
    count(*) FILTER (
        fault_layer IS NULL
        AND (
            NOT coalesce(syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none'), false)
            OR coalesce(result_status, 'missing') IN ('unknown', 'missing')
        )
    ) AS fault_unknown,
    count(*) FILTER (result_status = 'ok') AS result_ok,
    count(*) FILTER (result_status = 'error') AS result_error,
    count(*) FILTER (result_status = 'denied') AS result_denied,
    count(*) FILTER (result_status = 'unknown') AS result_unknown,
    count(*) FILTER (result_status = 'missing') AS result_missing,
    count(*) FILTER (attempt > 1) AS retries,
    count(*) FILTER (retry_kind = 'identical') AS retries_identical,
    -- A retry sequence counts with its first call.
    count(*) FILTER (attempt = 1) AS chains,
    count(*) FILTER (attempt = 1 AND chain_outcome = 'recovered') AS chains_recovered,
    count(*) FILTER (attempt = 1 AND chain_outcome = 'abandoned') AS chains_abandoned
FROM calls_of_days
GROUP BY ALL
